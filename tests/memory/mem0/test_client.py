from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

import pytest

from agent_core.errors import MnemoscopeError, StorageError
from memory.mem0.client import Mem0Client, Request, require_async
from memory.mem0.loop_thread import LoopThread
from memory.mem0.store_call import StoreCall, current_store_call
from tests.cancelling import cancel

SEARCH = Request("search", "search the memories", ("question",), reads=True)
ADD = Request("add", "store memories", ([],))


class Fake:
    """A client that does what the test wants."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self.running = 0
        self.most = 0

    async def search(self, question: str) -> Any:
        return await self._do()

    async def add(self, messages: list[Any]) -> Any:
        return await self._do()

    async def _do(self) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            result = self._work()
            return await result if asyncio.iscoroutine(result) else result
        finally:
            self.running -= 1


def call() -> StoreCall:
    return StoreCall(asyncio.get_running_loop())


async def make(client: Mem0Client, request: Request = SEARCH, seconds: float = 60.0) -> Any:
    return await client.call(request, call(), seconds)


async def test_a_client_that_blocks_holds_nobody_up() -> None:
    """D06: an asynchronous search that sleeps without awaiting."""
    client = Mem0Client(Fake(lambda: time.sleep(0.5) or "found"))
    gaps: list[float] = []
    searching = asyncio.create_task(make(client))
    last = time.perf_counter()
    while not searching.done():
        await asyncio.sleep(0.005)
        gaps.append(time.perf_counter() - last)
        last = time.perf_counter()
    assert await searching == "found"
    # Had it blocked, there would have been one gap.
    assert len(gaps) > 5
    client.stop()


async def test_what_is_awaitable_is_awaited_however_deep() -> None:
    """D06: a method that gives a coroutine back instead of its result."""

    async def inner() -> str:
        return "found"

    async def outer() -> Any:
        return inner()

    client = Mem0Client(Fake(outer))
    assert await make(client) == "found"
    client.stop()


async def test_calls_come_one_after_the_other() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    fake = Fake(work)
    client = Mem0Client(fake)
    await asyncio.gather(*(make(client, request) for request in (ADD, SEARCH) for _ in range(20)))
    assert fake.most == 1
    client.stop()


async def test_reading_waits_for_writing_only_where_it_must() -> None:
    gate = asyncio.Event()

    class Slow(Fake):
        async def add(self, messages: list[Any]) -> Any:
            await gate.wait()

    client = Mem0Client(Slow(lambda: "found"), reads_in_turn=False)
    adding = asyncio.create_task(make(client, ADD))
    assert await make(client) == "found"
    assert not adding.done()
    gate.set()
    await adding
    client.stop()


async def test_a_call_that_takes_too_long_is_an_error_that_says_so() -> None:
    client = Mem0Client(Fake(lambda: asyncio.Event().wait()))
    with pytest.raises(StorageError, match=r"took too long to search the memories: 0\.01 s"):
        await make(client, seconds=0.01)
    client.stop()


async def test_a_call_that_is_given_up_keeps_its_turn_until_it_is_over() -> None:
    gate = asyncio.Event()
    begun = threading.Event()
    order: list[str] = []

    async def work() -> None:
        begun.set()
        await gate.wait()
        order.append("first")

    fake = Fake(work)
    client = Mem0Client(fake)
    first = asyncio.create_task(make(client, ADD))
    await asyncio.to_thread(begun.wait)
    await cancel(first)
    second = asyncio.create_task(make(client, ADD))
    gate.set()
    await second
    assert order == ["first", "first"]
    assert fake.most == 1
    client.stop()


async def test_a_client_that_gives_up_by_itself_fails_and_cancels_nobody() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    async def be_slow() -> None:
        raise TimeoutError("the server is silent")

    for hosted in (False, True):
        for work, words in ((give_up, "gave up"), (be_slow, "took too long to search the memories: the server")):
            fake = Fake(work)
            if hosted:
                fake.async_client = None  # type: ignore[attr-defined]
            client = Mem0Client(fake)
            with pytest.raises(StorageError, match=words):
                await make(client)
            client.stop()


async def test_an_error_is_one_of_ours_with_its_cause() -> None:
    def fail() -> None:
        raise RuntimeError("Storage folder /x/y is already accessed by another instance of Qdrant client.")

    client = Mem0Client(Fake(fail))
    with pytest.raises(StorageError, match=r"holds /x/y") as caught:
        await make(client)
    assert isinstance(caught.value.__cause__, RuntimeError)
    client.stop()


async def test_an_error_of_ours_comes_through_whatever_is_wrapped_around_it() -> None:
    class Ours(MnemoscopeError):
        pass

    def fail() -> None:
        try:
            raise Ours("the real reason")
        except Ours as error:
            raise ValueError("wrapped") from error

    client = Mem0Client(Fake(fail))
    with pytest.raises(Ours, match="the real reason"):
        await make(client)
    client.stop()


async def test_a_client_with_a_connection_pool_stays_on_its_owners_loop() -> None:
    class Hosted(Fake):
        async_client = object()

    loops: list[Any] = []
    client = Mem0Client(Hosted(lambda: loops.append(asyncio.get_running_loop())))
    await make(client)
    assert loops == [asyncio.get_running_loop()]
    assert client.is_hosted


async def test_the_call_is_known_where_it_is_served_and_nowhere_else() -> None:
    served: list[StoreCall] = []
    client = Mem0Client(Fake(lambda: served.append(current_store_call())))
    mine = call()
    await client.call(SEARCH, mine, 60.0)
    assert served == [mine]
    with pytest.raises(StorageError, match="only be used through it"):
        current_store_call()
    client.stop()


async def test_calls_that_nobody_waits_for_can_be_given_up_before_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.mem0.client.GRACE", 3600.0)
    begun = threading.Event()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(3600)

    fake = Fake(work)
    client = Mem0Client(fake)
    searching = asyncio.create_task(make(client))
    await asyncio.to_thread(begun.wait)
    await cancel(searching)
    assert fake.running == 1
    await client.give_up()
    assert fake.running == 0
    client.stop()


async def test_a_stopped_client_can_be_used_again() -> None:
    client = Mem0Client(Fake(lambda: "found"))
    for _ in range(2):
        assert await asyncio.gather(make(client), make(client, ADD)) == ["found", "found"]
        client.stop()


# --- What is asynchronous


def decorated(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Awaitable[Any]:
        return method(*args, **kwargs)

    return wrapper


class Wrapped:
    """As mem0's hosted client used to be: plain functions around asynchronous ones."""

    @decorated
    async def add(self) -> None: ...

    @decorated
    async def search(self) -> None: ...


