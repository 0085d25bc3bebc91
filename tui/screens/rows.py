"""A screen with a list of single lines, above what was there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Footer

from tui.screens.framed import FramedScreen
from tui.widgets.ask_line import AskLine
from tui.widgets.asking import Asking
from tui.widgets.literal import Literal, literal
from tui.widgets.row_list import RowList

T = TypeVar("T")


class DrawnRows(Generic[T]):
    """Rows of values that do not change.

    Args:
        draw: draws one for a width.
    """

    def __init__(self, draw: Callable[[T, int], Content]) -> None:
        self.values: Sequence[T] = ()
        self._draw = draw
        self._drawings = 0

    def take(self, values: Sequence[T]) -> None:
        """Show others."""
        self.values = values
        self._drawings += 1

    @property
    def keys(self) -> Sequence[Hashable]:
        """Their places."""
        return range(len(self.values))

    def stamp(self, index: int) -> Hashable:
        """Another one after each `take`."""
        return self._drawings

    def draw(self, index: int, width: int) -> Content:
        """One row."""
        return self._draw(self.values[index], width)


class RowsScreen(Asking, FramedScreen[None], Generic[T]):
    """Rows, more on the one under the cursor, and what is asked.

    Args:
        title: what it is.
    """

    DEFAULT_CSS = """
    RowsScreen {
        & > .frame { max-width: 140; }
        RowList { height: 2fr; }
        .head { height: auto; max-height: 3; color: $text-muted; }
        .detail { height: 3fr; border-top: solid $foreground 15%; }
    }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._head = Literal(classes="head")
        self._drawn: DrawnRows[T] = DrawnRows(self.draw_row)
        self._rows = RowList(self._drawn)
        self._detail = Literal()
        self.ask = AskLine()

    def compose(self) -> ComposeResult:
        """What there is to say of all, the rows, more on one of them."""
        with Vertical(classes="frame") as frame:
            frame.border_title = literal(self._title)
            yield self._head
            yield self._rows
            with VerticalScroll(classes="detail", can_focus=False):
                yield self._detail
            yield self.ask
        yield Footer(show_command_palette=False)

    def take(self, values: Sequence[T], head: str) -> None:
        """Show other rows."""
        self._drawn.take(values)
        self._head.show(head)
        self._rows.rows_changed()
        self._rows.focus()
        self.show_detail()

    @property
    def chosen(self) -> T | None:
        """The value under the cursor."""
        cursor = self._rows.cursor
        return None if cursor is None or cursor >= len(self._drawn.values) else self._drawn.values[cursor]

    def on_row_list_cursor_moved(self) -> None:
        """Say more on another row."""
        self.show_detail()

    def put_head(self, text: str) -> None:
        """Say something of all."""
        self._head.show(text)

    def put_detail(self, content: Content | str) -> None:
        """Show more on the row under the cursor."""
        self._detail.show(content)

    def draw_row(self, value: T, width: int) -> Content:
        """One row, fit for so many cells."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """Show more on the row under the cursor."""
        raise NotImplementedError
