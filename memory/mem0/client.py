"""`Mem0Client`: a mem0 client whose calls come one after the other, end in time, and hold nobody up."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

from memory.mem0.errors import explain
from memory.mem0.loop_thread import LoopThread
from memory.mem0.store_call import StoreCall, serving_store_call

ASYNC_METHODS = ("add", "search")
GRACE = 2.0
"""Seconds that a call goes on for after it was given up: what writes shall end, what hangs shall not stay."""


def require_async(client: object) -> None:
    """Check that a client is one of mem0's asynchronous ones.

    Raises:
        TypeError: it is not.
    """
    for name in ASYNC_METHODS:
        # mem0 wraps the methods of its hosted client; what is wrapped decides.
        if not inspect.iscoroutinefunction(inspect.unwrap(getattr(client, name, None) or _absent)):
            raise TypeError(
                f"an asynchronous mem0 client is needed (mem0.AsyncMemory or mem0.AsyncMemoryClient),"
                f" and {name} of {type(client).__name__} is not asynchronous"
            )


class Request(NamedTuple):
    """One call of a method.

    Args:
        method: its name.
        doing: what it does, for the error: `search the memories`.
        arguments: its arguments.
        options: its arguments by name.
        reads: it changes nothing.
    """

    method: str
    doing: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}
    reads: bool = False


class Mem0Client:
    """Calls a client's methods by name.

    A client runs on a loop in a thread of its own, for its coroutines may block; one with an HTTP connection pool runs
    on the caller's loop, which its owner's own calls use too. A call that is given up, or takes too long, is no longer
    waited for; it keeps its turn until it is over, or has been cancelled after a little while.

    Args:
        client: mem0's.
        reads_in_turn: whether reading waits for writing; a store that can be read while it is written needs that not.
    """

    def __init__(self, client: Any, *, reads_in_turn: bool = True, thread: LoopThread | None = None) -> None:
        self.client = client
        self.is_hosted = hasattr(client, "async_client")
        self._reads_in_turn = reads_in_turn
        self._thread = None if self.is_hosted else thread or LoopThread("mem0")
        self._turn = asyncio.Lock()
        self._running: set[asyncio.Task[Any]] = set()

    async def call(self, request: Request, call: StoreCall, seconds: float) -> Any:
        """What a method gives, awaited as often as needed.

        Args:
            request: the method and its arguments.
            call: what the adapters may use meanwhile; it is over when this returns.
            seconds: how long it may take, waiting for its turn included.

        Raises:
            MnemoscopeError: it failed, or took too long.
        """
        method: Callable[..., Any] = getattr(self.client, request.method)
        in_turn = not self.is_hosted and (self._reads_in_turn or not request.reads)

        async def work() -> Any:
            async with AsyncExitStack() as stack:
                if in_turn:
                    await stack.enter_async_context(self._turn)
                return await _resolved(method(*request.arguments, **request.options))

        try:
            with serving_store_call(call):
                async with asyncio.timeout(seconds) as limit:
                    return await self._run(work)
        except TimeoutError as error:
            raise explain(TimeoutError(f"{seconds:g} s") if limit.expired() else error, request.doing) from None
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            # A client that gives up by itself must not look like somebody who interrupts the reply.
            raise explain(error, request.doing) from error
        except Exception as error:
            raise explain(call.problem or error, request.doing) from error

    async def run(self, function: Callable[[], Any]) -> Any:
        """Run blocking work where the client runs, beside the caller's loop."""
        return (
            await asyncio.to_thread(function) if self._thread is None else await self._thread.run(_threaded(function))
        )

    async def give_up(self) -> None:
        """Cancel the calls that are still at work although nobody waits for them."""

        async def cancel() -> None:
            for task in (running := set(self._running)):
                task.cancel()
            if running:
                await asyncio.wait(running, timeout=GRACE)

        if self._thread is not None and self._running:
            await self._thread.run(cancel())

    def stop(self) -> None:
        """End the thread, if there is one. The client itself is its owner's to close."""
        if self._thread is not None:
            self._thread.stop()
            # The lock belongs to the loop that has ended.
            self._turn = asyncio.Lock()

    async def _run(self, work: Callable[[], Awaitable[Any]]) -> Any:
        if self._thread is None:
            return await work()
        return await self._thread.run(self._to_the_end(work))

    async def _to_the_end(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """On the client's loop: work that goes on a little when nobody waits any longer, not to be cut in half."""
        task = asyncio.ensure_future(work())
        self._running.add(task)
        task.add_done_callback(self._forget)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GRACE, task.cancel)
            raise

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # Looked at, so that asyncio does not report it as forgotten.


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _resolved(result: Any) -> Any:
    while inspect.isawaitable(result):
        result = await result
    return result


async def _threaded(function: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(function)


def _absent() -> None:
    """Stands for a method that a client does not have."""