class Synchronous:
    def add(self) -> None: ...

    def search(self) -> None: ...


class Half(Synchronous):
    async def search(self) -> None: ...


def test_asynchronous_clients_are_told_from_others() -> None:
    from mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient

    for client in (Fake(lambda: None), Wrapped(), object.__new__(AsyncMemory), object.__new__(AsyncMemoryClient)):
        require_async(client)
    for client in (Synchronous(), Half(), object.__new__(Memory), object.__new__(MemoryClient), object(), "text"):
        with pytest.raises(TypeError, match=type(client).__name__):
            require_async(client)


# --- The thread


async def test_a_threads_coroutines_see_the_callers_context() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="")
    thread = LoopThread("test")
    variable.set("here")

    async def look() -> str:
        return variable.get() + await asyncio.to_thread(variable.get)

    assert await thread.run(look()) == "herehere"
    thread.stop()


async def test_a_thread_ends_with_what_it_belongs_to() -> None:
    thread = LoopThread("short-lived")

    async def name() -> threading.Thread:
        return threading.current_thread()

    served_by = await thread.run(name())
    del thread
    await asyncio.to_thread(served_by.join)
    assert not served_by.is_alive()


async def test_futures_of_a_thread_may_be_completed_by_its_owner() -> None:
    thread = LoopThread("test")
    gate = asyncio.Event()
    begun = threading.Event()

    async def wait() -> str:
        begun.set()
        await gate.wait()
        return "through"

    waiting = asyncio.create_task(thread.run(wait()))
    await asyncio.to_thread(begun.wait)
    gate.set()
    assert await waiting == "through"
    thread.stop()


async def test_events_of_the_owner_may_be_set_in_a_thread() -> None:
    thread = LoopThread("test")
    begun, gate = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        await gate.wait()
        return "done"

    working = asyncio.create_task(thread.run(work()))
    for _ in range(50):
        await begun.wait()
        gate.set()
    assert await working == "done"
    thread.stop()


async def test_cancelling_the_wait_cancels_the_work() -> None:
    thread = LoopThread("test")
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(thread.run(wait()))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    assert await asyncio.to_thread(ended.wait, 30)
    thread.stop()


# --- Coming back from mem0's threads


async def test_a_thread_of_mem0_comes_back_to_the_callers_loop() -> None:
    async def where() -> Any:
        return asyncio.get_running_loop()

    assert await asyncio.to_thread(call().ask, where()) is asyncio.get_running_loop()


async def test_a_thread_that_waits_for_a_call_that_is_over_is_let_go() -> None:
    mine = call()
    begun = asyncio.Event()

    async def never() -> None:
        begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(asyncio.to_thread(mine.ask, never()))
    await begun.wait()
    mine.end()
    with pytest.raises(BaseException) as caught:
        await waiting
    assert type(caught.value).__name__ == "CancelledError"
    with pytest.raises(StorageError, match="has ended"):
        await asyncio.to_thread(mine.ask, never())


def test_a_loop_that_has_ended_is_not_waited_for() -> None:
    async def make_call() -> StoreCall:
        return call()

    async def never() -> None: ...

    with pytest.raises(StorageError, match="has ended"):
        asyncio.run(make_call()).ask(never())
