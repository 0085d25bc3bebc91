"""The contract of working memory, run against every back end."""

from __future__ import annotations

import asyncio
import json
from enum import Enum
from typing import Any

import pytest

from agent_core.change import Deleted, MemoryChange, MemoryState
from agent_core.marks import MemoryFilter, decide
from agent_core.message import AssistantMsg, TextBlock, ToolCallBlock, UserMsg
from agent_core.prompt import SUMMARY_ID
from memory import MemoryBase


class Mark(str, Enum):
    HINT = "hint"


class Loud(str):
    def __str__(self) -> str:
        return "something else"


ONE, TWO, THREE, FOUR = (UserMsg("u", text, id=text) for text in ("1", "2", "3", "4"))


async def shown(memory: MemoryBase) -> str:
    """`1ab 2`: message 1 with marks a and b, message 2 without."""
    return " ".join(f"{msg.get_text_content()}{''.join(marks)}" for msg, marks in await memory.entries())


async def texts(memory: MemoryBase, **options: Any) -> str:
    return " ".join(str(msg.get_text_content()) for msg in await memory.get_memory(**options))


async def test_a_new_store_is_empty_and_takes_every_call(memory: MemoryBase) -> None:
    assert await memory.size() == 0
    assert await memory.get_memory() == []
    assert await memory.get_memory(mark="a") == []
    assert await memory.entries() == []
    assert await memory.delete(["x"]) == 0
    assert await memory.delete_by_mark("a") == 0
    assert await memory.update_messages_mark("a") == 0
    await memory.clear()
    await memory.add(None)
    await memory.add([])
    assert await memory.size() == 0


async def test_order_is_insertion_order_whatever_was_marked_when(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO, THREE])
    await memory.update_messages_mark("a", msg_ids=["3"])
    await memory.update_messages_mark("a", msg_ids=["1"])
    assert await texts(memory, mark="a") == "1 3"
    await memory.delete(["2"])
    await memory.add(FOUR, marks="a")
    await memory.add(TWO, marks="a")
    assert await texts(memory, mark="a") == "1 3 4 2"


async def test_the_same_id_is_stored_once(memory: MemoryBase) -> None:
    """M01: twice in one add, or over two."""
    await memory.add([ONE, ONE, TWO])
    await memory.add(ONE)
    assert await shown(memory) == "1 2"
    assert await memory.size() == 2


async def test_the_same_id_twice_on_request(memory: MemoryBase) -> None:
    await memory.add([ONE, ONE], allow_duplicates=True)
    await memory.add(ONE, marks="a", allow_duplicates=True)
    assert await shown(memory) == "1 1 1a"
    assert await memory.delete(["1"]) == 3


async def test_adding_a_known_id_joins_its_marks(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO], marks="a")
    await memory.add([THREE, ONE], marks=["b", "a"])
    assert await shown(memory) == "1ab 2a 3ba"


@pytest.mark.parametrize(
    ("marks", "stored"),
    [(None, "1"), ("a", "1a"), (Mark.HINT, "1hint"), (["a", "b", "a"], "1ab"), (("a",), "1a"), ([], "1")],
)
async def test_marks_in_every_form(memory: MemoryBase, marks: Any, stored: str) -> None:
    """M03: each mark is stored once, and as the string that a filter finds."""
    await memory.add(ONE, marks=marks)
    assert await shown(memory) == stored


@pytest.mark.parametrize("mark", ["with space", "a,b", "!a", "🎯", "MiXed", "[/x]", "a:b", "%_", "'; --"])
async def test_a_mark_may_be_any_text(memory: MemoryBase, mark: str) -> None:
    """M10."""
    await memory.add(ONE, marks=mark)
    await memory.add(TWO, marks=mark.upper() + "x")
    assert await texts(memory, mark=mark) == "1"
    assert await texts(memory, exclude_mark=mark) == "2"
    assert await memory.delete_by_mark(mark) == 1


@pytest.mark.parametrize(
    ("memories", "marks"),
    [(ONE, 1), (ONE, [1]), (ONE, ["a", None]), (ONE, b"a"), ("text", "a"), ([ONE, "text"], "a"), (5, None), ({}, None)],
)
async def test_a_wrong_type_is_named_and_nothing_is_stored(memory: MemoryBase, memories: Any, marks: Any) -> None:
    with pytest.raises(TypeError):
        await memory.add(memories, marks=marks)
    assert await memory.size() == 0


