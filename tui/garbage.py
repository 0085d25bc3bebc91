"""Garbage is collected while nobody waits: going through all objects takes longer than a key may."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

_WARM_UP_SECONDS = 2.0
_SECONDS = 15.0
_MOST_POSTPONED = 8
_YOUNG = 5_000
"""So many new objects are looked through in about a millisecond."""
_NEVER = 1_000_000


class GarbageCollection:
    """Leaves only young garbage to Python, and the rest to moments at which nothing is going on.

    Begins when most of what stays until the end has been made, and leaves that alone. A collection that has been
    postponed for two minutes is made all the same.

    Args:
        is_busy: whether somebody would notice if the program stood still for some hundredths of a second.
    """

    def __init__(self, is_busy: Callable[[], bool]) -> None:
        self._is_busy = is_busy
        self._postponed = 0

    def start(self) -> None:
        """Begin in a few seconds. Needs a running event loop, and ends with it."""
        asyncio.get_running_loop().call_later(_WARM_UP_SECONDS, self._begin)

    def _begin(self) -> None:
        gc.freeze()
        gc.set_threshold(_YOUNG, 10, _NEVER)
        gc.enable()
        self._again()

    def _again(self) -> None:
        asyncio.get_running_loop().call_later(_SECONDS, self._collect)

    def _collect(self) -> None:
        _, _, surviving = gc.get_count()
        if self._is_busy() and self._postponed < _MOST_POSTPONED:
            self._postponed += 1
        elif surviving:
            self._postponed = 0
            gc.collect()
        self._again()
