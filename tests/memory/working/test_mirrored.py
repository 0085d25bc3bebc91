"""A store that fails and comes back, behind a chat that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent_core.change import MemoryChange, MemoryState, Snapshot, StoredEntry
from agent_core.errors import StorageError
from agent_core.marks import Entry
from agent_core.message import UserMsg
from memory import InMemoryMemory, MemoryBase, SQLAlchemyMemory
from memory.working.mirrored import MirroredMemory
from memory.working.open import open_memory
from memory.working.stored_memory import StoredMemory
from memory.working.undo import UndoHistory
from tests.databases import RedisServer
from tests.locked_file import locked

ONE, TWO, THREE, FOUR = (UserMsg("u", text, id=text) for text in "1234")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A redis-server that the test may stop and start."""
    with RedisServer() as server:
        yield server


def impatient_engine(file: Path) -> AsyncEngine:
    """One that waits for a lock for a fifth of a second."""
    return create_async_engine(f"sqlite+aiosqlite:///{file}", connect_args={"timeout": 0.2})


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
    assert memory.waiting == 2
    await memory.refresh()
    assert memory.waiting == 0
    await memory.aclose()


async def test_a_few_changes_of_another_process_come_in_as_they_are(tmp_path: Path) -> None:
    """A snapshot of everything would stand in the session file each time another program adds one message."""
    url = f"sqlite:///{tmp_path}/memory.db"
    mine, theirs = MirroredMemory(open_memory(url)), MirroredMemory(open_memory(url))
    await mine.add([UserMsg("u", str(number), id=f"m{number}") for number in range(20)], marks="a")
    await theirs.refresh()
    changes: list[MemoryChange] = []
    folded = MemoryState(await mine.entries())
    mine.subscribe(changes.append)
    # Ours stands behind theirs in the store, which got it later.
    await theirs.add(ONE, marks="b")
    await mine.add(TWO)
    await theirs.delete(["m3", "m7"])
    await theirs.update_messages_mark("c", old_mark="a", msg_ids=["m1"])
    await theirs.update_compressed_summary("S")
    assert await mine.refresh()
    assert not await mine.refresh()
    assert not any(isinstance(change, Snapshot) for change in changes)
    assert await mine.entries() == await theirs.entries()
    for change in changes:
        folded.apply(change)
    assert (folded.entries, folded.summary) == (await mine.entries(), "S")
    assert (await shown(mine)).endswith("19a 1b 2")
    await mine.aclose()
    await theirs.aclose()


async def test_what_others_did_while_a_step_was_recorded_is_not_undone_with_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    mine, theirs = MirroredMemory(open_memory(url)), MirroredMemory(open_memory(url))
    await mine.add([UserMsg("u", str(number), id=f"m{number}") for number in range(20)])
    await theirs.refresh()
    history = UndoHistory(mine)
    await theirs.delete(["m3"])
    await theirs.update_compressed_summary("theirs")
    async with history.recording("mark m1"):
        await mine.update_messages_mark("a", msg_ids=["m1"])
    assert "3" not in (await shown(mine)).split()
    await history.undo()
    assert await shown(mine) == " ".join(str(number) for number in range(20) if number != 3)
    assert mine._compressed_summary == "theirs"
    await mine.aclose()
    await theirs.aclose()


async def test_another_process_that_writes_most_of_it_comes_in_as_a_snapshot(tmp_path: Path) -> None:
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


