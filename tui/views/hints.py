"""What was looked up for each reply, when, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from agent_core.change import Added
from agent_core.event import (
    Event,
    MemoryChanged,
    RecalledMemory,
    ReplyEnded,
    ReplyStarted,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalStage,
    RetrievalStarted,
    RoundStarted,
)
from agent_core.message import Msg
from tui.views.chat_message import is_recalled
from tui.views.message_text import preview

_FACTS_SOURCE = "mem0:"


class Moment(NamedTuple):
    """A reasoning round and when it began."""

    round: int
    at: float


class Stage(NamedTuple):
    """A stage of a retrieval, from `start` to `end` in seconds since the epoch."""

    name: str
    start: float
    end: float
    detail: str


@dataclass
class Lookup:
    """One retrieval.

    Attributes:
        source: the long-term memory that was searched.
        patience: seconds that the first model call waits for it at most; None: as long as it takes.
        started: when it began, in seconds since the epoch.
        ended: how its background work ended, None as long as it goes on.
        ended_at: when that was.
        settled: what became of it, None as long as that is open.
        settled_at: when that was.
        carried_at: when it was handed on to the next reply; None when it was not.
    """

    question: str
    started: float
    source: str = ""
    patience: float | None = 0.0
    stages: list[Stage] = field(default_factory=list)
    ended: RetrievalEnded | None = None
    ended_at: float = 0.0
    settled: RetrievalSettled | None = None
    settled_at: float = 0.0
    carried_at: float | None = None

    @property
    def memories(self) -> tuple[RecalledMemory, ...]:
        """What it chose, best first."""
        return self.ended.memories if self.ended else ()

    @property
    def is_facts(self) -> bool:
        """Whether facts about the user were searched, and not memory files."""
        return are_facts(self.source)


def are_facts(source: str) -> bool:
    """Whether a long-term memory of this name holds facts, as mem0 does, and not files."""
    return source.startswith(_FACTS_SOURCE)


@dataclass
class ReplyRecord:
    """One reply, with its rounds and all that was looked up for it.

    Attributes:
        key: the reply's id.
        question: the first line of what is answered; empty as long as it is not known.
        started: seconds since the epoch.
        ended: when it was over; None as long as it is not, and when the session was cut before.
        latest: when something of it happened last.
        brought: what earlier replies had left to it, and was settled while it ran.
        hints: the messages that were put in from the side while it ran.
    """

    key: str
    question: str
    started: float
    ended: float | None = None
    latest: float = 0.0
    rounds: list[Moment] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    brought: list[Lookup] = field(default_factory=list)
    hints: list[Msg] = field(default_factory=list)


class HintsView:
    """The fold behind the hints pane: `replies`, oldest first."""

    def __init__(self) -> None:
        self.replies: list[ReplyRecord] = []
        self._by_id: dict[str, ReplyRecord] = {}
        self._lookups: dict[str, Lookup] = {}
        self._running: ReplyRecord | None = None

    def apply(self, event: Event) -> bool:
        """Take in one event; whether what is shown has changed."""
        match event:
            case ReplyStarted():
                self._running = self._reply(event)
                self._running.started = event.at
            case RoundStarted(round=number):
                self._reply(event).rounds.append(Moment(number, event.at))
            case ReplyEnded():
                self._end_reply(self._reply(event), event.at)
            case RetrievalStarted():
                self._start_lookup(event)
            case RetrievalStage() | RetrievalEnded() | RetrievalSettled() | RetrievalCarriedOver():
                self._grow(event)
            case MemoryChanged(change=Added(entries)) if event.reply_id is not None:
                return self._take_messages(event, [(entry.msg, entry.marks) for entry in entries])
            case _:
                return False
        self._touch(event)
        return True

    def reply(self, reply_id: str | None) -> ReplyRecord | None:
        """The reply of this id, if anything is known of it."""
        return self._by_id.get(reply_id or "")

    def _end_reply(self, reply: ReplyRecord, at: float) -> None:
        reply.ended = at
        if self._running is reply:
            self._running = None

    def _touch(self, event: Event) -> None:
        reply = self._by_id.get(event.reply_id or "")
        if reply is not None:
            reply.latest = max(reply.latest, event.at)

    def _reply(self, event: Event) -> ReplyRecord:
        """The reply of an event; begun here when its start has been cut off."""
        key = event.reply_id or ""
        reply = self._by_id.get(key)
        if reply is None:
            reply = self._by_id[key] = ReplyRecord(key, "", event.at, latest=event.at)
            self.replies.append(reply)
        return reply

    def _start_lookup(self, event: RetrievalStarted) -> None:
        if event.retrieval_id in self._lookups:
            return
        lookup = self._lookups[event.retrieval_id] = Lookup(event.question, event.at, event.source, event.patience)
        self._reply(event).lookups.append(lookup)

    def _grow(self, event: RetrievalStage | RetrievalEnded | RetrievalSettled | RetrievalCarriedOver) -> None:
        lookup = self._lookups.get(event.retrieval_id)
        if lookup is None:
            lookup = self._lookups[event.retrieval_id] = Lookup("", event.at)
            self._reply(event).lookups.append(lookup)
        match event:
            case RetrievalStage(stage=stage, seconds=seconds, detail=detail):
                start = max(lookup.started, event.at - max(0.0, seconds))
                lookup.stages.append(Stage(stage, start, max(start, event.at), detail))
            case RetrievalEnded():
                lookup.ended, lookup.ended_at = event, event.at
            case RetrievalCarriedOver():
                lookup.carried_at = event.at
            case RetrievalSettled():
                lookup.settled, lookup.settled_at = event, event.at
                if event.carried_over and self._running is not None and lookup not in self._running.brought:
                    self._running.brought.append(lookup)

    def _take_messages(self, event: Event, entries: Iterable[tuple[Msg, tuple[str, ...]]]) -> bool:
        reply = self._by_id.get(event.reply_id or "")
        if reply is None:
            return False
        changed = False
        for msg, marks in entries:
            if is_recalled(msg, marks):
                reply.hints.append(msg)
                changed = True
            elif msg.role == "user" and not reply.question:
                reply.question = preview(msg)
                changed = True
        return changed
