"""A process of its own that uses a store: `python -m tests.memory.working.other_process URL USER SESSION COMMAND …`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.message import UserMsg
from memory.working.open import open_memory
from memory.working.stored_memory import StoredMemory


@asynccontextmanager
async def other_process(url: str, user: str, session: str, *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run one; it is ready when this is entered, and ended when it is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, url, user, session, *command, stdin=-1, stdout=-1
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def finish(process: asyncio.subprocess.Process) -> str:
    """Let it do its work; what it says."""
    said, _ = await process.communicate(b"go\n")
    assert process.returncode == 0
    return said.decode()


def _go() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


async def _add(memory: StoredMemory, name: str, count: int) -> None:
    """Add messages of its own one by one, and between them some that every process adds."""
    _go()
    for number in range(count):
        await memory.add(UserMsg(name, str(number), id=f"{name} {number}"), marks=name)
        await memory.add(UserMsg("all", str(number), id=f"all {number}"), marks="all")


async def _say(memory: StoredMemory) -> None:
    messages = await memory.get_memory()
    _go()
    print(*(msg.content for msg in messages), sep="|")


async def _change(memory: StoredMemory) -> None:
    _go()
    await memory.add(UserMsg("other", "hello", id="hello"), marks=["a", "b"])
    await memory.update_compressed_summary("from there")


async def _write_until_killed(memory: StoredMemory) -> None:
    _go()
    for number in range(1_000_000):
        await memory.add([UserMsg("u", f"{number} {part}") for part in range(3)], marks=["x", "y"])
        await memory.update_messages_mark("z", old_mark="y")
        print(number, flush=True)


async def _main(url: str, user: str, session: str, command: str, *rest: str) -> None:
    async with open_memory(url, session, user) as memory:
        if command == "add":
            await _add(memory, rest[0], int(rest[1]))
        else:
            commands = {"say": _say, "change": _change, "write_until_killed": _write_until_killed}
            await commands[command](memory)


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
