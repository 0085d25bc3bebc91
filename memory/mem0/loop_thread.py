"""An event loop in a thread of its own, for work that may hold its loop up."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_WAKE = 0.05
"""Seconds."""
_WORKERS = 4
"""Threads that mem0's blocking calls take turns in."""


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose futures may be completed on another loop: a client may share events and locks with its owner."""

    thread_id = 0

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if self.thread_id in (0, threading.get_ident()):
            return super().call_soon(callback, *args, context=context)
        # Once the other thread is through with what it is doing: nothing in asyncio expects to be watched meanwhile.
        other = asyncio.get_running_loop()
        return other.call_soon(partial(self.call_soon_threadsafe, callback, *args, context=context))


class LoopThread:
    """Runs coroutines beside the caller's loop, so that nothing that they do can hold that up.

    The thread begins with the first coroutine, and ends with `stop` or when this object is no longer needed. It never
    keeps the program from ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: _Loop | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns or raises; cancelling this cancels it. It sees the caller's context variables."""
        loop = self._loop or self._start()
        result = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))
        try:
            # Now and then this loop must wake by itself, to notice an event of its own that the coroutine has set.
            while not result.done():
                await asyncio.wait([result], timeout=_WAKE)
        finally:
            result.cancel()
        return result.result()

    def stop(self) -> None:
        """End the thread; what runs in it is cancelled."""
        if self._finalizer is not None:
            self._finalizer()
        self._loop = self._finalizer = None

    def _start(self) -> _Loop:
        loop = self._loop = _Loop()
        workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix=self._name)
        loop.set_default_executor(workers)
        threading.Thread(target=_serve, args=(loop, workers), name=self._name, daemon=True).start()
        # The thread must not hold on to this object, or neither would ever end.
        self._finalizer = weakref.finalize(self, loop.call_soon_threadsafe, loop.stop)
        self._finalizer.atexit = False
        return loop


def _serve(loop: _Loop, workers: ThreadPoolExecutor) -> None:
    asyncio.set_event_loop(loop)
    loop.thread_id = threading.get_ident()
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    finally:
        workers.shutdown(wait=False, cancel_futures=True)
        loop.close()
