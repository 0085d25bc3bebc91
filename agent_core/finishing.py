"""Carrying something through to its end although the caller is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SECONDS = 1.0


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """Await `work`, which a cancellation does not tear: it goes on, and for a second at most the caller waits for it.

    Raises:
        whatever `work` raises; what it raises after a cancellation is dropped.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # What is raised there must be fetched by somebody, or asyncio complains.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([task], timeout=_SECONDS)
        raise
