"""What every memory in a database must do beyond the contract: share its store with others, and survive."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from sqlalchemy import text

from agent_core.agent import Agent
from agent_core.change import Added, Deleted, MemoryChange, MemoryState, Snapshot, SummaryChanged
from agent_core.errors import StorageError
from agent_core.marks import Entry
from agent_core.message import AssistantMsg, Msg, TextBlock, ToolResultBlock, UserMsg
from agent_core.model.scripted_model import ScriptedChatModel
from memory import InMemoryMemory, MemoryBase
from memory.working.mirrored import MirroredMemory
from memory.working.open import open_memory
from memory.working.sql.engine import open_engine
from tests.memory.working.other_process import finish, other_process

ONE, TWO, THREE = (UserMsg("u", text, id=text) for text in ("1", "2", "3"))
AWKWARD = [
    "",
    " ",
    ":",
    "%3A",
    "%",
    "a:b",
    "用户",
    "🎯",
    "{x}",
    "*",
    "..",
    "\\",
    "\\u0000",
    "\0",
    "\ud83d",
    "'; --",
    "A",
]


async def test_two_processes_that_write_at_once_lose_nothing(url: str, user: str) -> None:
    """P08: each adds fifty of its own, and the same fifty as the other one."""
    process = partial(other_process, url, user, "s", "add")
    async with process("one", "50") as one, process("two", "50") as two:
        await asyncio.gather(finish(one), finish(two))
    async with open_memory(url, "s", user) as memory:
        messages = await memory.get_memory()
        assert await memory.size() == len(messages) == len({msg.id for msg in messages}) == 150
        for name in ("one", "two", "all"):
            of_one = [int(str(msg.content)) for msg in messages if msg.name == name]
            assert of_one == list(range(50))
            assert [int(str(msg.content)) for msg in await memory.get_memory(mark=name)] == of_one
        assert await memory.get_memory() == messages


async def test_fifty_adds_at_once_are_there_for_a_second_connection(url: str, user: str) -> None:
    """M09."""
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as second:
        halves = (memory, second)
        await asyncio.gather(*(halves[n % 2].add(UserMsg("u", str(n)), marks="m") for n in range(50)))
        entries = await second.entries()
        assert sorted(int(str(msg.content)) for msg, _ in entries) == list(range(50))
        assert [marks for _, marks in entries] == [("m",)] * 50
        async with open_memory(url, "s", user) as third:
            assert await third.entries() == entries


async def test_a_change_from_another_process_is_seen(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        await memory.add(ONE)
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        assert not await memory.refresh()
        assert told == []
        async with other_process(url, user, "s", "change") as process:
            await finish(process)
        assert await memory.refresh()
        [snapshot] = told
        assert isinstance(snapshot, Snapshot)
        assert [(entry.msg.id, entry.marks) for entry in snapshot.entries] == [("1", ()), ("hello", ("a", "b"))]
        assert snapshot.summary == memory._compressed_summary == "from there"
        assert not await memory.refresh()


async def test_own_changes_are_no_news(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        await memory.add([ONE, TWO], marks="a")
        await memory.update_compressed_summary("S")
        await memory.delete(["1"])
        assert not await memory.refresh()
        await memory.clear()
        assert not await memory.refresh()


async def test_who_follows_the_changes_has_the_content_whoever_writes(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as other:
        followed = MemoryState()
        memory.subscribe(followed.apply)
        await other.add([ONE, TWO], marks="a")
        await memory.add(THREE, marks="b")
        assert (
            followed.entries == await memory.entries() == [Entry(ONE, ("a",)), Entry(TWO, ("a",)), Entry(THREE, ("b",))]
        )
        await other.update_compressed_summary("S")
        await other.delete(["1"])
        await memory.update_messages_mark("c", old_mark="a")
        assert followed.entries == await memory.entries() == [Entry(TWO, ("c",)), Entry(THREE, ("b",))]
        assert followed.summary == memory._compressed_summary == "S"


async def test_who_reads_a_store_that_is_not_empty_is_then_told_of_changes_only(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as first:
        await first.add([ONE, TWO], marks="a")
    async with open_memory(url, "s", user) as memory:
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        followed = MemoryState(await memory.entries())
        await memory.delete(["1"])
        await memory.add(THREE)
        assert [type(change) for change in told] == [Deleted, Added]
        for change in told:
            followed.apply(change)
        assert followed.entries == await memory.entries()


async def test_who_read_a_store_while_it_was_empty_hears_of_what_others_put_there(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as other:
        followed = MemoryState()
        memory.subscribe(followed.apply)
        assert await memory.entries() == []
        await other.add([ONE, TWO], marks="a")
        # Somebody else in this process reads it; that tells the listeners nothing.
        assert len(await memory.entries()) == 2
        await memory.add(THREE)
        assert await memory.update_messages_mark("b") == 3
        assert followed.entries == await memory.entries()


async def test_users_and_sessions_never_meet(url: str, user: str) -> None:
    """Whatever their names: none is a join of others, none is a pattern."""
    scopes = [(f"{user}-a-b", "c"), (f"{user}-a", "b-c"), (f"{user}:a", "b"), (user, "a:b"), (user, "a")]
    scopes += [(user + name, session) for name, session in zip(AWKWARD, reversed(AWKWARD), strict=True)]
    for number, (name, session) in enumerate(scopes):
        async with open_memory(url, session, name) as memory:
            assert await memory.entries() == []
            await memory.add(UserMsg("u", str(number), id="same"), marks="m")
            await memory.update_compressed_summary(str(number))
    async with open_memory(url, "a", user) as memory:
        await memory.clear()
    for number, (name, session) in enumerate(scopes):
        async with open_memory(url, session, name) as memory:
            expected = [] if (name, session) == (user, "a") else [str(number)] * 2
            assert [msg.content for msg in await memory.get_memory()] == expected


async def test_two_users_may_call_their_session_alike(url: str, user: str) -> None:
    async with open_memory(url, "s", f"{user} one") as one, open_memory(url, "s", f"{user} two") as two:
        await one.add(ONE, marks="m")
        await two.add(ONE, marks="m")
        assert await two.update_messages_mark("n", old_mark="m") == 1
        assert await one.get_memory(mark="n") == []
        assert await two.delete_by_mark("n") == 1
        assert await one.size() == 1


@pytest.mark.parametrize("name", AWKWARD[1:])
async def test_marks_and_summaries_of_any_text(url: str, user: str, name: str) -> None:
    """M10, and what single stores refuse: NUL, lone surrogates."""
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as other:
        await memory.add(ONE, marks=[name, "x"])
        await memory.add(TWO, marks=[name + name])
        await memory.update_compressed_summary(name)
        assert await other.entries() == [Entry(ONE, (name, "x")), Entry(TWO, (name + name,))]
        assert await other.get_memory(mark=name, prepend_summary=False) == [ONE]
        assert await other.get_memory(exclude_mark=name, prepend_summary=False) == [TWO]
        assert other._compressed_summary == name
        assert await other.update_messages_mark("y", old_mark=name) == 1
        assert await memory.entries() == [Entry(ONE, ("y", "x")), Entry(TWO, (name + name,))]


async def test_messages_and_summary_are_there_for_a_new_process(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        await memory.add([ONE, AssistantMsg("a", [TextBlock("“é”, 中, 🙂, \0")])])
        await memory.update_compressed_summary("so far")
    async with other_process(url, user, "s", "say") as process:
        assert await finish(process) == "so far|1|[TextBlock(text='“é”, 中, 🙂, \\x00')]\n"


async def test_an_agent_goes_on_where_another_one_stopped(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        await Agent("assistant", "Be brief.", ScriptedChatModel(["noted"]), memory=memory).reply(
            "the key is under the pot"
        )
        await memory.update_compressed_summary("we spoke of gardens")
    async with open_memory(url, "s", user) as memory:
        model = ScriptedChatModel(["under the pot"])
        await Agent("assistant", "Be brief.", model, memory=memory).reply("where is it?")
        sent = [msg.get_text_content() for msg in model.requests[0].messages]
        assert sent[1:] == ["we spoke of gardens", "the key is under the pot", "noted", "where is it?"]
        assert await memory.size() == 4


async def test_a_process_that_is_killed_while_it_writes_leaves_whole_operations(url: str, user: str) -> None:
    async with other_process(url, user, "s", "write_until_killed") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"go\n")
        for _ in range(20):
            await process.stdout.readline()
        process.kill()
    async with open_memory(url, "s", user) as memory:
        entries = await memory.entries()
        assert len(entries) == await memory.size() >= 60
        assert len(entries) % 3 == 0
        assert {marks for _, marks in entries[:-3]} == {("x", "z")}
        for mark in ("x", "y", "z"):
            assert await memory.get_memory(mark=mark) == [msg for msg, marks in entries if mark in marks]
        assert await memory.delete([entries[0].msg.id]) == 1
        await memory.add(ONE)
        assert (await memory.entries())[-1] == Entry(ONE, ())


async def test_adds_that_are_cancelled_are_there_whole_or_not_at_all(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        told = MemoryState()
        memory.subscribe(told.apply)
        tasks = [asyncio.create_task(memory.add([UserMsg("u", "x") for _ in range(3)], marks="m")) for _ in range(30)]
        for number, task in enumerate(tasks):
            if number % 3 == 0:
                await asyncio.wait([task])
            else:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await memory.add(ONE)
        await memory.refresh()
        entries = await memory.entries()
        assert len(entries) == await memory.size()
        assert len(entries) % 3 == 1
        assert told.entries == entries


async def test_calls_that_are_cancelled_at_any_moment_leave_the_store_usable(url: str, user: str) -> None:
    """A driver that is stopped in the middle of a transaction may never give the connection back."""
    moments = random.Random(3)
    async with open_memory(url, "s", user) as memory, asyncio.timeout(100):
        await memory.size()
        tasks = []
        for _ in range(60):
            tasks.append(asyncio.create_task(memory.add([UserMsg("u", "x" * 500) for _ in range(5)])))
            # Not to wait for anything, but to be somewhere else in the transaction each time.
            await asyncio.sleep(moments.random() * 0.012)
            tasks[-1].cancel()
            await asyncio.wait(tasks[-1:])
        assert await memory.size() % 5 == 0


async def test_putting_back_while_others_write_loses_nothing(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as other:
        await memory.add([ONE, TWO, THREE], marks="a")
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        for _ in range(10):
            await memory.delete(["1", "3"])
            deleted = next(change for change in reversed(told) if isinstance(change, Deleted))
            adds = (other.add(UserMsg("u", "x")) for _ in range(5))
            await asyncio.gather(memory.restore(deleted.entries), *adds)
            assert not await memory.delete(["unknown"])
            await memory.refresh()
        entries = await memory.entries()
        assert [msg.id for msg, marks in entries if marks == ("a",)] == ["1", "2", "3"]
        assert len(entries) == await memory.size() == 53


async def overwrite_bodies(url: str, user: str, body: str) -> None:
    """Put something else where the messages of a user are."""
    if url.startswith("redis"):
        async with Redis.from_url(url) as client:
            async for key in client.scan_iter(f"*{user}*:bodies"):
                await client.hset(key, mapping=dict.fromkeys(await client.hkeys(key), body))
        return
    engine = open_engine(url)
    async with engine.begin() as connection:
        whose = "scope_id IN (SELECT id FROM mnemoscope_scope WHERE user_id = :user)"
        await connection.execute(
            text(f"UPDATE mnemoscope_message SET body = :body WHERE {whose}"), {"body": body, "user": user}
        )
    await engine.dispose()


@pytest.mark.parametrize("body", ["", '{"id":"1","na', '{"id":"1"}', "[]"])
async def test_a_message_that_is_damaged_is_a_fault_of_the_store(url: str, user: str, body: str) -> None:
    async with open_memory(url, "s", user) as memory:
        await memory.add(ONE)
        await overwrite_bodies(url, user, body)
        memory.subscribe(lambda _: None)
        calls: list[Callable[[], Awaitable[object]]] = [
            memory.get_memory,
            memory.entries,
            memory.export_state,
            lambda: memory.delete(["1"]),
        ]
        for call in calls:
            with pytest.raises(StorageError, match="holds a message that is damaged: put back a copy"):
                await call()


async def test_a_chat_goes_on_in_front_of_a_store_with_a_damaged_message(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as store:
        await store.add(ONE)
        await overwrite_bodies(url, user, "{")
        memory = MirroredMemory(store, entries=[Entry(ONE, ())])
        await memory.refresh()
        await memory.add(TWO)
        assert "holds a message that is damaged" in memory.trouble
        assert [str(msg.content) for msg in await memory.get_memory()] == ["1", "2"]


async def test_as_many_ids_as_one_likes(url: str, user: str) -> None:
    """Databases take only so many parameters in one statement."""
    async with open_memory(url, "s", user) as memory:
        await memory.add([ONE, TWO, THREE])
        ids = [*(f"unknown {number}" for number in range(40_000)), "1", "3"]
        assert await memory.update_messages_mark("m", msg_ids=ids) == 2
        assert await memory.get_memory(mark="m") == [ONE, THREE]
        assert await memory.delete(ids) == 2
        assert await memory.get_memory() == [TWO]


async def test_a_message_may_have_as_many_marks_as_one_likes(url: str, user: str) -> None:
    marks = [f"mark {number}" for number in range(12_000)]
    async with open_memory(url, "s", user) as memory:
        await memory.add(ONE, marks=marks)
        assert await memory.entries() == [Entry(ONE, tuple(marks))]
        assert await memory.get_memory(mark=marks[:9_000]) == [ONE]
        assert await memory.delete_by_mark(marks[-9_000:]) == 1


async def test_what_json_cannot_hold_is_refused_by_name(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        with pytest.raises(TypeError, match="'bad'"):
            await memory.add([ONE, Msg("u", "x", "user", {"k": 10**5000}, id="bad")])
        assert await memory.size() == 0


@pytest.mark.parametrize("summary", [None, 5, b"x"])
async def test_a_summary_of_another_type_is_named(url: str, user: str, summary: Any) -> None:
    async with open_memory(url, "s", user) as memory:
        with pytest.raises(TypeError, match="summary must be a str"):
            await memory.update_compressed_summary(summary)


async def test_the_whole_state_goes_out_and_comes_back(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory, open_memory(url, "t", user) as copy:
        await memory.add([ONE, AssistantMsg("a", [ToolResultBlock("c", "t", "out")])], marks=["a", "b"])
        await memory.update_compressed_summary("S")
        state = json.loads(json.dumps(await memory.export_state()))
        in_memory = InMemoryMemory()
        in_memory.load_state_dict(state)
        assert await in_memory.entries() == await memory.entries()
        assert json.loads(json.dumps(in_memory.state_dict())) == state
        await copy.add(THREE)
        told: list[MemoryChange] = []
        copy.subscribe(told.append)
        await copy.import_state(state)
        assert await copy.export_state() == state
        assert [type(change) for change in told] == [Snapshot]


async def test_a_state_that_was_loaded_is_written_by_the_next_call(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory, open_memory(url, "s", user) as other:
        await memory.add(ONE)
        memory.load_state_dict({"_compressed_summary": "S"})
        assert memory._compressed_summary == "S"
        assert (await memory.get_memory())[0].content == "S"
        assert [msg.content for msg in await other.get_memory()] == ["S", "1"]
        # A file of AgentScope, which knows no marks in its older form.
        memory.load_state_dict({"content": [{"id": "old", "name": "u", "role": "user", "content": "hi"}]})
        assert memory._compressed_summary == ""
        assert await memory.size() == 1
        assert [msg.id for msg in await other.get_memory()] == ["old"]


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({}, KeyError),
        ({"content": 5}, ValueError),
        ({"content": ["x"]}, ValueError),
        ({"content": [[ONE.to_dict(), [7]]]}, TypeError),
    ],
)
async def test_a_broken_state_changes_nothing(url: str, user: str, state: Any, error: type[Exception]) -> None:
    async with open_memory(url, "s", user) as memory:
        await memory.add(ONE)
        with pytest.raises(error):
            await memory.import_state(state)
        memory.load_state_dict({}, strict=False)
        assert await memory.get_memory() == [ONE]


MESSAGES = [UserMsg("u", text, id=text) for text in "1234"]
marks = st.lists(st.sampled_from("abc"), max_size=3)
mark = st.none() | st.sampled_from("abc")
ids = st.lists(st.sampled_from("12345"), max_size=4)
step = st.one_of(
    st.tuples(st.just("add"), st.lists(st.sampled_from(MESSAGES), max_size=3), marks, st.booleans()),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("delete_by_mark"), marks),
    st.tuples(st.just("update_messages_mark"), mark, mark, st.none() | ids),
    st.tuples(st.just("set_marks"), st.dictionaries(st.sampled_from("12345"), marks, max_size=3)),
    st.tuples(st.just("update_compressed_summary"), st.sampled_from(["", "S"])),
    st.tuples(st.just("undo_deletion")),
    st.tuples(st.just("clear")),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(step, max_size=12))
async def test_a_store_gives_and_tells_what_memory_in_the_process_does(url: str, user: str, steps: list[Any]) -> None:
    model = InMemoryMemory()
    async with open_memory(url, uuid4().hex, user) as memory:
        told: list[MemoryChange] = []
        expected: list[MemoryChange] = []
        memory.subscribe(told.append)
        model.subscribe(expected.append)
        for name, *arguments in steps:
            assert await call(memory, name, arguments, expected) == await call(model, name, arguments, expected)
            assert told == expected
            assert await memory.entries() == await model.entries()
            assert await memory.size() == await model.size()
        assert await memory.export_state() == model.state_dict()
        for wanted in (None, "a", ["b", "c"]):
            filtered = await memory.get_memory(wanted, exclude_mark="b")
            assert filtered == await model.get_memory(wanted, exclude_mark="b")


async def call(memory: MemoryBase, name: str, arguments: list[Any], told: list[MemoryChange]) -> object:
    if name == "add":
        return await memory.add(arguments[0], marks=arguments[1], allow_duplicates=arguments[2])
    if name != "undo_deletion":
        return await getattr(memory, name)(*arguments)
    last = next((change for change in reversed(told) if isinstance(change, Deleted)), None)
    return await memory.restore(last.entries) if last else None


async def test_random_awkward_strings_do_not_mix(url: str, user: str) -> None:
    """Marks of which one begins like another, or looks like what separates them in the store."""
    names = ["1:", "1:a", "1:a:", "a", "a:", "a:0000000000000001", "2:a:", "ab"]
    async with open_memory(url, "s", user) as memory:
        for name in names:
            await memory.add(UserMsg("u", name, id=name), marks=name)
        for name, other in combinations(names, 2):
            assert [msg.id for msg in await memory.get_memory(mark=name)] == [name]
            assert [msg.id for msg in await memory.get_memory(mark=[other, name])] == [name, other]


async def test_an_unchanged_summary_is_no_change(url: str, user: str) -> None:
    async with open_memory(url, "s", user) as memory:
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        await memory.update_compressed_summary("")
        await memory.update_compressed_summary("S")
        await memory.update_compressed_summary("S")
        assert told == [SummaryChanged("", "S")]
