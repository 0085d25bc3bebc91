"""Markdown as one cheap widget, whether it is still being written or complete."""

from __future__ import annotations

import asyncio

from textual.content import Content
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tui.markdown.document import MarkdownDocument
from tui.markdown.lines import Line, copied

_IN_THREAD_ABOVE = 4_000
"""Characters to be parsed beyond which it is done in a thread, so that keys are answered meanwhile."""


class MarkdownText(Widget, inherit_bindings=False):
    """Shows Markdown; only the lines in view are drawn. A selection copies the text as it was before it was wrapped."""

    DEFAULT_CSS = """
    MarkdownText {
        height: auto;
    }
    """

    def __init__(self, text: str = "", *, is_live: bool = False, id: str | None = None, classes: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self._document = MarkdownDocument()
        self._wanted = ("", False)
        self._is_parsing = False
        if text:
            self.show(text, is_live=is_live)

    def show(self, text: str, *, is_live: bool = False) -> None:
        """Show `text`, of which more will come when `is_live`."""
        self._wanted = (text, is_live)
        if self._is_parsing:
            return
        if self._document.cost(text) <= _IN_THREAD_ABOVE:
            self._take(_parsed(self._document, text, is_live, self.size.width))
        else:
            self._is_parsing = True
            self.call_later(lambda: self.run_worker(self._parse_in_thread()))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as there is room."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the text takes at that width."""
        return len(self._document.lines(width)) if width else 0

    def render_line(self, y: int) -> Strip:
        """One line of the text."""
        width = self.size.width
        lines = self._document.lines(width) if width else []
        base = self.visual_style
        if y >= len(lines):
            return Strip.blank(width, base.rich_style)
        content, ground = lines[y].content, lines[y].ground
        if ground:
            content = content + Content.styled(" " * (width - content.cell_length), ground)
        span = self.text_selection.get_span(y) if self.text_selection else None
        if span is not None:
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(style, start, len(content) if end == -1 else end)
        strip = Strip(content.render_segments(base), content.cell_length)
        return strip.apply_offsets(0, y).adjust_cell_length(width, base.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, with the newlines that were written and no others."""
        lines = self._document.lines(self.size.width)
        start = (selection.start.y, selection.start.x) if selection.start else (0, 0)
        end = (selection.end.y, selection.end.x) if selection.end else _end_of(lines)
        return copied(lines, start, end), "\n"

    async def _parse_in_thread(self) -> None:
        try:
            wanted = None
            while wanted != self._wanted:
                wanted = self._wanted
                self._take(await asyncio.to_thread(_parsed, self._document, *wanted, self.size.width))
        finally:
            self._is_parsing = False

    def _take(self, document: MarkdownDocument) -> None:
        width = self.size.width
        is_as_high = bool(width) and len(document.lines(width)) == len(self._document.lines(width))
        self._document = document
        self.refresh(layout=not is_as_high)


def _parsed(document: MarkdownDocument, text: str, is_live: bool, width: int) -> MarkdownDocument:
    parsed = document.grown(text) if is_live else document.settled(text)
    if width:
        parsed.lines(width)
    return parsed


def _end_of(lines: list[Line]) -> tuple[int, int]:
    return (len(lines) - 1, len(lines[-1].content)) if lines else (0, 0)
