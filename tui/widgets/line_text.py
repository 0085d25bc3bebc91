"""The base of widgets that lay their text out in lines themselves."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tui.lines import Line, copied


class LineText(Widget, inherit_bindings=False):
    """Text in lines, of which only those in view are drawn. A selection copies it as it was before it was broken up.

    A subclass gives the lines in `layout_lines` and calls `changed` when they are others.
    """

    DEFAULT_CSS = """
    LineText {
        height: auto;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._lines_width = 0

    def layout_lines(self, width: int) -> list[Line]:
        """The lines, none wider than `width` cells."""
        raise NotImplementedError

    def changed(self) -> None:
        """Lay the text out anew and draw it."""
        before = len(self._lines)
        width, self._lines_width = self._lines_width, 0
        is_as_high = bool(width) and len(self.lines(width)) == before
        self.refresh(layout=not is_as_high)

    def lines(self, width: int) -> list[Line]:
        """`layout_lines`, remembered for the width that was asked for last."""
        if width != self._lines_width:
            self._lines, self._lines_width = self.layout_lines(width), width
        return self._lines

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as there is room."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the text takes at that width."""
        return len(self.lines(width)) if width else 0

    def render_line(self, y: int) -> Strip:
        """One line of the text."""
        width = self.size.width
        base = self.visual_style
        lines = self.lines(width) if width else []
        if y >= len(lines):
            return Strip.blank(width, base.rich_style)
        content = lines[y].content
        if ground := lines[y].ground:
            content += Content.styled(" " * (width - content.cell_length), ground)
        span = self.text_selection.get_span(y) if self.text_selection else None
        if span is not None:
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(style, start, len(content) if end == -1 else end)
        strip = Strip(content.render_segments(base), content.cell_length)
        return strip.apply_offsets(0, y).adjust_cell_length(width, base.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, with the newlines that were written and no others."""
        lines = self.lines(self.size.width)
        start = (selection.start.y, selection.start.x) if selection.start else (0, 0)
        end = (selection.end.y, selection.end.x) if selection.end else _end_of(lines)
        return copied(lines, start, end), "\n"


def _end_of(lines: list[Line]) -> tuple[int, int]:
    return (len(lines) - 1, len(lines[-1].content)) if lines else (0, 0)
