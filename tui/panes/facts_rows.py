"""How the facts pane is drawn: what happened for each reply, newest first, and the memories of the user."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from tui.views.facts import FactsView, Turn
from tui.views.facts_text import Told, Tone, title, turn_lines
from tui.views.figures import age
from tui.widgets.cells import cut
from tui.widgets.literal import literal_line

if TYPE_CHECKING:
    from memory.mem0.answers import Fact

_STYLES: dict[Tone, str] = {
    "": "",
    "quiet": "$text-muted",
    "good": "$text-success",
    "odd": "$text-warning",
    "bad": "$text-error",
}
_INDENT = 2
_AGE_WIDTH = 6
_REPLACED = "[replaced] "


class _Line(NamedTuple):
    key: Hashable
    turn: Turn
    told: Told | None
    """None for the heading of a reply."""


class TurnRows:
    """The lines of all replies; taken anew from the view by `refresh`."""

    def __init__(self, view: FactsView) -> None:
        self._view = view
        self._lines: list[_Line] = []

    def refresh(self, running: str | None, now: float) -> None:
        """Take over what the view holds now; `running` is the id of the reply that runs."""
        self._lines = []
        for turn in reversed(self._view.turns):
            self._lines.append(_Line((turn.key, -1), turn, None))
            told = turn_lines(turn, now, is_running=turn.key == running)
            self._lines += [_Line((turn.key, number), turn, line) for number, line in enumerate(told)]

    def turn(self, index: int | None) -> Turn | None:
        """The reply that a line belongs to."""
        return self._lines[index].turn if index is not None and index < len(self._lines) else None

    @property
    def keys(self) -> Sequence[Hashable]:
        """A key for each line."""
        return [line.key for line in self._lines]

    def stamp(self, index: int) -> Hashable:
        """The text of the line."""
        line = self._lines[index]
        return line.told or title(line.turn)

    def draw(self, index: int, width: int) -> Content:
        """One line, fit for so many cells."""
        _, turn, told = self._lines[index]
        if told is None:
            return literal_line(cut(title(turn), width), "bold")
        indent = " " * (_INDENT * (2 if told.is_detail else 1))
        return Content.assemble(indent, literal_line(cut(told.text, max(0, width - len(indent))), _STYLES[told.tone]))


class FactRows:
    """The memories that are listed or were found.

    Attributes:
        facts: what is shown.
    """

    def __init__(self) -> None:
        self.facts: Sequence[Fact] = ()

    def fact(self, index: int | None) -> Fact | None:
        """The memory at this index."""
        return self.facts[index] if index is not None and index < len(self.facts) else None

    @property
    def keys(self) -> Sequence[Hashable]:
        """The ids of the memories; where the store does not say one, its place."""
        return [fact.id or index for index, fact in enumerate(self.facts)]

    def stamp(self, index: int) -> Hashable:
        """All that is seen of a memory."""
        fact = self.facts[index]
        return fact.id, fact.text, fact.score, bool(fact.superseded_by), _age(fact)

    def draw(self, index: int, width: int) -> Content:
        """One memory: score where it was searched for, age, whether it is replaced, text."""
        fact = self.facts[index]
        score = f"{fact.score:.2f} " if fact.score is not None else ""
        is_replaced = bool(fact.superseded_by)
        return Content.assemble(
            (score, "$text-accent"),
            (_age(fact).rjust(_AGE_WIDTH), "$text-muted"),
            "  ",
            (_REPLACED if is_replaced else "", "$text-warning"),
            literal_line(fact.text, "$text-muted strike" if is_replaced else ""),
        )


def _age(fact: Fact) -> str:
    return "" if fact.said_at is None else age(time.time() - fact.said_at)
