"""Which character stands under a cell."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.geometry import Offset
from textual.strip import Strip

from tui.screens.selection import character_at


def strip(text: str) -> Strip:
    return Strip(Content(text).render_segments()).apply_offsets(0, 3)


@pytest.mark.parametrize(
    ("text", "characters"),
    [("abc", [0, 1, 2]), ("一二", [0, 0, 1, 1]), ("a一b", [0, 1, 1, 2]), ("🙂x", [0, 0, 1])],
)
def test_every_cell_belongs_to_the_character_that_covers_it(text: str, characters: list[int]) -> None:
    """T12."""
    assert [character_at(strip(text), cell) for cell in range(len(characters))] == [Offset(x, 3) for x in characters]
    assert character_at(strip(text), len(characters)) is None


def test_cells_that_are_no_text_belong_to_no_character() -> None:
    assert character_at(Strip(Content("abc").render_segments()), 1) is None
