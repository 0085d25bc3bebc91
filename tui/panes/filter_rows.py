"""How the marks of the filter pane are drawn, one line each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from textual.content import Content

from tui.views.filter import PROGRAM_MARKS, FilterView, MarkCount
from tui.widgets.literal import literal_line

WANTED, UNWANTED = "✓", "!"


class FilterRows:
    """All marks with their counts; taken anew from the view by `refresh`."""

    def __init__(self, view: FilterView) -> None:
        self._view = view
        self.marks: list[MarkCount] = []

    def refresh(self) -> None:
        """Take over what the view holds now."""
        self.marks = self._view.marks

    @property
    def keys(self) -> Sequence[Hashable]:
        """The marks themselves."""
        return [count.mark for count in self.marks]

    def stamp(self, index: int) -> Hashable:
        """The mark with its counts."""
        return self.marks[index]

    def draw(self, index: int, width: int) -> Content:
        """One mark: what the draft does with it, how many messages have it, its name."""
        count = self.marks[index]
        glyph, style = " ", ""
        if count.is_wanted:
            glyph, style = WANTED, "$text-success"
        elif count.is_unwanted:
            glyph, style = UNWANTED, "$text-error"
        by_program = count.mark in PROGRAM_MARKS and not style
        return Content.assemble(
            (f"{glyph} ", style),
            (f"{count.messages:>5}  ", "$text-muted"),
            literal_line(count.mark, "$text-muted" if by_program else style),
        )
