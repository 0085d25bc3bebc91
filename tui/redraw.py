"""When something is drawn that changes all the time: at once after a quiet while, and seldom enough for keys."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message_pump import MessagePump

_TOGETHER = 0.005
"""Seconds to wait for what belongs to the same change."""
_REST = 4
"""A redraw that takes long is followed by a pause of so many times its length, so that keys are answered."""
_LONGEST_PAUSE = 0.5
"""Seconds that it may be at most."""


class Redraw:
    """Calls `draw` after each `soon`, once for several that come close together.

    Args:
        owner: whose timers and refreshes are used; without them, before it runs and after it has ended, nothing is
            drawn.
        draw: draws what has changed.
        interval: seconds from one redraw to the next at least, while changes go on.
    """

    def __init__(self, owner: MessagePump, draw: Callable[[], None], interval: float) -> None:
        self._owner = owner
        self._draw = draw
        self._interval = interval
        self._is_due = False
        self._next = 0.0

    def soon(self) -> None:
        """Something has changed."""
        if not self._is_due:
            self._is_due = True
            self._owner.set_timer(max(_TOGETHER, self._next - time.monotonic()), self._draw_now)

    def _draw_now(self) -> None:
        started = time.monotonic()
        self._is_due = False
        self._next = started + self._interval
        self._draw()
        self._owner.call_after_refresh(self._rest, started)

    def _rest(self, started: float) -> None:
        now = time.monotonic()
        self._next = max(self._next, now + min(_REST * (now - started), _LONGEST_PAUSE))
