"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


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
