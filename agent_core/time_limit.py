"""A limit on the time of a piece of work that nothing else can interrupt, such as a regular expression."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CAN_LIMIT = hasattr(signal, "setitimer")
"""Windows has no timer that interrupts."""


class TimeLimitExceeded(Exception):
    """The work took longer than it may."""


def limits_here() -> bool:
    """Whether a limit can be kept: signals reach the main thread only."""
    return CAN_LIMIT and threading.current_thread() is threading.main_thread()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what runs inside after so many seconds, where `limits_here`.

    Raises:
        TimeLimitExceeded: it took longer.
    """
    is_running = True

    def stop(number: int, frame: FrameType | None) -> None:
        # The signal may still be under way when the work has just ended.
        if is_running:
            raise TimeLimitExceeded

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