async def test_a_store_that_is_new_takes_over_what_the_copy_begins_with(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    memory = MirroredMemory(open_memory(url), entries=[Entry(ONE, ("a",)), Entry(TWO, ())], summary="S")
    assert not await memory.refresh()
    await memory.add(THREE)
    async with open_memory(url) as other:
        assert await shown(other) == await shown(memory) == "1a 2 3"
        assert other._compressed_summary == "S"
    await memory.aclose()


async def test_a_server_that_comes_back_empty_gets_the_conversation_again(server: RedisServer) -> None:
    memory = MirroredMemory(open_memory(server.url))
    await memory.refresh()
    await memory.add([ONE, TWO], marks="a")
    server.stop()
    await memory.add(THREE)
    server.forget()
    server.start()
    await memory.refresh()
    async with open_memory(server.url) as other:
        assert await shown(other) == await shown(memory) == "1a 2a 3"
    await memory.aclose()


async def test_what_a_store_holds_counts_for_more_than_what_the_copy_begins_with(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with open_memory(url) as other:
        await other.add([TWO, THREE])
    memory = MirroredMemory(open_memory(url), entries=[Entry(ONE, ()), Entry(TWO, ())])
    changes: list[MemoryChange] = []
    memory.subscribe(changes.append)
    assert await memory.refresh()
    assert await shown(memory) == "2 3"
    assert [type(change) for change in changes] == [Snapshot]
    await memory.aclose()


async def test_changes_that_an_earlier_run_could_not_write_are_written_first(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with open_memory(url) as other:
        await other.add([ONE, TWO])
    copy = InMemoryMemory()
    await copy.add([ONE, TWO])
    changes: list[MemoryChange] = []
    copy.subscribe(changes.append)
    await copy.add(THREE, marks="late")
    await copy.update_messages_mark("a", msg_ids=["1"])
    await copy.delete(["2"])
    await copy.restore([StoredEntry(0, FOUR)])
    await copy.update_compressed_summary("S")
    memory = MirroredMemory(open_memory(url), entries=await copy.entries(), summary="S", unwritten=changes)
    assert memory.waiting == 5
    await memory.refresh()
    async with open_memory(url) as other:
        assert await shown(other) == await shown(memory) == "4 1a 3late"
        assert other._compressed_summary == "S"
    await memory.aclose()


async def test_nobody_waits_for_a_store_that_is_known_to_fail(tmp_path: Path) -> None:
    """P06: the first write waits for the lock; those after it are made when it is gone."""
    file = tmp_path / "memory.db"
    engine = impatient_engine(file)
    memory = MirroredMemory(SQLAlchemyMemory(engine))
    await memory.refresh()
    await memory.add(ONE)
    with locked(file):
        await memory.add(TWO)
        assert "is locked by another program" in memory.trouble
        refreshing = asyncio.create_task(memory.refresh())
        await asyncio.sleep(0)
        await memory.add(THREE)
        assert not refreshing.done()
        await refreshing
    await memory.refresh()
    assert (memory.waiting, memory.trouble, await shown(memory)) == (0, "", "1 2 3")
    await memory.aclose()
    await engine.dispose()


async def test_what_is_said_while_the_store_is_being_read_is_not_lost(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with open_memory(url) as other:
        await other.add(ONE)
    memory = MirroredMemory(open_memory(url))
    await asyncio.gather(memory.refresh(), memory.add(TWO), memory.add(THREE))
    assert sorted((await shown(memory)).split()) == ["1", "2", "3"]
    async with open_memory(url) as other:
        assert await shown(other) == await shown(memory)
    await memory.aclose()


async def test_a_store_is_opened_when_it_is_first_needed_and_not_used_after_closing(tmp_path: Path) -> None:
    opened: list[StoredMemory] = []

    def make() -> StoredMemory:
        opened.append(open_memory(f"sqlite:///{tmp_path}/memory.db"))
        return opened[-1]

    memory = MirroredMemory(make)
    assert not opened
    await memory.refresh()
    await memory.add(ONE)
    await memory.aclose()
    await memory.add(TWO)
    assert not await memory.refresh()
    assert (len(opened), await shown(memory)) == (1, "1 2")


async def test_a_message_that_no_store_takes_is_refused_and_does_not_stand_in_the_way(tmp_path: Path) -> None:
    memory = MirroredMemory(open_memory(f"sqlite:///{tmp_path}/memory.db"))
    await memory.refresh()
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        await memory.add(UserMsg("u", "odd", metadata={"what": 10**5000}, id="odd"))
    await memory.add(ONE)
    assert (memory.waiting, await shown(memory)) == (0, "1")
    await memory.aclose()


async def test_writes_that_wait_do_not_see_what_the_caller_does_with_his_lists(tmp_path: Path) -> None:
    file, away = tmp_path / "memory.db", tmp_path / "away.db"
    memory = MirroredMemory(open_memory(f"sqlite:///{file}"))
    await memory.refresh()
    await memory.add([ONE, TWO, THREE], marks="a")
    file.rename(away)
    messages, marks, ids, table, gone = [FOUR], ["b"], ["1"], {"2": ["c"]}, ["3"]
    await memory.add(messages, marks)
    await memory.update_messages_mark("k", msg_ids=ids)
    await memory.set_marks(table)
    await memory.delete(gone)
    await memory.delete_by_mark(unknown := ["unknown"])
    messages.clear()
    marks.append("later")
    ids.append("4")
    table["2"].append("later")
    table["1"] = []
    gone.append("1")
    unknown.append("a")
    assert await shown(memory) == "1ak 2c 4b"
    away.rename(file)
    await memory.refresh()
    assert (memory.waiting, await shown(memory)) == (0, "1ak 2c 4b")
    await memory.aclose()


@pytest.mark.parametrize("is_new", [True, False], ids=["a new store", "a store in step"])
async def test_a_write_whose_caller_is_cancelled_after_the_commit_is_made_once(is_new: bool, tmp_path: Path) -> None:
    """Repeated, an addition of a message that is there already would store it once more."""
    store = open_memory(f"sqlite:///{tmp_path}/memory.db")
    memory = MirroredMemory(store)
    if not is_new:
        await memory.add(ONE)
    write = asyncio.create_task(memory.add([ONE, ONE], marks="a", allow_duplicates=True))
    stop = store.subscribe(lambda _: write.cancel() and None)
    with pytest.raises(asyncio.CancelledError):
        await write
    stop()
    assert memory.waiting == 0
    await memory.refresh()
    assert await shown(store) == await shown(memory) == ("1a 1a" if is_new else "1 1a 1a")
    await memory.aclose()


class LosesAnAnswer(SQLAlchemyMemory):
    """A store whose connection breaks once, right after it has taken what it was to begin with."""

    has_lost = False

    async def begin_with(self, entries: Sequence[Entry], summary: str = "") -> bool:
        answer = await super().begin_with(entries, summary)
        if answer and not self.has_lost:
            self.has_lost = True
            raise StorageError("the connection is lost")
        return answer


async def test_a_new_store_whose_answer_was_lost_is_not_given_the_same_changes_again(tmp_path: Path) -> None:
    store = LosesAnAnswer.from_url(f"sqlite:///{tmp_path}/memory.db")
    is_reached: list[bool] = []

    def reach() -> StoredMemory:
        if not is_reached:
            raise StorageError("out of reach")
        return store

    memory = MirroredMemory(reach)
    # Made once more on top of what they led to, these would mark 1 and store 2 once more.
    await memory.set_marks({"1": ["a"]})
    await memory.add(ONE)
    await memory.add([TWO, TWO], allow_duplicates=True)
    is_reached.append(True)
    await memory.refresh()
    assert memory.trouble == "the connection is lost"
    await memory.add(THREE)
    await memory.refresh()
    assert await shown(memory) == await shown(store) == "1 2 2 3"
    assert memory.waiting == 0
    await memory.aclose()