async def test_an_empty_mark_is_refused_everywhere(memory: MemoryBase) -> None:
    """M10."""
    for marks in ("", ["a", ""]):
        with pytest.raises(ValueError, match="empty"):
            await memory.add(ONE, marks=marks)
        with pytest.raises(ValueError, match="empty"):
            await memory.get_memory(mark=marks)
        with pytest.raises(ValueError, match="empty"):
            await memory.get_memory(exclude_mark=marks)
        with pytest.raises(ValueError, match="empty"):
            await memory.delete_by_mark(marks)
    for old, new in (("", "a"), ("a", ""), (None, "")):
        with pytest.raises(ValueError, match="empty"):
            await memory.update_messages_mark(new, old_mark=old)
    assert await memory.size() == 0


@pytest.mark.parametrize("ids", ["1", 1, [1], None])
async def test_ids_of_another_type_are_named(memory: MemoryBase, ids: Any) -> None:
    await memory.add(ONE)
    with pytest.raises(TypeError):
        await memory.delete(ids)
    assert await memory.size() == 1


@pytest.mark.parametrize(
    ("mark", "exclude_mark", "found"),
    [
        (None, None, "1 2 3 4"),
        ("a", None, "1 2"),
        (["a", "c"], None, "1 2 3"),
        (None, "b", "1 3 4"),
        (None, ["b", "c"], "1 4"),
        ("a", "b", "1"),
        ("a", "a", ""),
        ("zzz", None, ""),
        (None, "zzz", "1 2 3 4"),
        (Mark.HINT, None, ""),
        ([], None, ""),
    ],
)
async def test_filters(memory: MemoryBase, mark: Any, exclude_mark: Any, found: str) -> None:
    await memory.add(ONE, marks="a")
    await memory.add(TWO, marks=["a", "b"])
    await memory.add(THREE, marks="c")
    await memory.add(FOUR)
    assert await texts(memory, mark=mark, exclude_mark=exclude_mark) == found


async def test_get_memory_agrees_with_the_predicate(memory: MemoryBase) -> None:
    for number in range(40):
        marks = [mark for place, mark in enumerate("abcd") if number >> place & 1]
        await memory.add(UserMsg("u", str(number)), marks=marks)
    for mark in (None, "a", ("a", "c"), "zz"):
        for exclude_mark in (None, "b", ("b", "d"), "a"):
            entries = await memory.entries()
            memory_filter = MemoryFilter(mark, exclude_mark)
            expected = [msg for msg, marks in entries if decide(marks, memory_filter).included]
            assert await memory.get_memory(mark=mark, exclude_mark=exclude_mark) == expected


async def test_later_edits_reach_the_store_from_neither_side(memory: MemoryBase) -> None:
    """M07."""
    marks, facts, blocks = ["a"], {"k": [1]}, [TextBlock("x")]
    msg = AssistantMsg("a", blocks, metadata=facts)
    await memory.add(msg, marks=marks)
    marks.append("b")
    facts["k"].append(2)
    blocks.append(TextBlock("y"))
    [returned] = await memory.get_memory()
    returned.metadata["k"].append(3)
    content = returned.content
    assert isinstance(content, list)
    content.clear()
    (await memory.entries()).clear()
    [(stored, stored_marks)] = await memory.entries()
    assert (stored.content, stored.metadata, stored_marks) == ([TextBlock("x")], {"k": [1]}, ("a",))


async def test_whole_messages_come_back(memory: MemoryBase) -> None:
    msg = AssistantMsg("名", [TextBlock("“é”, 中, 🙂"), ToolCallBlock("c", "t", "{")], metadata={"n": None, "f": 1.5})
    await memory.add([msg, UserMsg("u", "plain")])
    first, second = await memory.get_memory()
    assert first == msg
    assert first.created_at == msg.created_at
    assert second.content == "plain"


async def test_counts_are_the_messages_really_changed(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO, THREE])
    assert await memory.update_messages_mark("y", msg_ids=["1", "2"]) == 2
    assert await memory.update_messages_mark("y", msg_ids=["1", "2", "3", "unknown"]) == 1
    assert await memory.update_messages_mark("z") == 3
    assert await memory.update_messages_mark("q", old_mark="unknown") == 0
    assert await memory.delete(["unknown"]) == 0
    assert await memory.delete(["1", "1"]) == 1
    assert await memory.delete_by_mark("unknown") == 0
    assert await memory.delete_by_mark(["y", "z"]) == 2


async def test_replacing_marks(memory: MemoryBase) -> None:
    await memory.add(ONE, marks=["x", "y"])
    await memory.add(TWO, marks="x")
    await memory.add(THREE, marks="z")
    assert await memory.update_messages_mark("x", old_mark="x") == 0
    assert await memory.update_messages_mark("y", old_mark="x") == 2
    assert await shown(memory) == "1y 2y 3z"
    assert await memory.update_messages_mark("w", old_mark="y", msg_ids=["2", "3"]) == 1
    assert await memory.update_messages_mark(None, old_mark="z") == 1
    assert await shown(memory) == "1y 2w 3"


