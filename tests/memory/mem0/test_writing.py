from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from agent_core.agent import Agent
from agent_core.event import FactsWriteStarted, FactsWritten, ReplyEnded
from agent_core.trace import Trace
from memory.mem0 import Mem0Middleware
from memory.mem0.outbox import MOST_TRIES
from tests.cancelling import cancel
from tests.fake_server import Gate, Request, reply, text
from tests.locked_file import locked, locked_elsewhere
from tests.memory.agentic.agents import until
from tests.memory.mem0.agents import agent_with, changes, written
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make
from tests.memory.mem0.fakes import FakeClient


def waiting(folder: Path) -> int:
    path = folder / "mem0" / "outbox.db"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM outbox").fetchone()[0])


async def held_write(make: Make, brain: Brain, fact: str) -> tuple[Mem0Middleware, Agent, Gate]:
    """An agent whose exchange is being written; the model that extracts `fact` waits for the gate."""
    gate = Gate()
    brain.will_extract(reply(gate, text(memories(fact))))
    middleware = make(await_write=False)
    agent = agent_with(middleware)
    await agent.reply("I like tea.")
    await gate.reached()
    return middleware, agent, gate


async def test_a_write_is_waited_for_unless_told_otherwise(make: Make) -> None:
    for await_write in (True, False):
        client = FakeClient()
        gate = client.hold_add()
        agent = agent_with(make(client=client, await_write=await_write))
        replying = asyncio.create_task(agent.reply("I like tea."))
        await until(agent.trace, FactsWriteStarted)
        if not await_write:
            await replying
        assert bool(agent.trace.of(ReplyEnded)) is not await_write
        assert written(agent) == []
        gate.set()
        await replying
        await until(agent.trace, FactsWritten)
        assert written(agent)[0].finish == "stored"


async def test_writes_in_the_background_are_drained_with_progress(make: Make) -> None:
    client = FakeClient()
    gate = client.hold_add()
    middleware = make(client=client, await_write=False, search_timeout=0.0)
    agents = [agent_with(middleware) for _ in range(3)]
    for agent in agents:
        await agent.reply("I like tea.")
    seen: list[tuple[int, int]] = []

    def on_progress(done: int, total: int) -> None:
        seen.append((done, total))
        gate.set()

    assert await middleware.aclose(None, on_progress) == 0
    # It may also be looking still for what an earlier run has left.
    total = seen[0][1]
    assert total in (3, 4)
    assert seen[0] == (0, total)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)
    assert all(written(agent)[0].finish == "stored" for agent in agents)


