"""The ways in which a slash command may go on, above the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from tui.lines import Line
from tui.slash import Completion
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal_line

_SHOWN = 8


class CompletionList(LineText):
    """A list with one row chosen; nothing when there is nothing to complete."""

    DEFAULT_CSS = """
    CompletionList {
        padding: 0 1;
        background: $boost;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._completions: Sequence[Completion] = ()
        self._index = 0

    @property
    def chosen(self) -> Completion | None:
        """The row that is chosen; None when there is none."""
        return self._completions[self._index] if self._completions else None

    def show(self, completions: Sequence[Completion]) -> None:
        """Show these, the first one chosen."""
        if completions != self._completions:
            self._completions, self._index = completions, 0
            self.changed()

    def move(self, step: int) -> None:
        """Choose the row so many further down."""
        if self._completions:
            self._index = (self._index + step) % len(self._completions)
            self.changed()

    def layout_lines(self, width: int) -> list[Line]:
        """The rows around the chosen one."""
        start = max(0, min(self._index - _SHOWN // 2, len(self._completions) - _SHOWN))
        rows = list(enumerate(self._completions))[start : start + _SHOWN]
        column = max([len(completion.label) for _, completion in rows], default=0)
        lines = [
            Content.assemble(
                Content.styled("❯ " if index == self._index else "  ", "bold $text-primary"),
                literal_line(completion.label.ljust(column), "bold" if index == self._index else ""),
                literal_line(f"  {completion.help}", "$text-muted"),
            )
            for index, completion in rows
        ]
        return [Line(line.truncate(width, ellipsis=True)) for line in lines]