async def test_removing_nothing_named_is_a_no_op(memory: MemoryBase) -> None:
    await memory.add(ONE, marks=["x", "y"])
    assert await memory.update_messages_mark(None) == 0
    assert await memory.update_messages_mark(None, msg_ids=["1"]) == 0
    assert await memory.update_messages_mark("a", msg_ids=[]) == 0
    assert await shown(memory) == "1xy"


async def test_a_mark_given_twice_is_gone_when_it_is_removed(memory: MemoryBase) -> None:
    """M03."""
    await memory.add(ONE, marks=["x", "x"])
    assert await memory.update_messages_mark(None, old_mark="x") == 1
    assert await shown(memory) == "1"
    assert await memory.get_memory(mark="x") == []


async def test_the_summary_goes_first_also_in_a_filtered_view(memory: MemoryBase) -> None:
    await memory.add(ONE, marks="a")
    await memory.update_compressed_summary("so far")
    for options in ({}, {"mark": "a"}, {"mark": "zzz"}):
        first = (await memory.get_memory(**options))[0]
        assert (first.id, first.name, first.role, first.content) == (SUMMARY_ID, "user", "user", "so far")
    assert await texts(memory, prepend_summary=False) == "1"
    await memory.update_compressed_summary("")
    assert await texts(memory) == "1"


async def test_clear_takes_the_summary_too(memory: MemoryBase) -> None:
    """M05."""
    await memory.add(ONE, marks="a")
    await memory.update_compressed_summary("S")
    await memory.clear()
    assert await memory.get_memory() == []
    assert await memory.size() == 0
    assert memory._compressed_summary == ""


async def test_deleting_and_adding_again_puts_it_at_the_end(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO, THREE], marks="a")
    await memory.delete(["1"])
    await memory.add(ONE)
    assert await shown(memory) == "2a 3a 1"


async def test_fifty_adds_at_once_lose_nothing(memory: MemoryBase) -> None:
    """M09."""
    await asyncio.gather(*(memory.add(UserMsg("u", str(number)), marks="m") for number in range(50)))
    found = [str(msg.content) for msg in await memory.get_memory(mark="m")]
    assert sorted(found, key=int) == [str(number) for number in range(50)]
    assert [str(msg.content) for msg, _ in await memory.entries()] == found


async def test_every_mutation_is_told_with_what_redoing_it_needs(memory: MemoryBase) -> None:
    changes: list[MemoryChange] = []
    leave = memory.subscribe(changes.append)
    state = MemoryState()

    async def follow() -> None:
        for change in changes:
            state.apply(change)
        changes.clear()
        assert state.entries == await memory.entries()
        assert state.summary == memory._compressed_summary

    await memory.add([ONE, TWO], marks="a")
    await follow()
    await memory.add([TWO, THREE], marks="b")
    await follow()
    await memory.update_messages_mark("c", old_mark="a")
    await follow()
    await memory.update_compressed_summary("S")
    await memory.delete(["1", "3"])
    await follow()
    await memory.clear()
    await follow()
    await memory.add(None)
    await memory.delete(["unknown"])
    await memory.update_messages_mark(None)
    assert changes == []
    leave()
    await memory.add(FOUR)
    assert changes == []


async def test_a_listener_that_fails_does_not_undo_what_is_stored(
    memory: MemoryBase, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(change: MemoryChange) -> None:
        raise RuntimeError("broken")

    memory.subscribe(broken)
    await memory.add(ONE)
    assert await shown(memory) == "1"
    assert "a listener of" in caplog.text


async def test_state_is_json_and_comes_back(memory: MemoryBase) -> None:
    await memory.add(ONE, marks=[Mark.HINT, "b"])
    await memory.add(AssistantMsg("a", [TextBlock("x")], metadata={"k": 1}))
    await memory.update_compressed_summary("S")
    state = json.loads(json.dumps(memory.state_dict()))
    assert state["_compressed_summary"] == "S"


async def test_set_marks_gives_exactly_these(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO, THREE], marks=["a", "b"])
    assert await memory.set_marks({"1": ["c", "a"], "2": [], "3": ["a", "b"], "unknown": ["x"]}) == 2
    assert await shown(memory) == "1ca 2 3ab"
    assert await texts(memory, mark="a") == "1 3"
    with pytest.raises(TypeError):
        await memory.set_marks({"1": [5]})  # type: ignore[list-item]
    with pytest.raises(ValueError, match="empty"):
        await memory.set_marks({"1": [""]})
    assert await shown(memory) == "1ca 2 3ab"


@pytest.mark.parametrize("table", [{"1": None}, {"1": "draft"}, {"1": Mark.HINT}, {"1": Loud("draft")}])
async def test_set_marks_takes_marks_in_every_form(memory: MemoryBase, table: Any) -> None:
    await memory.add(ONE, marks="a")
    assert await memory.set_marks(table) == 1
    assert await shown(memory) in ("1", "1draft", "1hint")