async def test_what_is_not_written_in_time_is_kept_and_written_at_the_next_start(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    middleware, agent, _ = await held_write(make, brain, "never comes")
    assert await middleware.aclose(0) == 1
    assert written(agent)[0].finish == "failed"
    assert "interrupted" in written(agent)[0].detail
    assert waiting(tmp_path) == 1
    brain.will_extract(memories("Alice likes tea"))
    trace = Trace()
    again = make()
    await again.start(trace.append)
    await until(trace, FactsWritten)
    assert trace.of(FactsWritten)[0].finish == "stored"
    assert "I like tea." in brain.asked[-1].messages[-1]["content"]
    assert [fact.text for fact in await again.facts.list()] == ["Alice likes tea"]
    await again.aclose()
    assert waiting(tmp_path) == 0


async def test_what_has_only_just_begun_to_be_written_is_kept_as_well(make: Make, tmp_path: Path) -> None:
    client = FakeClient()
    client.hold_add()
    middleware = make(client=client, await_write=False)
    await agent_with(middleware).reply("I like tea.")
    assert await middleware.aclose(0) >= 1
    assert waiting(tmp_path) == 1


async def test_what_was_being_written_when_a_program_was_killed_is_written_by_a_later_one(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    middleware, _, gate = await held_write(make, brain, "Alice likes tea")
    outbox = tmp_path / "mem0" / "outbox.db"
    left_by_the_killed = outbox.read_bytes()
    gate.open()
    assert await middleware.aclose(None) == 0
    assert waiting(tmp_path) == 0
    await middleware.facts.forget()
    await middleware.aclose()
    outbox.write_bytes(left_by_the_killed)
    with closing(sqlite3.connect(outbox)) as connection, connection:
        connection.execute("UPDATE outbox SET taken = taken - 3600")
    brain.will_extract(memories("Alice likes tea"))
    trace = Trace()
    later = make()
    await later.start(trace.append)
    await until(trace, FactsWritten)
    assert [fact.text for fact in await later.facts.list()] == ["Alice likes tea"]
    await later.aclose(None)
    assert waiting(tmp_path) == 0


async def test_after_the_last_write_nothing_else_is_waited_for(make: Make) -> None:
    """Without any limit on the time: were anything but the writes waited for, this would not end."""
    client = FakeClient()
    add = client.hold_add()
    middleware = make(client=client, await_write=False)
    agent = agent_with(middleware)
    await agent.reply("I like tea.")
    while not client.added():
        await asyncio.sleep(0.01)
    search = client.hold_search()
    searching = asyncio.create_task(middleware.search("tea"))
    closing_ = asyncio.create_task(middleware.aclose(None))
    add.set()
    assert await closing_ == 0
    assert written(agent)[0].finish == "stored"
    assert client.calls[-1][0] in ("add", "search")
    assert not search.is_set()
    searching.cancel()
    await asyncio.gather(searching, return_exceptions=True)
    assert {task.get_name() for task in asyncio.all_tasks()}.isdisjoint({"writing to mem0", "opening mem0"})


async def test_what_fails_is_kept_and_tried_again_at_every_start_but_not_for_ever(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    brain.will_extract("no", "no")
    agent = agent_with(make())
    await agent.reply("I like tea.")
    assert waiting(tmp_path) == 1
    for _ in range(MOST_TRIES + 2):
        brain.will_extract("no", "no")
        trace = Trace()
        middleware = make()
        await middleware.start(trace.append)
        await middleware.aclose(None)
    assert len(brain.asked) == 2 * MOST_TRIES
    assert trace.of(FactsWritten) == []
    assert waiting(tmp_path) == 1


async def test_a_retry_that_the_end_of_the_program_cuts_short_does_not_count(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    brain.will_extract("no", "no", "no", "no")
    middleware = make()
    for said in ("I like tea.", "I like coffee."):
        await agent_with(middleware).reply(said)
    await middleware.aclose()
    for _ in range(MOST_TRIES + 1):
        gate = Gate()
        brain.will_extract(reply(gate, text(memories())))
        middleware = make()
        await middleware.start(Trace().append)
        await gate.reached()
        assert await middleware.aclose(0) == 1
    brain.will_extract(memories("Alice likes tea"), memories("Alice likes coffee"))
    middleware = make()
    await middleware.start(Trace().append)
    await middleware.aclose(None)
    assert waiting(tmp_path) == 0
    assert len(await middleware.facts.list()) == 2


async def test_a_failed_write_is_tried_again_when_an_agent_replies(make: Make, brain: Brain, tmp_path: Path) -> None:
    brain.will_extract("no", "no")
    first = make()
    await agent_with(first).reply("I like tea.")
    await first.aclose()
    brain.will_extract(memories("Alice likes tea"))
    middleware = make(await_write=False)
    agent = agent_with(middleware)
    await agent.reply("Hello")
    await middleware.aclose(None)
    assert ("added", "Alice likes tea") in changes(agent)
    assert waiting(tmp_path) == 0


async def test_an_interruption_while_writing_does_not_stop_the_write(make: Make) -> None:
    client = FakeClient()
    gate = client.hold_add()
    agent = agent_with(make(client=client))
    replying = asyncio.create_task(agent.reply("I like tea."))
    await until(agent.trace, FactsWriteStarted)
    await cancel(replying)
    gate.set()
    await until(agent.trace, FactsWritten)
    assert written(agent)[0].finish == "stored"


async def test_a_locked_database_is_waited_for_while_everything_else_goes_on(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    """P06: another process holds a write transaction; the save waits, then succeeds, the UI alive."""
    brain.will_extract(memories("Alice likes tea"))
    middleware = make(await_write=False)
    agent = agent_with(middleware)
    await middleware.start()
    async with locked_elsewhere(tmp_path / "mem0" / "memory.db"):
        await agent.reply("I like tea.")
        while not brain.asked:
            await asyncio.sleep(0.01)
        assert await middleware.facts.search("tea") == []
        assert written(agent) == []
    await until(agent.trace, FactsWritten)
    assert written(agent)[0].finish == "stored"


async def test_after_the_limit_a_locked_database_is_a_notice_and_the_exchange_is_kept(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    """P06: the limit is reached."""
    brain.will_extract(memories("Alice likes tea"))
    middleware = make()
    await middleware.start()
    built = middleware.store.built
    assert built is not None
    assert built.store is not None
    built.store._writer.execute("PRAGMA busy_timeout = 10")
    agent = agent_with(middleware)
    with locked(tmp_path / "mem0" / "memory.db"):
        answer = await agent.reply("I like tea.")
    assert answer.get_text_content() == "Fine."
    (event,) = written(agent)
    assert event.finish == "failed"
    assert "keeps the memory's database locked" in event.detail
    assert waiting(tmp_path) == 1


async def test_160_calls_at_once_lose_nothing_and_fail_nowhere(make: Make, brain: Brain) -> None:
    numbers = iter(range(1000))

    def extract(request: Request) -> str:
        return memories(f"extracted fact {next(numbers)}")

    brain.will_extract(*[extract] * 20)
    middleware = make()
    agents = [agent_with(middleware, f"answer {number}") for number in range(20)]
    given = make(chat_model=None)
    _, add_given = await given.list_tools()
    work = [agent.reply(f"message {number}") for number, agent in enumerate(agents)]
    work += [add_given.call(thinking="", content=[f"given fact n{number}"]) for number in range(100)]  # type: ignore[misc]
    work += [middleware.search(f"fact n{number}") for number in range(40)]  # type: ignore[misc]
    results = await asyncio.gather(*work, return_exceptions=True)
    assert [one for one in results if isinstance(one, BaseException)] == []
    assert [event.finish for agent in agents for event in written(agent)] == ["stored"] * 20
    texts = {fact.text for fact in await middleware.facts.list()}
    assert texts == {f"given fact n{n}" for n in range(100)} | {f"extracted fact {n}" for n in range(20)}


_TERMINAL = """
import asyncio, sys
from memory.mem0 import Mem0Middleware

async def main():
    memory = Mem0Middleware(user_id="alice", data_dir=sys.argv[1])
    for number in range(10):
        await memory.facts.add(f"fact f{number} of terminal t{sys.argv[2]}")
        assert await memory.search(f"fact f{number}")
    await memory.aclose()

asyncio.run(main())
"""


async def test_two_terminals_use_one_memory_at_once(make: Make, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TERMINAL, str(tmp_path)]
    terminals = [subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE, text=True) for n in range(2)]
    here = make(embedding_model=None).facts
    for number in range(10):
        await here.add(f"fact f{number} of this terminal")
    assert [(await asyncio.to_thread(one.communicate))[1] for one in terminals] == ["", ""]
    assert len(await here.list()) == 30
    assert len([fact for fact in await here.search("terminal t1", 30) if "t1" in fact.text]) == 10


async def test_once_closed_nothing_of_it_runs_any_more(make: Make, brain: Brain) -> None:
    before = set(threading.enumerate())
    middleware = make()
    await agent_with(middleware).reply("I like tea.")
    mine = set(threading.enumerate()) - before
    assert {"mem0"} <= {thread.name.partition("_")[0] for thread in mine}
    await middleware.aclose()
    for thread in mine:
        if thread.name.startswith("mem0"):
            await asyncio.to_thread(thread.join)


async def test_a_closed_middleware_can_be_used_again(make: Make, brain: Brain) -> None:
    middleware = make()
    for fact in ("Alice likes tea", "Alice lives in Rome"):
        brain.will_extract(memories(fact))
        await agent_with(middleware).reply("Listen.")
        await middleware.aclose()
    assert len(await middleware.facts.list()) == 2
