"""The chat: the newest items are mounted, older ones come when a person scrolls back."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.reactive import Reactive

from tui.views.chat import ChatView
from tui.views.chat_items import AnswerItem, ChatItem, HintItem, NoticeItem, ThinkingItem, ToolItem, UserItem
from tui.views.window import Window, following, with_older
from tui.widgets.answer import Answer
from tui.widgets.chat_row import ChatRow, FoldableRow
from tui.widgets.hint_row import HintRow
from tui.widgets.notice_row import NoticeRow
from tui.widgets.thinking import Thinking
from tui.widgets.tool_row import ToolRow
from tui.widgets.user_row import UserRow

Row = Answer | ChatRow[UserItem] | ChatRow[NoticeItem] | ChatRow[ThinkingItem] | ChatRow[ToolItem] | ChatRow[HintItem]


class Transcript(VerticalScroll, can_focus=False):
    """Shows a `ChatView`. It stays at its end until a person scrolls away, and again once they are back there."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        padding: 0 1;
        scrollbar-size-vertical: 1;
    }
    """

    # What is in it was laid out when this is set, scrolled to the end already; once more would change nothing.
    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, view: ChatView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._window = Window()
        self._rows: list[Row] = []
        self._opens_details = False
        self._is_going_back = False

    def on_mount(self) -> None:
        """Stay at the end from the beginning."""
        self.anchor()

    def show(self) -> None:
        """Draw what has changed since the last time, and mount what is new."""
        for row in self._rows:
            row.show()
        before = self._window
        window = following(before, len(self._view.items), at_end=self.is_vertical_scroll_end)
        if window == before:
            return
        self._window = window
        gone = max(0, window.first - before.first) if before.size else 0
        with self.app.batch_update():
            self.remove_children(self._rows[:gone])
            fresh = [self._row(item) for item in self._view.items[max(before.end, window.first) : window.end]]
            self._rows = self._rows[gone:] + fresh
            self.mount_all(fresh)

    def toggle_details(self) -> None:
        """Open all rows that can be opened, or fold them; those to come are shown the same way."""
        self._opens_details = not self._opens_details
        for row in self._rows:
            if isinstance(row, FoldableRow):
                row.open(self._opens_details)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by pages, back when it is negative; a burst of keys by as many as it holds."""
        height = self.scrollable_content_region.height
        self.scroll_relative(y=pages * height, animate=False, immediate=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Bring older items when the beginning of what is mounted comes into view."""
        super().watch_scroll_y(old_value, new_value)
        is_near = new_value < old_value and new_value < self.size.height
        if is_near and self._window.first > 0 and not self._is_going_back:
            self._mount_older()

    def _mount_older(self) -> None:
        self._is_going_back = True
        before, self._window = self._window, with_older(self._window)
        older = [self._row(item) for item in self._view.items[self._window.first : before.first]]
        self._rows = older + self._rows
        height = self.virtual_size.height
        self.mount_all(older, before=0)

        def stay() -> None:
            """What was in view moves down by what came above it."""
            self._is_going_back = False
            self.scroll_to(y=self.scroll_y + self.virtual_size.height - height, animate=False, immediate=True)

        self.call_after_refresh(stay)

    def _row(self, item: ChatItem) -> Row:
        match item:
            case UserItem():
                return UserRow(item)
            case AnswerItem():
                return Answer(item)
            case ThinkingItem():
                return Thinking(item, is_open=self._opens_details)
            case ToolItem():
                return ToolRow(item, is_open=self._opens_details)
            case HintItem():
                return HintRow(item, is_open=self._opens_details)
            case NoticeItem():
                return NoticeRow(item)
        raise TypeError(f"no row shows {item!r}")
