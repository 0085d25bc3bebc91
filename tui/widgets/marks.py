"""Marks as they are shown: each in brackets, so that they are told apart without colour."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from tui.mark_syntax import format_mark
from tui.widgets.literal import literal_line

CHIP_STYLE = "$text-accent"


def chips(marks: Iterable[str]) -> Content:
    """The marks in a row."""
    return Content(" ").join([literal_line(f"[{format_mark(mark)}]", CHIP_STYLE) for mark in marks])
