"""Tables: columns as wide as they need to be, narrower where there is no room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

from textual.content import Content

from tui.lines import Line, Prefix, wrapped
from tui.markdown.blocks import Block

Align = Literal["left", "center", "right"]
Row = Sequence[Content]

_GAP = "  "
_NARROWEST_COLUMN = 4


class Table(Block):
    """A header, rows, and how each column is aligned. Rows have as many cells as the header."""

    def __init__(
        self, header: Row, rows: Sequence[Row], aligns: Sequence[Align], prefix: Prefix, gap: Content | None
    ) -> None:
        super().__init__(prefix, gap)
        self._header = header
        self._rows = rows
        self._aligns = aligns
        self._natural = [max(map(_cell_width, column)) for column in zip(header, *rows, strict=True)]

    def layout(self, width: int) -> list[Line]:
        """Columns side by side, or one cell a line where there is no room for that."""
        widths = column_widths(self._natural, width - len(_GAP) * (len(self._natural) - 1))
        if widths is None:
            return self._listed(width)
        rule = Line(Content.styled(_GAP.join("─" * column for column in widths), "$text-muted"))
        lines = [*self._row(self._header, widths), rule]
        for row in self._rows:
            lines.extend(self._row(row, widths))
        return lines

    def _row(self, row: Row, widths: Sequence[int]) -> list[Line]:
        cells = [[line.content for line in wrapped(cell, width)] for cell, width in zip(row, widths, strict=True)]
        return [Line(self._joined(line, widths)) for line in zip_longest(*cells, fillvalue=Content(""))]

    def _joined(self, line: Sequence[Content], widths: Sequence[int]) -> Content:
        columns = zip(line, widths, self._aligns, strict=True)
        return Content(_GAP).join([_aligned(*column) for column in columns]).rstrip()

    def _listed(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for row in self._rows:
            for name, cell in zip(self._header, row, strict=True):
                lines.extend(wrapped(Content.assemble(name, ": ", cell), width))
            lines.append(Line(Content("")))
        return lines[:-1] or wrapped(Content(_GAP).join(self._header), width)


def column_widths(natural: Sequence[int], room: int) -> list[int] | None:
    """How wide each column may be so that all fit into `room` cells; None when that would leave them too narrow.

    The widest columns give way first.
    """
    widths = [max(1, width) for width in natural]
    smallest = [min(width, _NARROWEST_COLUMN) for width in widths]
    if sum(smallest) > room:
        return None
    excess = sum(widths) - room
    while excess > 0:
        widest = max(widths)
        next_width = max([width for width in widths if width < widest], default=_NARROWEST_COLUMN)
        columns = [index for index, width in enumerate(widths) if width == widest]
        step = max(1, min(widest - max(next_width, _NARROWEST_COLUMN), excess // len(columns)))
        for index in columns[: max(1, excess // step)]:
            widths[index] -= step
        excess = sum(widths) - room
    return widths


def _cell_width(cell: Content) -> int:
    return max(line.cell_length for line in cell.split("\n", allow_blank=True))


def _aligned(cell: Content, width: int, align: Align) -> Content:
    free = max(0, width - cell.cell_length)
    left = {"left": 0, "center": free // 2, "right": free}[align]
    return cell.pad(left, free - left)
