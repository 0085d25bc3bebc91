"""How work ends: carried through in spite of a cancellation, closed when it is left, cancelled by whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager
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


@asynccontextmanager
async def closing(stream: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Close a stream when it is left, ended or not: one that is only dropped goes on until it is garbage."""
    try:
        yield stream
    finally:
        await close(stream)


async def close(stream: AsyncIterator[Any]) -> None:
    """Close a generator; an iterator of somebody's own need not have anything to close."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()


def cancel_requests() -> int:
    """How often the running task has been asked to end.

    A `CancelledError` without a new request is a fault of what was awaited, such as a task of a tool's own that
    somebody has cancelled, and interrupts nothing.
    """
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
