"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
THREAD_NAME = "elsewhere"
"""Of the threads that nobody need wait for."""


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `function` in a thread and return what it returns.

    A thread cannot be stopped, so a caller who is cancelled goes on only when the work is over: no lock is let go of
    while a thread still writes, and nothing is written after the fact.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return work.result()
    if not work.cancelled():
        work.exception()  # Looked at, so that asyncio does not report it as forgotten.
    raise cancelled


def in_daemon_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[R]:
    """Start `function` in a thread of its own, for which not even the end of the program waits."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[R] = loop.create_future()
    # What nobody waits for any more may fail: asyncio need not report it as forgotten.
    done.add_done_callback(lambda done: done.cancelled() or done.exception())
    context = contextvars.copy_context()

    def tell(result: R | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: R | None = None
        failure: BaseException | None = None
        try:
            result = context.run(function, *args, **kwargs)
        except BaseException as error:
            failure = error
        # The loop may have come to its end meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=run, name=THREAD_NAME, daemon=True).start()
    return done
