"""A list of single lines of any length: only those that are seen are drawn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from textual.cache import LRUCache
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from tui.commands import LIST, bindings

Follow = Literal["start", "end", "nothing"]

_GUTTER = 2
_KEPT_LINES = 200
"""Drawn lines that are kept, so that moving about draws few anew."""


class Rows(Protocol):
    """What a `RowList` shows."""

    @property
    def keys(self) -> Sequence[Hashable]:
        """One key for each row, in order: it names the row however it moves. None names one that cannot be selected."""

    def stamp(self, index: int) -> Hashable:
        """Something that differs whenever the row at this index is to be drawn differently; cheap to get.

        Raises:
            IndexError: there is no such row any more.
        """

    def draw(self, index: int, width: int) -> Content:
        """The row at this index, fit for so many cells; what is longer is cut."""


class RowList(ScrollView, can_focus=True):
    """Rows with a cursor and a selection, both of which stay with their rows when others come or go.

    Args:
        rows: what is shown; after each change of it, call `rows_changed`.
        follow: the end at which a cursor that stands there stays.

    Attributes:
        selected: the keys of the selected rows.
    """

    ALLOW_SELECT = False
    BINDINGS = bindings(LIST)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor", "row-list--selected"}
    DEFAULT_CSS = """
    RowList {
        overflow-x: hidden;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        & > .row-list--cursor { background: $surface; }
        & > .row-list--selected { color: $text-accent; }
        &:focus > .row-list--cursor { background: $block-cursor-blurred-background; text-style: bold; }
    }
    """

    @dataclass
    class CursorMoved(Message):
        """The cursor stands on another row, or on none."""

        row_list: RowList

        @property
        def control(self) -> RowList:
            """The list that sent this."""
            return self.row_list

    @dataclass
    class Opened(Message):
        """A row was clicked twice."""

        row_list: RowList

        @property
        def control(self) -> RowList:
            """The list that sent this."""
            return self.row_list

    def __init__(self, rows: Rows, *, follow: Follow = "nothing", id: str | None = None) -> None:
        super().__init__(id=id)
        self.selected: set[Hashable] = set()
        self._rows = rows
        self._follow = follow
        self._keys: list[Hashable] = []
        self._cursor = 0
        self._anchor: int | None = None
        self._lines: LRUCache[Hashable, Strip] = LRUCache(_KEPT_LINES)
        self._seen: dict[int, Hashable] = {}

    @property
    def cursor(self) -> int | None:
        """The index of the row under the cursor; None when there is no row."""
        return self._cursor if self._keys else None

    @property
    def cursor_key(self) -> Hashable | None:
        """The key of the row under the cursor."""
        return self._keys[self._cursor] if self._keys else None

    @property
    def targets(self) -> list[Hashable]:
        """What an action is about: the selected rows in order, or the one under the cursor."""
        if self.selected:
            return [key for key in self._keys if key in self.selected]
        return [self.cursor_key] if self.cursor_key is not None else []

    def rows_changed(self) -> None:
        """Take over rows that have come, gone or changed."""
        old_keys, self._keys = self._keys, list(self._rows.keys)
        old_cursor, old_top = self._cursor, self.scroll_offset.y
        was_seen = old_top <= old_cursor < old_top + self.size.height
        anchor = old_cursor if was_seen or not old_keys else min(old_top, len(old_keys) - 1)
        self._cursor = self._cursor_after(old_keys)
        if self._anchor is not None and old_keys:
            self._anchor = self._place_after(old_keys, self._anchor)
        moved_by = (self._cursor if anchor == old_cursor else self._place_after(old_keys, anchor)) - anchor
        if self.selected:
            self.selected &= set(self._keys)
        self.virtual_size = Size(0, len(self._keys))
        if old_keys:
            self._scroll_to_line(old_top + moved_by)
        if was_seen or not old_keys:
            self._scroll_to_cursor()
        if self._keys == old_keys:
            self._refresh_changed_lines()
        else:
            self.refresh()
        if (old_keys[old_cursor] if old_keys else None) != self.cursor_key:
            self.post_message(self.CursorMoved(self))

    def move_cursor(self, index: int, *, extend: bool = False) -> None:
        """Put the cursor on a row, the nearest one when there is no such row; `extend` selects what lies between."""
        if not self._keys:
            return
        index = min(max(0, index), len(self._keys) - 1)
        if extend:
            self._anchor = self._cursor if self._anchor is None else self._anchor
            first, last = sorted((self._anchor, index))
            self._select(self._keys[first : last + 1])
        else:
            self._anchor = None
        if index != self._cursor:
            self._cursor = index
            self.post_message(self.CursorMoved(self))
        self._scroll_to_cursor()
        self.refresh()

    def toggle_row(self) -> None:
        """Select the row under the cursor, or no longer."""
        key = self.cursor_key
        if key is not None:
            self.selected ^= {key}
            self.refresh()

    def toggle_all(self) -> None:
        """Select all rows; none when all are selected."""
        everything = {key for key in self._keys if key is not None}
        self.selected = set() if self.selected == everything else everything
        self.refresh()

    def clear_selection(self) -> None:
        """Select nothing."""
        self._select(())
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of what is seen."""
        width, index = self.scrollable_content_region.width, y + self.scroll_offset.y
        if not 0 <= index < len(self._keys) or width <= 0:
            return Strip.blank(width, self.rich_style)
        try:
            look = self._seen[y] = self._look(index)
        except IndexError:
            # On coming into sight a list may be painted before it is told that rows have gone meanwhile.
            return Strip.blank(width, self.rich_style)
        line = self._lines.get((look, width))
        if line is None:
            line = self._draw_line(index, width)
            self._lines[(look, width)] = line
        return line

    def notify_style_update(self) -> None:
        """Draw all lines anew: colours have changed, or the focus has come or gone."""
        self._lines.clear()
        super().notify_style_update()

    def action_up(self) -> None:
        """One row up."""
        self.move_cursor(self._cursor - 1)

    def action_down(self) -> None:
        """One row down."""
        self.move_cursor(self._cursor + 1)

    def action_page_back(self) -> None:
        """One screenful up."""
        self.move_cursor(self._cursor - max(1, self.size.height - 1))

    def action_page_on(self) -> None:
        """One screenful down."""
        self.move_cursor(self._cursor + max(1, self.size.height - 1))

    def action_first(self) -> None:
        """To the first row."""
        self.move_cursor(0)

    def action_last(self) -> None:
        """To the last row."""
        self.move_cursor(len(self._keys) - 1)

    def action_extend_up(self) -> None:
        """One row up, selecting on the way."""
        self.move_cursor(self._cursor - 1, extend=True)

    def action_extend_down(self) -> None:
        """One row down, selecting on the way."""
        self.move_cursor(self._cursor + 1, extend=True)

    def on_click(self, event: Click) -> None:
        """Put the cursor there; with ctrl select, with shift select up to there, twice open."""
        index = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if not 0 <= index < len(self._keys):
            return
        event.stop()
        self.move_cursor(index, extend=event.shift)
        if event.ctrl:
            self.toggle_row()
        elif event.chain == 2:
            self.post_message(self.Opened(self))

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor in sight."""
        self._scroll_to_cursor()

    def _draw_line(self, index: int, width: int) -> Strip:
        is_cursor, is_selected = index == self._cursor, self._keys[index] in self.selected
        names = ["row-list--selected"] * is_selected + ["row-list--cursor"] * is_cursor
        style = self.get_visual_style(*names) if names else self.visual_style
        gutter = ("›" if is_cursor else " ") + ("▪" if is_selected else " ")
        content = Content.assemble(gutter, self._rows.draw(index, max(0, width - _GUTTER)))
        strips = Visual.to_strips(self, content, width, 1, style, pad=True)
        return strips[0] if strips else Strip.blank(width, self.rich_style)

    def _look(self, index: int) -> Hashable:
        """All that a line depends on, its width and the style sheet aside."""
        key = self._keys[index]
        return key, self._rows.stamp(index), index == self._cursor, key in self.selected

    def _refresh_changed_lines(self) -> None:
        """Have those lines drawn anew that would look different."""
        top = self.scroll_offset.y
        for y, look in self._seen.items():
            if top + y < len(self._keys) and self._look(top + y) != look:
                self.refresh_line(top + y)

    def _select(self, keys: Iterable[Hashable]) -> None:
        self.selected = {key for key in keys if key is not None}

    def _cursor_after(self, old_keys: Sequence[Hashable]) -> int:
        """Where the cursor belongs, now that the rows are others."""
        last = len(self._keys) - 1
        if self._follow == "end" and (not old_keys or self._cursor == len(old_keys) - 1):
            return max(0, last)
        if not old_keys or (self._follow == "start" and self._cursor == 0):
            return 0
        return self._place_after(old_keys, self._cursor)

    def _place_after(self, old_keys: Sequence[Hashable], old_place: int) -> int:
        """Where the row is now that stood at `old_place`, or the next one below it that is still there."""
        if old_place < len(self._keys) and self._keys[old_place] == old_keys[old_place]:
            return old_place
        places = {key: place for place, key in enumerate(self._keys)}
        for key in old_keys[old_place:]:
            if key in places:
                return places[key]
        return max(0, len(self._keys) - 1)

    def _scroll_to_cursor(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height <= 0:
            return
        if self._cursor < top:
            self._scroll_to_line(self._cursor)
        elif self._cursor >= top + height:
            self._scroll_to_line(self._cursor - height + 1)

    def _scroll_to_line(self, top: int) -> None:
        # There may be no scrollbar yet, which would forbid scrolling.
        self.scroll_to(y=max(0, top), animate=False, force=True)
