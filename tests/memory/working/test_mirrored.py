"""A store that fails and comes back, behind a chat that goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.change import MemoryChange, MemoryState, Snapshot
from agent_core.message import UserMsg
from memory import MemoryBase
from memory.working.mirrored import MirroredMemory
from memory.working.open import open_memory
from tests.databases import RedisServer

ONE, TWO, THREE, FOUR = (UserMsg("u", text, id=text) for text in "1234")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A redis-server that the test may stop and start."""
    server = RedisServer()
    server.start()
    yield server
    server.remove()


async def shown(memory: MemoryBase) -> str:
    return " ".join(f"{msg.content}{''.join(marks)}" for msg, marks in await memory.entries())


async def test_what_is_said_while_the_store_is_gone_is_written_when_it_is_back(server: RedisServer) -> None:
    troubles: list[str] = []
    memory = MirroredMemory(open_memory(server.url), troubles.append)
    await memory.refresh()
    await memory.add([ONE, TWO], marks="a")
    server.stop()
    await memory.add(THREE)
    await memory.update_messages_mark("b", old_mark="a", msg_ids=["1"])
    assert await memory.delete(["2"]) == 1
    await memory.update_compressed_summary("S")
    assert await shown(memory) == "1b 3"
    assert (memory.waiting, len(troubles)) == (4, 1)
    assert not await memory.refresh()
    server.start()
    await memory.refresh()
    assert (memory.waiting, troubles[-1], memory.trouble) == (0, "", "")
    other = open_memory(server.url)
    assert await shown(other) == await shown(memory) == "1b 3"
    assert other._compressed_summary == memory._compressed_summary == "S"
    await other.aclose()
    await memory.aclose()


async def test_a_store_that_is_out_of_reach_from_the_start_comes_in_later(server: RedisServer) -> None:
    earlier = open_memory(server.url)
    await earlier.add(ONE)
    await earlier.aclose()
    server.stop()
    memory = MirroredMemory(open_memory(server.url))
    await memory.refresh()
    await memory.add(TWO, marks="said meanwhile")
    assert memory.trouble
    assert await shown(memory) == "2said meanwhile"
    server.start()
    assert await memory.refresh()
    assert await shown(memory) == "1 2said meanwhile"
    await memory.aclose()


async def test_a_folder_that_appears_later_is_a_store_from_then_on(tmp_path: Path) -> None:
    memory = MirroredMemory(open_memory(f"sqlite:///{tmp_path}/later/memory.db"))
    await memory.refresh()
    await memory.add(ONE)
    assert memory.waiting == 1
    (tmp_path / "later").mkdir()
    await memory.add(TWO)
    assert memory.waiting == 0
    await memory.aclose()


async def test_what_another_process_writes_comes_in_as_a_snapshot(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    mine, theirs = MirroredMemory(open_memory(url)), MirroredMemory(open_memory(url))
    changes: list[MemoryChange] = []
    mine.subscribe(changes.append)
    await mine.refresh()
    await theirs.refresh()
    await mine.add(ONE)
    await theirs.refresh()
    await theirs.update_messages_mark("seen", msg_ids=["1"])
    await theirs.add(TWO)
    assert await mine.refresh()
    assert not await mine.refresh()
    assert await shown(mine) == "1seen 2"
    assert isinstance(changes[-1], Snapshot)
    await mine.add(THREE)
    await theirs.add(FOUR)
    await mine.refresh()
    await theirs.refresh()
    assert await shown(mine) == await shown(theirs) == "1seen 2 3 4"
    folded = MemoryState()
    for change in changes:
        folded.apply(change)
    assert folded.entries == await mine.entries()
    await mine.aclose()
    await theirs.aclose()


async def test_what_the_copy_refuses_never_reaches_the_store(tmp_path: Path) -> None:
    memory = MirroredMemory(open_memory(f"sqlite:///{tmp_path}/memory.db"))
    with pytest.raises(TypeError):
        await memory.add("text")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty"):
        await memory.add(ONE, marks="")
    assert (memory.waiting, await memory.size()) == (0, 0)
    await memory.aclose()