@pytest.mark.parametrize(
    "table", [{5: ["a"]}, {"1": 5}, {"1": [["a"]]}, {"1": (mark for mark in "a")}, [("1", "a")], None]
)
async def test_a_table_of_marks_of_another_type_is_named_and_changes_nothing(memory: MemoryBase, table: Any) -> None:
    await memory.add(ONE, marks="k")
    with pytest.raises(TypeError, match="must"):
        await memory.set_marks(table)
    assert await shown(memory) == "1k"


async def test_several_marks_where_one_is_meant_are_named_and_change_nothing(memory: MemoryBase) -> None:
    await memory.add(ONE, marks=["x", "y"])
    for new, old in ((["a", "b"], None), (["a", "b"], "x"), ("a", ["x", "y"]), ({"x", "y"}, None)):
        with pytest.raises(TypeError, match="must be one mark, not"):
            await memory.update_messages_mark(new, old)  # type: ignore[arg-type]
    assert await shown(memory) == "1xy"
    assert await memory.update_messages_mark(Loud("z"), Mark("hint")) == 0
    assert await memory.update_messages_mark(Loud("z"), "y") == 1
    assert await shown(memory) == "1xz"


@pytest.mark.parametrize("summary", [None, 5, ["text"], b"text"])
async def test_a_summary_of_another_type_is_named_and_changes_nothing(memory: MemoryBase, summary: Any) -> None:
    await memory.add(ONE)
    await memory.update_compressed_summary("S")
    with pytest.raises(TypeError, match="summary must be a str, not"):
        await memory.update_compressed_summary(summary)
    with pytest.raises(TypeError, match="summary must be a str, not"):
        memory.load_state_dict({"content": [], "_compressed_summary": summary})
    assert await texts(memory) == "S 1"


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        (None, TypeError, "a state must be a dictionary, not None"),
        (["content"], TypeError, r"a state must be a dictionary, not \['content'\]"),
        ({"content": "1"}, ValueError, "content must be a list, not '1'"),
        ({"content": [[ONE.to_dict(), []], 7]}, ValueError, r"content\[1\]: not a message: 7"),
        (
            {"content": [[{"name": "u", "content": "x"}, []]]},
            ValueError,
            r"content\[0\]: not a message, it lacks 'role'",
        ),
        ({"content": [[ONE.to_dict(), [1]]]}, TypeError, r"content\[0\]: marks must be a str or a list of str, not 1"),
    ],
)
async def test_a_state_that_is_none_is_named_with_its_place_and_changes_nothing(
    memory: MemoryBase, state: Any, error: type[Exception], words: str
) -> None:
    await memory.add(ONE, marks="a")
    with pytest.raises(error, match=words):
        memory.load_state_dict(state)
    assert [(entry.msg, entry.marks) for entry in await memory.entries()] == [(ONE, ("a",))]


async def test_an_empty_state_changes_nothing_unless_it_must_be_whole(memory: MemoryBase) -> None:
    await memory.add(ONE)
    await memory.update_compressed_summary("S")
    memory.load_state_dict({}, strict=False)
    assert await texts(memory) == "S 1"
    with pytest.raises(KeyError):
        memory.load_state_dict({})
    assert await texts(memory) == "S 1"


async def test_texts_of_every_kind_come_back_as_plain_text(memory: MemoryBase) -> None:
    given = AssistantMsg(
        Loud("name"), [TextBlock(Loud("text"))], metadata={Loud("key"): (Mark.HINT, Loud("value"))}, id=Loud("id")
    )
    await memory.add(given, marks=Loud("mark"))
    [(msg, marks)] = await memory.entries()
    assert (msg, marks) == (given, ("mark",))
    assert (msg.id, msg.name, msg.content, msg.metadata) == (
        "id",
        "name",
        [TextBlock("text")],
        {"key": ["hint", "value"]},
    )
    assert {type(text) for text in (msg.id, msg.name, *marks)} == {str}


async def test_restore_puts_messages_back_where_they_were(memory: MemoryBase) -> None:
    await memory.add([ONE, TWO, THREE], marks="a")
    changes: list[MemoryChange] = []
    memory.subscribe(changes.append)
    await memory.delete(["1", "3"])
    deleted = changes[0]
    assert isinstance(deleted, Deleted)
    await memory.add(FOUR)
    await memory.restore(deleted.entries)
    assert await shown(memory) == "1a 2a 3a 4"
    assert await texts(memory, mark="a") == "1 2 3"
    await memory.restore(deleted.entries)
    assert await memory.size() == 4
    await memory.add(UserMsg("u", "5"))
    assert await texts(memory) == "1 2 3 4 5"
