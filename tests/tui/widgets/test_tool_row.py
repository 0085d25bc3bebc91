"""The line of a tool call."""

from __future__ import annotations

import pytest

from tui.views.chat_items import ToolItem
from tui.widgets.tool_row import ToolRow

PATH = "/home/somebody/.local/share/mnemoscope/workdir/Memory/user_profile.md"


def header(name: str, arguments: str, width: int) -> str:
    item = ToolItem("c1", name, arguments, "success", seconds=0.02)
    return ToolRow(item).layout_lines(width)[0].content.plain


def test_of_a_long_path_the_end_is_seen_and_how_the_call_went() -> None:
    line = header("Write", f'{{"file_path": "{PATH}"}}', 60)
    assert line.startswith("▸ ✓ Write …")
    assert line.endswith("Memory/user_profile.md  done in 20 ms")
    assert len(line) <= 60


def test_of_other_texts_the_beginning_is_seen() -> None:
    line = header("Search", '{"query": "where somebody lives and what for, in as many words as possible"}', 60)
    assert line.startswith("▸ ✓ Search where somebody lives")
    assert line.endswith("…  done in 20 ms")


@pytest.mark.parametrize("width", [1, 5, 20, 30, 200])
def test_it_fits_any_width(width: int) -> None:
    line = header("Write", '{"file_path": "/日本語/日本語日本語日本語.md"}', width)
    assert "\n" not in line


def test_control_characters_in_a_path_are_seen_only() -> None:
    """T06."""
    assert "␛[2J" in header("Read", '{"file_path": "/a/\\u001b[2J.md"}', 80)
