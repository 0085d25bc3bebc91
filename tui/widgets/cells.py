"""Text fit into columns of cells, in which a wide character takes two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from tui.literal_text import visible_line


def fit(text: str, width: int) -> str:
    """`text` made safe for one line and exactly `width` cells wide, with an ellipsis where it was cut."""
    line = visible_line(text)
    if width <= 0:
        return ""
    if cell_len(line) <= width:
        return set_cell_size(line, width)
    return set_cell_size(line, width - 1) + "…"


def cut(text: str, width: int) -> str:
    """`text` made safe for one line and at most `width` cells wide."""
    line = visible_line(text)
    return line if cell_len(line) <= width else fit(text, width)
