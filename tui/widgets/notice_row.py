"""A line that says what happened and what can be done."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line, Prefix, prefixed, wrapped
from tui.views.chat_items import NoticeItem, NoticeLevel
from tui.widgets.chat_row import ChatRow
from tui.widgets.literal import literal_line

_LOOKS: dict[NoticeLevel, tuple[str, str]] = {
    "information": ("·", "$text-muted"),
    "warning": ("!", "$text-warning"),
    "error": ("✗", "$text-error"),
}


class NoticeRow(ChatRow[NoticeItem]):
    """One notice; its sign tells how much it matters."""

    def layout_lines(self, width: int) -> list[Line]:
        """The sign and the text."""
        sign, style = _LOOKS[self.item.level]
        prefix = Prefix(Content.styled(f"{sign} ", style), Content("  "), skipped=2)
        return prefixed(wrapped(literal_line(self.item.text, style), max(1, width - 2)), prefix)
