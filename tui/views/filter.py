"""The filter that is being made, beside the one that is applied: what each lets through."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.event import Event, FilterChanged, MemoryChanged, ReplyEnded, ReplyStarted
from agent_core.marks import COMPRESSED, HINT, MEMORY, TOOL, MemoryFilter, decide
from tui.mark_syntax import make_filter
from tui.views.content import ContentView
from tui.views.figures import estimated, plural
from tui.views.stored import StoredMessages

PROGRAM_MARKS = (HINT, TOOL, MEMORY, COMPRESSED)
"""The marks that the program sets by itself."""


class MarkCount(NamedTuple):
    """One mark, how many messages have it, and what the draft does with it."""

    mark: str
    messages: int
    is_wanted: bool
    is_unwanted: bool


class FilterView:
    """The fold behind the filter pane.

    The draft is the filter that a person makes here. It governs nothing until it is applied, which is the agent's
    affair. Meanwhile a person may look through it: then the content pane shows only the messages that it lets through.

    Attributes:
        draft: the filter that is being made.
        is_looking: whether the content pane shows only what the draft lets through.
    """

    def __init__(self, content: ContentView) -> None:
        self._content = content
        self._applied = self.draft = _simplest(content.memory_filter)
        self.is_looking = False

    def apply(self, event: Event) -> bool:
        """Take in one event, after the content view has; whether what is shown has changed."""
        if isinstance(event, FilterChanged):
            follows = self.draft == self._applied
            self._applied = _simplest(event.memory_filter)
            self.edit(self._applied if follows else self.draft)
        return isinstance(event, FilterChanged | MemoryChanged | ReplyStarted | ReplyEnded)

    @property
    def applied(self) -> MemoryFilter:
        """The filter that governs what the agent sends."""
        return self._applied

    @property
    def is_applied(self) -> bool:
        """Whether the draft is what the agent sends by."""
        return self.draft == self._applied

    def edit(self, draft: MemoryFilter) -> None:
        """Replace the draft. One that is not applied is looked through at once."""
        self.draft = _simplest(draft)
        self._content.try_out(self.draft)
        self.look(self.draft != self._applied)

    def look(self, is_looking: bool) -> None:
        """Look through the draft, or at everything."""
        filters = self.draft.wanted is not None or bool(self.draft.unwanted)
        self.is_looking = is_looking and filters
        self._content.narrow(self.draft if self.is_looking else None)

    def toggle_wanted(self, mark: str) -> None:
        """Want this mark, or no longer."""
        wanted = _toggled(self.draft.wanted or (), mark)
        unwanted = tuple(other for other in self.draft.unwanted if other != mark)
        self.edit(make_filter(wanted, unwanted, self.draft.prepend_summary))

    def toggle_unwanted(self, mark: str) -> None:
        """Leave out what has this mark, or no longer."""
        wanted = tuple(other for other in self.draft.wanted or () if other != mark)
        self.edit(make_filter(wanted, _toggled(self.draft.unwanted, mark), self.draft.prepend_summary))

    @property
    def stored(self) -> StoredMessages:
        """The messages that filters are about."""
        return self._content.stored

    @property
    def marks(self) -> list[MarkCount]:
        """All marks that there are or that the draft names, those of people first."""
        wanted, unwanted = self.draft.wanted or (), self.draft.unwanted
        counts = self._content.stored.mark_counts
        names = sorted({*counts, *wanted, *unwanted}, key=lambda mark: (mark in PROGRAM_MARKS, mark.casefold(), mark))
        return [MarkCount(mark, counts[mark], mark in wanted, mark in unwanted) for mark in names]

    @property
    def passing_line(self) -> str:
        """How much the draft lets through, in messages and tokens of all there are."""
        stored = self._content.stored
        count = tokens = 0
        for kind in stored.kinds:
            for trait, its_tokens in zip(kind.traits, kind.tokens, strict=True):
                if decide(trait.marks, self.draft).included:
                    count, tokens = count + kind.count, tokens + its_tokens
        messages = f"{count} of {len(stored.entries)} messages"
        return f"{messages}, {estimated(tokens)} of {estimated(stored.tokens)} tokens"

    @property
    def sending_line(self) -> str:
        """What would be sent, where the summary, calls and the running reply have a say too; and why not the rest."""
        judged = self._content.tried
        reasons = " · ".join(f"{count} {reason}" for reason, count in judged.reasons.most_common())
        rest = f"; not: {reasons}" if reasons else ""
        return f"{plural(judged.sent, 'message')}, {estimated(judged.sent_tokens)} tokens{rest}"


def _simplest(memory_filter: MemoryFilter) -> MemoryFilter:
    return make_filter(memory_filter.wanted or (), memory_filter.unwanted, memory_filter.prepend_summary)


def _toggled(marks: tuple[str, ...], mark: str) -> tuple[str, ...]:
    return tuple(other for other in marks if other != mark) if mark in marks else (*marks, mark)
