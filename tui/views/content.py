"""Every stored message with its marks, and whether it is in the next prompt; the message in flight; the summary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import itemgetter
from typing import NamedTuple

from agent_core.change import Added, Inserted, MemoryChange, Snapshot
from agent_core.event import (
    BlockDelta,
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    Event,
    FilterChanged,
    MemoryChanged,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
)
from agent_core.marks import COMPRESSED, HINT, Entry, MemoryFilter, decide
from agent_core.prompt_ledger import PromptHistory
from agent_core.tokens import estimate_tokens
from tui.views.figures import estimated, plural
from tui.views.flight import Flight
from tui.views.judged import Judged
from tui.views.stored import StoredMessages


class Row(NamedTuple):
    """One stored message as the pane shows it; `number` counts from 1, whatever is shown."""

    key: int
    number: int
    entry: Entry
    included: bool
    reason: str


class ContentView:
    """The fold behind the content pane.

    Attributes:
        stored: what the memory holds.
        judged: whether each of it is in the next prompt.
        tried: the same under a filter that is tried out; `judged` itself when there is none.
        flight: the message that is streaming in; None when there is none.
        narrowing: only messages that pass this are shown; None for all. It changes nothing about what is sent.
        prompts: all prompts that were sent, and what became of each message in them.
    """

    def __init__(self) -> None:
        self.stored = StoredMessages()
        self.judged = self.tried = Judged(self.stored, MemoryFilter())
        self.flight: Flight | None = None
        self.narrowing: MemoryFilter | None = None
        self.prompts = PromptHistory()
        self._compressing: CompressionStarted | None = None
        self._compression_error = ""
        self._reply_id: str | None = None
        self._shown: Sequence[int] | None = None

    def apply(self, event: Event) -> bool:
        """Take in one event; whether what is shown has changed."""
        match event:
            case MemoryChanged(change=change):
                self._change(change)
            case FilterChanged(memory_filter=memory_filter):
                self._apply_filter(memory_filter)
            case ReplyStarted():
                self._begin_reply(event.reply_id)
            case ReplyEnded() if event.reply_id == self._reply_id:
                self._begin_reply(None)
            case RoundStarted():
                self.flight = None
            case BlockStarted():
                self.flight = self.flight or Flight()
                self.flight.begin(event)
            case BlockDelta() if self.flight is not None:
                self.flight.grow(event)
            case PromptSent():
                self.prompts.apply(event)
            case CompressionStarted():
                self._compressing = event
            case CompressionEnded(error=error):
                self._compressing, self._compression_error = None, error
            case _:
                return False
        return True

    @property
    def memory_filter(self) -> MemoryFilter:
        """The filter that governs what the agent sends."""
        return self.judged.memory_filter

    @property
    def shown(self) -> Sequence[int]:
        """The positions of the messages that are shown, in order."""
        if self.narrowing is None:
            return range(len(self.stored.entries))
        if self._shown is None:
            self._shown = passing(self.stored.entries, self.narrowing)
        return self._shown

    def narrow(self, narrowing: MemoryFilter | None) -> None:
        """Show only what passes this filter; None shows everything."""
        self.narrowing = narrowing
        self._shown = None

    def try_out(self, memory_filter: MemoryFilter) -> None:
        """Judge everything under this filter too."""
        if memory_filter == self.memory_filter:
            self.tried = self.judged
        elif memory_filter != self.tried.memory_filter:
            self.tried = Judged(self.stored, memory_filter)

    def row(self, position: int) -> Row:
        """The message at this position."""
        return Row(self.stored.keys[position], position + 1, *self.judged.verdict(position))

    def summary_line(self, trigger_ratio: float, context_size: int | None) -> str:
        """What there is to say about the summary, or about why there is none.

        Args:
            trigger_ratio: the share of the window that calls for one.
            context_size: the window in tokens; None when nobody knows it.
        """
        if self._compressing is not None:
            messages = plural(self._compressing.messages, "message")
            return f"summarising {messages}, {estimated(self._compressing.tokens)} tokens …"
        if not self.stored.summary:
            return f"no summary yet: {self._why_no_summary(trigger_ratio, context_size)}{self._last_attempt}"
        covered = plural(self.stored.mark_counts[COMPRESSED], "message")
        off = "" if self.memory_filter.prepend_summary else ", switched off by the filter"
        tokens = estimated(estimate_tokens(self.stored.summary))
        return f"summary of {covered}, {tokens} tokens{off}{self._last_attempt}"

    @property
    def _last_attempt(self) -> str:
        """How the last compression went wrong; empty when it did not."""
        if not self._compression_error:
            return ""
        is_stopped = self._compression_error == "interrupted"
        went = "was stopped" if is_stopped else f"failed: {self._compression_error}"
        return f" (the last attempt {went})"

    def _why_no_summary(self, trigger_ratio: float, context_size: int | None) -> str:
        if not context_size:
            return "one is made when the endpoint says that its window is full"
        share = self.prompts.prompts[-1].tokens / context_size if self.prompts.prompts else 0
        return f"older messages are summarised at {trigger_ratio:.0%} of the window (now {share:.0%})"

    def _begin_reply(self, reply_id: str | None) -> None:
        """A reply begins, or with None the running one is over: what it stored is a message like others then."""
        self._reply_id, self.flight = reply_id, None
        self.stored.run(frozenset())

    def _change(self, change: MemoryChange) -> None:
        if self._reply_id is not None:
            self._add_to_reply(change)
        self.stored.apply(change)
        self._shown = None

    def _apply_filter(self, memory_filter: MemoryFilter) -> None:
        tried = self.tried.memory_filter
        if memory_filter == tried:
            self.judged = self.tried
        else:
            self.judged = Judged(self.stored, memory_filter)
            self.try_out(tried)

    def _add_to_reply(self, change: MemoryChange) -> None:
        """Everything that was not stored before the running reply belongs to it.

        Where a message that was stored is stored once more, it joins the reply in both places.
        """
        match change:
            case Added(entries):
                self.stored.run(self.stored.running.union(entry.msg.id for entry in entries))
                if any(entry.msg.role == "assistant" and HINT not in entry.marks for entry in entries):
                    self.flight = None
            case Inserted(entries):
                self.stored.run(self.stored.running.union(entry.msg.id for entry in entries))
            case Snapshot(entries):
                new = {entry.msg.id for entry in entries} - self.stored.ids
                self.stored.run(self.stored.running | new)


def passing(entries: Sequence[Entry], memory_filter: MemoryFilter) -> list[int]:
    """The positions of the entries that pass a filter."""
    # Few combinations of marks occur, however many messages there are; and no entry costs a step of Python.
    marks = list(map(itemgetter(1), entries))
    passes = {some: decide(some, memory_filter).included for some in set(marks)}
    return list(compress(range(len(marks)), map(passes.__getitem__, marks)))
