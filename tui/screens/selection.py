"""Which character a cell of the screen shows, where characters may be two cells wide."""

from __future__ import annotations

from rich.cells import cell_len
from textual.geometry import Offset
from textual.strip import Strip


def character_at(strip: Strip, cell: int) -> Offset | None:
    """The place in its text of the character that covers a cell; None where there is no text.

    Textual itself takes the second cell of a wide character for the character behind it, and a selection that ends
    there is one character too long.
    """
    start = 0
    for text, style, _ in strip:
        end = start + cell_len(text)
        offset = style.meta.get("offset") if style else None
        if start <= cell < end and offset is not None:
            return Offset(offset[0] + _index(text, cell - start), offset[1])
        start = end
    return None


def _index(text: str, cell: int) -> int:
    end = 0
    for index, character in enumerate(text):
        end += cell_len(character)
        if end > cell:
            return index
    return len(text)
