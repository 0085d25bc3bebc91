from __future__ import annotations

import json
from typing import NoReturn

import pytest

from agent_core.change import Deleted, Inserted, MemoryChange, MemoryState, Snapshot
from agent_core.marks import Entry
from agent_core.message import Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from memory import InMemoryMemory

ONE, TWO, THREE = (UserMsg("u", text, id=text) for text in ("1", "2", "3"))


async def test_content_is_a_snapshot_of_pairs_with_lists_of_marks() -> None:
    memory = InMemoryMemory()
    await memory.add([ONE, TWO], marks=["a", "b"])
    content = memory.content
    assert content == [(ONE, ["a", "b"]), (TWO, ["a", "b"])]
    content[0][1].append("c")
    content.clear()
    assert memory.content == [(ONE, ["a", "b"]), (TWO, ["a", "b"])]


async def test_assigning_content_rebuilds_the_indexes_and_tells_it() -> None:
    memory = InMemoryMemory()
    await memory.add(ONE, marks="old")
    changes: list[MemoryChange] = []
    memory.subscribe(changes.append)
    memory.content = [(THREE, ["new", "new"]), (TWO, [])]
    assert await memory.get_memory(mark="new") == [THREE]
    assert await memory.get_memory(mark="old") == []
    assert await memory.delete(["3"]) == 1
    assert isinstance(changes[0], Snapshot)


@pytest.mark.parametrize("content", [[("x", [])], [(ONE, [1])], [(ONE, [""])], [5], [ONE], [(ONE,)]])
def test_assigning_nonsense_changes_nothing(content: object) -> None:
    memory = InMemoryMemory()
    memory.content = [(ONE, ["a"])]
    with pytest.raises((TypeError, ValueError)):
        memory.content = content  # type: ignore[assignment]
    assert memory.content == [(ONE, ["a"])]


async def test_state_round_trip_tells_one_snapshot() -> None:
    memory = InMemoryMemory()
    await memory.add([ONE, TWO], marks="a")
    await memory.update_compressed_summary("S")
    state = json.loads(json.dumps(memory.state_dict()))
    assert set(state) == {"_compressed_summary", "content"}
    again = InMemoryMemory()
    changes: list[MemoryChange] = []
    again.subscribe(changes.append)
    again.load_state_dict(state)
    assert again.content == memory.content
    assert again._compressed_summary == "S"
    assert len(changes) == 1
    folded = MemoryState()
    folded.apply(changes[0])
    assert folded.entries == await memory.entries()


async def test_a_state_file_of_agentscope_1_loads() -> None:
    state = {
        "content": [
            [
                {
                    "id": "m1",
                    "name": "user",
                    "role": "user",
                    "content": "天气？",
                    "metadata": {},
                    "timestamp": "2026-01-02 03:04:05.678",
                },
                ["hint"],
            ],
            {
                "id": "m2",
                "name": "bot",
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}],
                "metadata": {},
                "timestamp": "2026-01-02 03:04:06.000",
            },
            [
                {
                    "id": "m3",
                    "name": "system",
                    "role": "system",
                    "content": [{"type": "tool_result", "id": "c", "name": "look", "output": "sunny"}],
                    "metadata": {},
                    "timestamp": "2026-01-02 03:04:07.000",
                },
                [],
            ],
        ],
    }
    memory = InMemoryMemory()
    await memory.update_compressed_summary("of before")
    memory.load_state_dict(state)
    assert [(msg.id, marks) for msg, marks in memory.content] == [("m1", ["hint"]), ("m2", []), ("m3", [])]
    assert memory.content[1][0].content == [ToolCallBlock("c", "look", "{}")]
    assert memory.content[2][0].content == [ToolResultBlock("c", "look", "sunny")]
    assert memory._compressed_summary == ""


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({}, KeyError),
        ({"content": 5}, ValueError),
        ({"content": [["x", []]], "_compressed_summary": "new"}, ValueError),
        ({"content": [[ONE.to_dict(), [7]]], "_compressed_summary": "new"}, TypeError),
    ],
)
async def test_a_broken_state_changes_nothing(state: dict[str, object], error: type[Exception]) -> None:
    memory = InMemoryMemory()
    await memory.add(ONE, marks="a")
    await memory.update_compressed_summary("S")
    with pytest.raises(error):
        memory.load_state_dict(state)
    assert memory.content == [(ONE, ["a"])]
    assert memory._compressed_summary == "S"


async def test_deleted_messages_come_back_to_their_places() -> None:
    memory = InMemoryMemory()
    await memory.add([ONE, TWO, THREE], marks="a")
    changes: list[MemoryChange] = []
    memory.subscribe(changes.append)
    await memory.delete(["1", "3"])
    deleted = changes[0]
    assert isinstance(deleted, Deleted)
    await memory.restore(deleted.entries)
    assert memory.content == [(ONE, ["a"]), (TWO, ["a"]), (THREE, ["a"])]
    assert isinstance(changes[1], Inserted)
    assert await memory.get_memory(mark="a") == [ONE, TWO, THREE]


async def test_the_work_of_a_filter_and_of_an_add_does_not_grow_with_the_store() -> None:
    """An add costs the same at the hundred-thousandth message: nothing walks the list."""

    class Watched(dict[int, Entry]):
        def values(self) -> NoReturn:
            pytest.fail("everything was walked")

        items = __iter__ = values  # type: ignore[assignment]

    memory = InMemoryMemory()
    await memory.add([UserMsg("u", str(number), id=str(number)) for number in range(500)])
    memory._entries = Watched(memory._entries)
    await memory.add(UserMsg("u", "more"), marks="rare")
    await memory.update_messages_mark("rare", msg_ids=["7"])
    assert len(await memory.get_memory(mark="rare")) == 2


async def test_messages_of_every_kind_of_content_are_kept() -> None:
    memory = InMemoryMemory()
    await memory.add(Msg("a", [TextBlock("x")], "assistant"))
    assert memory.content[0][0].content == [TextBlock("x")]
