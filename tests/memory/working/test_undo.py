from __future__ import annotations

import pytest

from agent_core.errors import MnemoscopeError
from agent_core.message import UserMsg
from memory import InMemoryMemory
from memory.working.undo import UndoHistory

ONE, TWO, THREE, FOUR = (UserMsg("u", text, id=text) for text in "1234")


def shown(memory: InMemoryMemory) -> str:
    return " ".join(f"{msg.content}{''.join(marks)}" for msg, marks in memory.content)


@pytest.fixture
async def memory() -> InMemoryMemory:
    memory = InMemoryMemory()
    await memory.add([ONE, TWO, THREE], marks="a")
    return memory


async def test_a_step_of_several_changes_is_undone_and_redone_as_one(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("rename a to b, delete 2"):
        await memory.update_messages_mark("b", old_mark="a")
        await memory.delete(["2"])
    assert shown(memory) == "1b 3b"
    assert await history.undo() == "rename a to b, delete 2"
    assert shown(memory) == "1a 2a 3a"
    assert await history.redo() == "rename a to b, delete 2"
    assert shown(memory) == "1b 3b"
    assert await history.redo() is None


async def test_what_others_did_meanwhile_stays(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("mark"):
        await memory.update_messages_mark("b", msg_ids=["1", "2"])
    await memory.add(FOUR, marks="z")
    await memory.update_messages_mark("other", msg_ids=["1"])
    await memory.delete(["2"])
    await history.undo()
    assert shown(memory) == "1aother 3a 4z"


async def test_deleted_messages_come_back_in_place_beside_newer_ones(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("delete"):
        await memory.delete_by_mark("a")
    await memory.add(FOUR)
    await history.undo()
    assert shown(memory) == "1a 2a 3a 4"


async def test_clearing_is_undone_with_its_summary(memory: InMemoryMemory) -> None:
    await memory.update_compressed_summary("S")
    history = UndoHistory(memory)
    async with history.recording("clear"):
        await memory.clear()
    await history.undo()
    assert shown(memory) == "1a 2a 3a"
    assert memory._compressed_summary == "S"
    await history.redo()
    assert shown(memory) == ""


async def test_a_new_step_forgets_what_was_undone_and_nothing_leaves_no_step(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory, limit=1)
    assert await history.undo() is None
    assert await history.redo() is None
    async with history.recording("nothing"):
        await memory.delete(["unknown"])
    assert await history.undo() is None
    for mark in "bc":
        async with history.recording(f"mark {mark}"):
            await memory.update_messages_mark(mark)
    assert await history.undo() == "mark c"
    async with history.recording("mark d"):
        await memory.update_messages_mark("d", msg_ids=["1"])
    assert await history.redo() is None
    assert await history.undo() == "mark d"
    assert await history.undo() is None


async def test_a_summary_that_was_made_anew_is_not_overwritten(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("mark"):
        await memory.update_messages_mark("b")
    async with history.recording("edit the summary"):
        await memory.update_compressed_summary("mine")
    await memory.update_compressed_summary("of more messages")
    with pytest.raises(MnemoscopeError, match="cannot be undone any more"):
        await history.undo()
    assert memory._compressed_summary == "of more messages"
    assert await history.undo() == "mark"


async def test_a_summary_that_was_made_anew_is_not_replaced_on_redo(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("edit the summary"):
        await memory.update_compressed_summary("mine")
    await history.undo()
    await memory.update_compressed_summary("of more messages")
    with pytest.raises(MnemoscopeError, match="cannot be done again any more"):
        await history.redo()
    assert await history.redo() is None


async def test_clearing_again_leaves_what_came_since(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("clear"):
        await memory.clear()
    await history.undo()
    await memory.add(FOUR)
    await history.redo()
    assert shown(memory) == "4"
    await history.undo()
    assert shown(memory) == "1a 2a 3a 4"


async def test_a_cleared_summary_comes_back_beside_a_newer_one(memory: InMemoryMemory) -> None:
    await memory.update_compressed_summary("old")
    history = UndoHistory(memory)
    async with history.recording("clear"):
        await memory.clear()
    await memory.update_compressed_summary("new")
    await history.undo()
    assert memory._compressed_summary == "old\n\nnew"


async def test_a_step_of_which_others_left_nothing_is_not_said_to_be_undone(memory: InMemoryMemory) -> None:
    history = UndoHistory(memory)
    async with history.recording("delete 3"):
        await memory.delete(["3"])
    async with history.recording("mark"):
        await memory.update_messages_mark("b", msg_ids=["1"])
    await memory.delete(["1"])
    with pytest.raises(MnemoscopeError, match=r"^Nothing is left of this that could be undone: mark\.$"):
        await history.undo()
    assert await history.redo() is None
    assert await history.undo() == "delete 3"
    await memory.delete(["3"])
    with pytest.raises(MnemoscopeError, match=r"could be done again: delete 3\.$"):
        await history.redo()
    assert await history.redo() is None
