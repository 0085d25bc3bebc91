"""The base of widgets that lay their text out in lines themselves."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tui.lines import Line, copied


class _Drawn(NamedTuple):
    """A line as it was drawn, and of what it was made."""

    strip: Strip
    line: Line
    width: int
    base: Style
    span: tuple[int, int] | None

    def fits(self, line: Line, width: int, base: Style, span: tuple[int, int] | None) -> bool:
        """Whether the line would be drawn the same again."""
        return self.line is line and (self.width, self.base, self.span) == (width, base, span)


class LineText(Widget, inherit_bindings=False):
    """Text in lines, of which only those in view are drawn. A selection copies it as it was before it was broken up.

    A subclass gives the lines in `layout_lines` and calls `changed` when they are others.
    """

    DEFAULT_CSS = """
    LineText {
        height: auto;
    }
    """

    # Nothing is laid out inside it, so its new size, which a layout has just given it, is no reason for another one.
    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._lines_width = 0
        self._strips: dict[int, _Drawn] = {}

    def layout_lines(self, width: int) -> list[Line]:
        """The lines, none wider than `width` cells."""
        raise NotImplementedError

    def changed(self) -> None:
        """Lay the text out anew and draw it."""
        before = len(self._lines)
        width, self._lines_width = self._lines_width, 0
        is_as_high = bool(width) and len(self.lines(width)) == before
        self.refresh(layout=not is_as_high)

    def notify_style_update(self) -> None:
        """Forget lines that were drawn in other colours."""
        super().notify_style_update()
        self._strips.clear()

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
        span = self.text_selection.get_span(y) if self.text_selection else None
        drawn = self._strips.get(y)
        if drawn is not None and drawn.fits(lines[y], width, base, span):
            return drawn.strip
        strip = self._draw(lines[y], span, base).apply_offsets(0, y).adjust_cell_length(width, base.rich_style)
        self._strips[y] = _Drawn(strip, lines[y], width, base, span)
        return strip

    def _draw(self, line: Line, span: tuple[int, int] | None, base: Style) -> Strip:
        content = line.content
        if line.ground:
            content += Content.styled(" " * (self.size.width - content.cell_length), line.ground)
        if span is not None:
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(style, start, len(content) if end == -1 else end)
        return Strip(content.render_segments(base), content.cell_length)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, with the newlines that were written and no others."""
        lines = self.lines(self.size.width)
        start = (selection.start.y, selection.start.x) if selection.start else (0, 0)
        end = (selection.end.y, selection.end.x) if selection.end else _end_of(lines)
        return copied(lines, start, end), "\n"


def _end_of(lines: list[Line]) -> tuple[int, int]:
    return (len(lines) - 1, len(lines[-1].content)) if lines else (0, 0)
