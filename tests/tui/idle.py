"""When an app under test is at rest: read from its event loop, not guessed from the time that passes."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

_QUIET_TURNS = 3
"""Turns of the loop in a row in which nothing was to be done: what goes through a socket comes a turn or two later."""
_MOMENT = 0.001
"""Seconds in which the kernel and other threads may do their part."""
_FRAME = 0.02
"""Seconds: what is due that soon, such as the next drawing of the screen, is waited for."""


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 5.0) -> None:
    """Wait until nothing is left to be done by the loop or its threads; stands in for Textual's function of that name.

    That one sleeps for 20 ms and longer, several times a key, and on a busy machine takes a program that has got no
    turn for one that has nothing to do.

    Args:
        min_sleep: seconds to wait at least.
        max_sleep: seconds after which something that never rests is let be.
    """
    loop = asyncio.get_running_loop()
    begin = monotonic()
    quiet = 0
    while (quiet < _QUIET_TURNS or monotonic() - begin < min_sleep) and monotonic() - begin < max_sleep:
        due = _due(loop)
        quiet = 0 if due is not None else quiet + 1
        await asyncio.sleep(_MOMENT if due is None else due)


def _due(loop: Any) -> float | None:
    """Seconds until something is to be done, 0 for at once; None when that is later than a frame."""
    if loop._ready:
        return 0.0
    if _is_working(loop._default_executor):
        return _MOMENT
    waits = [timer.when() - loop.time() for timer in loop._scheduled if not timer.cancelled()]
    soonest = min(waits, default=_FRAME)
    return max(0.0, soonest) if soonest < _FRAME else None


def _is_working(threads: Any) -> bool:
    """Whether a thread of the loop's, as `asyncio.to_thread` uses them, has not come to its end."""
    return threads is not None and threads._idle_semaphore._value < len(threads._threads)
