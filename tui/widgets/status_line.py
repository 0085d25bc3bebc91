"""The last line but one: state, model, endpoint, context, cost, mode and session."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line
from tui.views.status import StatusView
from tui.views.status_text import SEPARATOR, Field, StatusFacts, fitting, status_fields
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal_line


class StatusLine(LineText):
    """As many fields as there is room for; what matters least goes first."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        padding: 0 1;
        background: $boost;
        color: $text-muted;
    }
    """

    def __init__(self, view: StatusView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._fields: list[Field] = []

    def show(self, facts: StatusFacts) -> None:
        """Draw the present state."""
        fields = status_fields(self._view, facts)
        if fields != self._fields:
            self._fields = fields
            self.changed()

    def layout_lines(self, width: int) -> list[Line]:
        """The fields that fit, in one line."""
        fields = fitting(self._fields, width, lambda text: literal_line(text).cell_length)
        line = Content(SEPARATOR).join([literal_line(field.text, field.style) for field in fields])
        return [Line(line.truncate(width, ellipsis=True))]
