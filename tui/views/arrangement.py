"""What is seen at once, depending on the room that there is."""

from __future__ import annotations

from typing import NamedTuple

CHAT = "chat"
PANES = ("content", "filter", "index", "hints")
WIDE = 100
"""Columns from which a pane stands beside the chat."""
HUGE = 170
HUGE_LINES = 40
"""Columns and lines from which all panes do."""


class Arrangement(NamedTuple):
    """Whether the chat is seen, and which panes are."""

    chat: bool
    panes: tuple[str, ...]


def arrangement(width: int, height: int, tab: str, last_pane: str) -> Arrangement:
    """What is seen at this size.

    Args:
        width: columns of the terminal.
        height: lines of the terminal.
        tab: what was chosen last: the chat or a pane.
        last_pane: the pane that was chosen last.
    """
    if width < WIDE:
        return Arrangement(True, ()) if tab == CHAT else Arrangement(False, (tab,))
    if width < HUGE or height < HUGE_LINES:
        return Arrangement(True, (last_pane,))
    return Arrangement(True, PANES)
