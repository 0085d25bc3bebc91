"""What is seen at once, depending on the room that there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

CHAT = "chat"
PANES = ("content", "filter", "index", "hints")
"""The panes that are always there."""
FACTS = "facts"
"""The one that is there while mem0 is used."""
WIDE = 100
"""Columns from which a pane stands beside the chat."""
TALL = 36
"""Lines from which two panes do, one above the other."""
HUGE = 170
HUGE_LINES = 40
"""Columns and lines from which all panes do."""


class Arrangement(NamedTuple):
    """Whether the chat is seen, and which panes are."""

    chat: bool
    panes: tuple[str, ...]


def arrangement(width: int, height: int, tab: str, last_pane: str, panes: Sequence[str] = PANES) -> Arrangement:
    """What is seen at this size.

    Args:
        width: columns of the terminal.
        height: lines of the terminal.
        tab: what was chosen last: the chat or a pane.
        last_pane: the pane that was chosen last.
        panes: the panes that there are.
    """
    if width < WIDE:
        return Arrangement(True, ()) if tab == CHAT else Arrangement(False, (tab,))
    if width >= HUGE and height >= HUGE_LINES:
        return Arrangement(True, tuple(panes))
    seen = {last_pane, _COMPANIONS.get(last_pane, _COMPANION)} if height >= TALL else {last_pane}
    return Arrangement(True, tuple(pane for pane in panes if pane in seen))


_COMPANION = "hints"
_COMPANIONS = {"hints": "content"}
"""What stands beside a pane: what was looked up, and beside that what is held."""
