"""The blocks that Markdown is made of, each able to lay itself out in lines of a given width."""

from __future__ import annotations

from abc import ABC, abstractmethod

from textual.content import Content

from tui.lines import Line, Prefix, folded, prefixed, wrapped

_CODE_INDENT = 2
_GROUND = "on $surface-lighten-1"
_NARROWEST = 10


class Block(ABC):
    """One block with what stands before its lines; `gap` is the blank line that goes before it, None when none does.

    Laying out is remembered for the width that was asked for last.
    """

    def __init__(self, prefix: Prefix, gap: Content | None) -> None:
        self.prefix = prefix
        self.gap = gap
        self._width = -1
        self._lines: list[Line] = []

    def lines(self, width: int) -> list[Line]:
        """The block in lines of at most `width` cells, the blank line before it not among them."""
        if width != self._width:
            # Deep nesting must leave room for the text itself.
            room = max(_NARROWEST, width - self.prefix.rest.cell_length)
            self._lines = prefixed(self.layout(room), self.prefix)
            self._width = width
        return self._lines

    @abstractmethod
    def layout(self, width: int) -> list[Line]:
        """The lines without what stands before them."""


class Paragraph(Block):
    """Running text: a paragraph, a heading, an item's line."""

    def __init__(self, content: Content, prefix: Prefix, gap: Content | None) -> None:
        super().__init__(prefix, gap)
        self._content = content

    def layout(self, width: int) -> list[Line]:
        """Broken at blanks."""
        return wrapped(self._content, width)


class Code(Block):
    """Code, indented and on a ground of its own."""

    def __init__(self, content: Content, prefix: Prefix, gap: Content | None) -> None:
        super().__init__(prefix, gap)
        self._content = content

    def layout(self, width: int) -> list[Line]:
        """Broken where the width ends."""
        lines = folded(self._content, width - _CODE_INDENT)
        return [Line(_on_ground(line.content), _CODE_INDENT, line.joint, _GROUND) for line in lines]


class Rule(Block):
    """A line across."""

    def layout(self, width: int) -> list[Line]:
        """One line as wide as there is room."""
        return [Line(Content.styled("─" * width, "$text-muted"))]


def _on_ground(code: Content) -> Content:
    return code.pad_left(_CODE_INDENT).stylize_before(_GROUND)
