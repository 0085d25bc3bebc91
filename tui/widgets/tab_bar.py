"""The names of the chat and the panes in one line, with the keys that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.content import Content
from textual.events import Click
from textual.message import Message

from tui.lines import Line
from tui.widgets.line_text import LineText


class Tab(NamedTuple):
    """One tab: what it stands for, its title, its key."""

    id: str
    title: str
    key: str


class TabBar(LineText):
    """Shows the tabs, those that are in view marked; a click chooses one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TabBar {
        height: 1;
        padding: 0 1;
        background: $boost;
    }
    """

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        tab_id: str

    def __init__(self, tabs: Sequence[Tab], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: Sequence[Tab] = tabs
        self._seen: Sequence[str] = ()

    def show(self, tabs: Sequence[Tab], seen: Sequence[str]) -> None:
        """Show these tabs, and mark those that are in view."""
        if (tabs, seen) != (self._tabs, self._seen):
            self._tabs, self._seen = tabs, seen
            self.changed()

    def layout_lines(self, width: int) -> list[Line]:
        """All tabs in a row."""
        line = Content("  ").join([self._label(tab) for tab in self._tabs])
        return [Line(line.truncate(width, ellipsis=True))]

    def on_click(self, event: Click) -> None:
        """Choose the tab under the pointer."""
        start = self.content_region.x - self.region.x
        for tab in self._tabs:
            end = start + self._label(tab).cell_length
            if start <= event.x < end:
                self.post_message(self.Chosen(tab.id))
            start = end + 2

    def _label(self, tab: Tab) -> Content:
        is_seen = tab.id in self._seen
        title = Content.styled(f" {tab.title} ", "bold reverse") if is_seen else Content(f" {tab.title} ")
        return Content.assemble(Content.styled(tab.key.upper(), "dim"), title)
