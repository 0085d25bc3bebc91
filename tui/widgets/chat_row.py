"""Rows of the chat: each shows one item, and draws it anew only when the item has changed."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.content import Content
from textual.events import Click

from tui.commands import TRANSCRIPT, bindings
from tui.lines import Line, Prefix, prefixed
from tui.views.chat_items import ChatItem
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal_line

Item = TypeVar("Item", bound=ChatItem)

BODY_INDENT = Content("  ")
_BODY = Prefix(BODY_INDENT, BODY_INDENT, skipped=len(BODY_INDENT))
_DELETED = literal_line("  (deleted from memory)", "italic $text-muted")


class ChatRow(LineText, Generic[Item]):
    """One item of the chat."""

    def __init__(self, item: Item) -> None:
        super().__init__()
        self.item = item
        self._drawn = item.revision

    def show(self) -> None:
        """Draw the item if it has changed since it was drawn last."""
        if self.item.revision != self._drawn:
            self._drawn = self.item.revision
            self.changed()

    def with_state(self, header: Content) -> Content:
        """The header, with a word where the item is no longer in memory."""
        return header + _DELETED if self.item.deleted else header


class FoldableRow(ChatRow[Item], can_focus=True):
    """A row of one line that opens to show more.

    A subclass gives `header`, and in `body` what is behind it.
    """

    BINDINGS = bindings(TRANSCRIPT)
    DEFAULT_CSS = """
    FoldableRow {
        color: $text-muted;
        &:focus { background: $boost; text-style: bold; }
        &:hover { background: $boost; }
    }
    """

    def __init__(self, item: Item, *, is_open: bool = False) -> None:
        super().__init__(item)
        self._is_open = is_open

    @property
    def is_open(self) -> bool:
        """Whether more than the header is shown."""
        return self._is_open

    def open(self, is_open: bool) -> None:
        """Open or fold the row."""
        if is_open != self._is_open:
            self._is_open = is_open
            self.changed()

    def header(self, width: int) -> Content:
        """The one line that is always seen, best in `width` cells; what does not fit is cut."""
        raise NotImplementedError

    def body(self, width: int) -> list[Line]:
        """What is behind it, in lines of at most `width` cells."""
        raise NotImplementedError

    def layout_lines(self, width: int) -> list[Line]:
        """The header, and the body when open."""
        sign = "▾ " if self._is_open else "▸ "
        header = Content(sign) + self.with_state(self.header(width - len(sign)))
        lines = [Line(header.truncate(width, ellipsis=True), len(sign))]
        if self._is_open:
            lines += prefixed(self.body(max(1, width - len(BODY_INDENT))), _BODY)
        return lines

    def action_unfold(self) -> None:
        """Open when folded, fold when open."""
        self.open(not self._is_open)

    def on_click(self, event: Click) -> None:
        """A click on the header toggles; one that ends a selection does not."""
        if event.y == 0 and not self.screen.get_selected_text():
            self.action_unfold()
