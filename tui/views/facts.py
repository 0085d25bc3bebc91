"""What a memory of facts did for each reply: what was searched for and told to the model, and what was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_core.change import Added
from agent_core.event import (
    Event,
    FactsWriteStarted,
    FactsWritten,
    Finish,
    MemoryChanged,
    ReplyEnded,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalSkipped,
    RetrievalStage,
    RetrievalStarted,
    ToolEnded,
    ToolStarted,
)
from agent_core.message import Msg, ToolResultBlock
from tui.views.hints import HintsView, Lookup, ReplyRecord, are_facts

SEARCH_TOOL = "search_memory"
"""What the tool is called by which the model searches by itself; the package that has it is imported late."""


@dataclass
class Write:
    """Something that is being written, or was.

    Attributes:
        started: seconds since the epoch.
        written: how it ended; None as long as it goes on.
        is_cut_off: the program ended before it did.
    """

    started: float
    written: FactsWritten | None = None
    is_cut_off: bool = False


@dataclass
class ToolSearch:
    """A search that the model made with its tool.

    Attributes:
        result: what it was answered; empty as long as that is not known.
    """

    keywords: tuple[str, ...]
    ended: ToolEnded | None = None
    result: str = ""


@dataclass
class Turn:
    """What happened for one reply, or outside of any.

    Attributes:
        reply: the reply, with its searches among all that was looked up for it; None outside of replies.
        skipped: why no search was made, where none was.
        finish: how the reply ended; None as long as it has not.
    """

    key: str
    reply: ReplyRecord | None
    skipped: list[str] = field(default_factory=list)
    tool_searches: list[ToolSearch] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    finish: Finish | None = None

    @property
    def lookups(self) -> list[Lookup]:
        """The searches that were made before the model was asked."""
        return [lookup for lookup in self.reply.lookups if lookup.is_facts] if self.reply is not None else []


class FactsView:
    """The fold behind the facts pane: `turns`, oldest first.

    Args:
        hints: holds the replies and what was looked up for them; it takes in each event before this view does.

    Attributes:
        written: how many writes have ended, so that who lists the memories knows when to do so again.
    """

    def __init__(self, hints: HintsView) -> None:
        self._hints = hints
        self.turns: list[Turn] = []
        self.written = 0
        self._by_key: dict[str, Turn] = {}
        self._writes: dict[str, Write] = {}
        self._tool_searches: dict[str, ToolSearch] = {}

    @property
    def writing(self) -> int:
        """How many writes go on."""
        return sum(write.written is None and not write.is_cut_off for write in self._writes.values())

    def apply(self, event: Event) -> bool:
        """Take in one event; whether what is shown has changed."""
        match event:
            case RetrievalStarted(source=source) if are_facts(source):
                self._turn(event)
            case RetrievalSkipped(source=source, reason=reason) if are_facts(source):
                self._turn(event).skipped.append(reason)
            case FactsWriteStarted(write_id=write_id):
                self._write(event, write_id)
            case FactsWritten(write_id=write_id):
                self._write(event, write_id).written = event
                self.written += 1
            case ToolStarted(tool=tool, arguments=arguments) if tool == SEARCH_TOOL:
                search = self._tool_searches[event.call_id] = ToolSearch(_keywords(arguments.get("keywords")))
                self._turn(event).tool_searches.append(search)
            case ToolEnded(call_id=call_id) if call_id in self._tool_searches:
                self._tool_searches[call_id].ended = event
            case MemoryChanged(change=Added(entries)) if self._tool_searches:
                return self._take_results(one.msg for one in entries)
            case ReplyEnded(finish=finish) if event.reply_id in self._by_key:
                self._by_key[event.reply_id].finish = finish
            case RetrievalStage() | RetrievalEnded() | RetrievalSettled():
                return event.reply_id in self._by_key
            case _:
                return False
        return True

    def end_open(self) -> None:
        """What goes on now belongs to a run of the program that is over, and will not end any more."""
        for write in self._writes.values():
            write.is_cut_off = write.written is None

    def _turn(self, event: Event, key: str = "") -> Turn:
        key = event.reply_id or key
        turn = self._by_key.get(key)
        if turn is None:
            turn = self._by_key[key] = Turn(key, self._hints.reply(event.reply_id))
            self.turns.append(turn)
        return turn

    def _write(self, event: Event, write_id: str) -> Write:
        write = self._writes.get(write_id)
        if write is None:
            write = self._writes[write_id] = Write(event.at)
            self._turn(event, f"write {write_id}").writes.append(write)
        write.is_cut_off = False
        return write

    def _take_results(self, messages: Iterable[Msg]) -> bool:
        found = False
        for msg in messages:
            for block in msg.get_content_blocks(ToolResultBlock):
                search = self._tool_searches.get(block.id)
                if search is not None:
                    search.result, found = block.text(), True
        return found


def _keywords(value: object) -> tuple[str, ...]:
    """What a model searches for, which may be anything."""
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else (str(value),) if value else ()
