"""Which items of a long chat are mounted: a window that follows its end and grows where a person scrolls back."""

from __future__ import annotations

from typing import NamedTuple

AT_FIRST = 30
"""Items that are mounted to begin with, and kept when older ones are let go of."""
STEP = 20
"""Items that are added when a person scrolls back to the beginning of the window."""
AT_MOST = 60
"""Items above which the oldest are let go of, as long as the end is in view."""


class Window(NamedTuple):
    """The items from `first` up to, but not including, `end` are mounted."""

    first: int = 0
    end: int = 0

    @property
    def size(self) -> int:
        """How many items are mounted."""
        return self.end - self.first


def following(window: Window, total: int, *, at_end: bool) -> Window:
    """The window when the chat has `total` items; `at_end` tells whether its end is in view."""
    if window.size == 0:
        return Window(max(0, total - AT_FIRST), total)
    first = window.first
    if at_end and total - first > AT_MOST:
        first = total - AT_FIRST
    return Window(first, total)


def with_older(window: Window) -> Window:
    """The window with a step of older items."""
    return window._replace(first=max(0, window.first - STEP))
