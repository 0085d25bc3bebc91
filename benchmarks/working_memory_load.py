"""The work that `benchmarks.working_memory` measures, done by one side: `working_memory_load.py SIDE PART ADDRESS`.

Runs under the Python of either side and imports nothing else of this project where that is AgentScope's. Prints JSON:
what was done -> seconds (bytes for memory).
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

TEXT = "A message of some length, as people write them to an assistant in the middle of their work. " * 3
IN_MEMORY = 50_000
STORED = 5_000
ONE_BY_ONE = 300


class Side:
    """Makes messages and memories of one library, which both have the same methods."""

    def __init__(self, name: str) -> None:
        self.is_ours = name == "mnemoscope"

    def message(self) -> Any:
        if self.is_ours:
            from agent_core.message import UserMsg

            return UserMsg("user", TEXT)
        from agentscope.message import Msg

        return Msg("user", TEXT, "user")

    def messages(self, count: int) -> list[Any]:
        return [self.message() for _ in range(count)]

    def in_memory(self) -> Any:
        if self.is_ours:
            from memory import InMemoryMemory
        else:
            from agentscope.memory import InMemoryMemory
        return InMemoryMemory()

    def sqlite(self, file: str, session: str) -> Any:
        """Both flush every commit to the disk."""
        if self.is_ours:
            from memory import SQLAlchemyMemory

            return SQLAlchemyMemory.from_url(f"sqlite:///{file}", session)
        from agentscope.memory import AsyncSQLAlchemyMemory
        from sqlalchemy.ext.asyncio import create_async_engine

        return AsyncSQLAlchemyMemory(create_async_engine(f"sqlite+aiosqlite:///{file}"), session_id=session)

    def redis(self, port: str, session: str) -> Any:
        if self.is_ours:
            from memory import RedisMemory
        else:
            from agentscope.memory import RedisMemory
        return RedisMemory(f"{session} {self.is_ours}", host="127.0.0.1", port=int(port))

    async def close(self, memory: Any) -> None:
        await (memory.aclose() if self.is_ours else memory.close())


Clock = Callable[[], float]


async def best(work: Callable[[int], Awaitable[object]], clock: Clock = perf_counter, times: int = 7) -> float:
    """The shortest of several times, which others on the machine have disturbed least; fewer where one takes long."""
    seconds: list[float] = []
    while len(seconds) < times and sum(seconds) < 10:
        started = clock()
        await work(len(seconds))
        seconds.append(clock() - started)
    return min(seconds)


async def add_each(memory: Any, messages: list[Any], clock: Clock = perf_counter) -> list[float]:
    """Add one by one; the seconds of each."""
    seconds = []
    for message in messages:
        started = clock()
        await memory.add(message)
        seconds.append(clock() - started)
    return seconds


async def add_thousands(memory: Any, thousands: list[list[Any]]) -> dict[str, float]:
    """Add a thousand in one call, several times; the shortest on the clock and of the processor."""
    seconds, processor = [], []
    for messages in thousands:
        started, used = perf_counter(), process_time()
        await memory.add(messages)
        seconds.append(perf_counter() - started)
        processor.append(process_time() - used)
    return {"add 1,000 at once": min(seconds), "  processor time": min(processor)}


async def mark_and_delete(memory: Any, ids: list[str], clock: Clock = perf_counter) -> dict[str, float]:
    """Every time with another mark, and with other messages."""
    half, few = ids[::2], ids[:10]
    return {
        "mark half of them, by id": await best(lambda n: memory.update_messages_mark(f"half{n}", msg_ids=half), clock),
        "mark 10 of them, by id": await best(lambda n: memory.update_messages_mark(f"few{n}", msg_ids=few), clock),
        "delete 500 by id": await best(lambda n: memory.delete(ids[-500 * (n + 1) :][:500]), clock, 4),
    }


async def read(memory: Any, clock: Clock = perf_counter) -> dict[str, float]:
    """After `mark_and_delete`."""
    return {
        "read all": await best(lambda _: memory.get_memory(), clock),
        "read by mark, half of them found": await best(lambda _: memory.get_memory(mark="half0"), clock),
        "read by mark, 10 found": await best(lambda _: memory.get_memory(mark="few0"), clock),
        "read all but a mark": await best(lambda _: memory.get_memory(exclude_mark="half0"), clock),
    }


async def in_memory(side: Side, _address: str) -> dict[str, float]:
    size = await bytes_a_message(side, 5_000)
    return {**await in_memory_times(side), "bytes a message, text left out": size}


async def in_memory_times(side: Side) -> dict[str, float]:
    """In processor time: nothing is waited for here."""
    memory, messages = side.in_memory(), side.messages(IN_MEMORY)
    adds = await add_each(memory, messages, process_time)
    return {
        f"{IN_MEMORY:,} adds one by one": sum(adds),
        "  each of the first thousand": median(adds[:1000]),
        "  each of the last thousand": median(adds[-1000:]),
        **await mark_and_delete(memory, [message.id for message in messages], process_time),
        **await read(memory, process_time),
    }


async def bytes_a_message(side: Side, count: int) -> float:
    """What a stored message and all that is kept of it cost, when the caller keeps none himself."""
    memory = side.in_memory()
    await memory.add(side.message())
    tracemalloc.start()
    for _ in range(count):
        await memory.add(side.message())
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / count


async def sqlite(side: Side, file: str) -> dict[str, float]:
    memory = side.sqlite(file, "one by one")
    await memory.add(side.message())
    adds = await add_each(memory, side.messages(ONE_BY_ONE))
    marked = await best(lambda _: memory.add(side.message(), marks="m"), times=100)
    await side.close(memory)
    memory = side.sqlite(file, "many")
    await memory.add(side.message())
    figures = {
        "add one by one, each": median(adds),
        "  with a mark": marked,
        **await add_thousands(memory, [side.messages(1000) for _ in range(STORED // 1000)]),
    }
    ids = [message.id for message in await memory.get_memory()]
    figures |= {**await mark_and_delete(memory, ids), **await read(memory)}
    await side.close(memory)
    return figures


async def redis(side: Side, port: str) -> dict[str, float]:
    memory = side.redis(port, "growing")
    await memory.add(side.message())
    figures = {"add to 100, each": await add_to(side, memory, 100)}
    figures["add to 5,000, each"] = await add_to(side, memory, STORED)
    ids = [message.id for message in await memory.get_memory()]
    figures |= {**await mark_and_delete(memory, ids), **await read(memory)}
    figures["add to 50,000, each"] = await add_to(side, memory, IN_MEMORY)
    await side.close(memory)
    return figures


async def add_to(side: Side, memory: Any, size: int) -> float:
    """Fill up to `size`; what one add costs then."""
    while (missing := size - await memory.size()) > 0:
        await memory.add(side.messages(min(missing, 5_000)))
    return median(await add_each(memory, side.messages(ONE_BY_ONE)))


if __name__ == "__main__":
    name, part, address = sys.argv[1:]
    parts = {"in_memory": in_memory, "sqlite": sqlite, "redis": redis}
    print(json.dumps(asyncio.run(parts[part](Side(name), address))))
