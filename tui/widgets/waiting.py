"""What waits above the prompt: queued texts, and the marks for what is typed next."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from agent_core.text import first_line
from tui.conversation import Draft
from tui.lines import Line
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal_line
from tui.widgets.marks import chips

_SHOWN = 3


class Waiting(LineText):
    """One line for each queued text, the next first, and one for the marks; nothing when there is none of it."""

    DEFAULT_CSS = """
    Waiting {
        padding: 0 1;
        color: $text-muted;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._queued: Sequence[Draft] = ()
        self._marks: Sequence[str] = ()

    def show(self, queued: Sequence[Draft], marks: Sequence[str]) -> None:
        """Show these texts and marks."""
        if (queued, marks) != (self._queued, self._marks):
            self._queued, self._marks = queued, marks
            self.changed()

    def layout_lines(self, width: int) -> list[Line]:
        """The lines, each cut to fit."""
        shown = [
            Content.assemble("queued: ", literal_line(first_line(draft.text)), "  ", chips(draft.marks))
            for draft in self._queued[:_SHOWN]
        ]
        if hidden := len(self._queued) - _SHOWN:
            shown += [Content(f"queued: {hidden} more")] if hidden > 0 else []
        if self._queued:
            shown[0] += Content.styled("  (↑ takes back the last one)", "dim")
        if self._marks:
            shown.append(Content.assemble("marks what you say: ", chips(self._marks), ("  /mark off stops", "dim")))
        return [Line(line.truncate(width, ellipsis=True)) for line in shown]
