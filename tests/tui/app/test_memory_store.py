"""The app with `--memory`: what is said lies in the store, and the chat goes on when that fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from agent_core.event import MemoryChanged, ReplyEnded, StoreFailed, StoreRecovered
from agent_core.message import UserMsg
from memory.working.open import open_memory
from memory.working.sql import engine
from tests.databases import RedisServer
from tests.locked_file import locked
from tests.memory.working.other_process import finish, other_process
from tests.tui.app.harness import Driver
from tests.tui.app.kept import held, keeping
from tui.session_reader import read_session

pytestmark = pytest.mark.usefixtures("home")

TROUBLE = "memory not stored"
BACK = "The memory store is back"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A redis-server that the test may stop and start."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def url(tmp_path: Path) -> str:
    """An SQLite file."""
    return f"sqlite:///{tmp_path}/memory.db"


def status(driver: Driver) -> str:
    return next(line for line in driver.screen.splitlines() if "mode default" in line)


async def said(driver: Driver, text: str) -> None:
    """Say something, and wait for the whole answer."""
    ended = len(driver.agent.trace.of(ReplyEnded))
    await driver.say(text)
    await driver.until(lambda: len(driver.agent.trace.of(ReplyEnded)) > ended)
    await driver.rest()


# --- What is said lies in the store


async def test_what_is_said_lies_in_the_store_under_the_id_of_the_session(url: str) -> None:
    async with keeping(url) as driver:
        await driver.say("/mark tea")
        await said(driver, "hello")
        first = driver.main.runtime.session.id
        assert (await held(url, first))[0] == "hello tea"
        await driver.say("/new")
        await driver.until(lambda: driver.main.runtime.session.id != first)
        await driver.rest()
        await said(driver, "another")
        assert [text for text in await held(url, driver.main.runtime.session.id) if text == "another"]
        assert not [text for text in await held(url, first) if text == "another"]


async def test_resuming_finds_the_same_and_writes_nothing_that_is_known(url: str, home: Path) -> None:
    async with keeping(url) as driver:
        await said(driver, "hello")
        session = driver.main.runtime.session.id
    path = home / "data" / "mnemoscope" / "sessions" / f"{session}.jsonl"
    before = path.read_bytes()
    async with keeping(url, resume=session) as driver:
        await driver.see("hello")
    assert path.read_bytes() == before


async def test_resuming_appends_what_the_store_has_instead_as_one_change(url: str, home: Path) -> None:
    async with keeping(url) as driver:
        await said(driver, "hello")
        session = driver.main.runtime.session.id
        gone = [msg.id for msg in await driver.messages() if msg.role == "assistant"]
    async with open_memory(url, session) as other:
        await other.delete(gone)
        await other.add(UserMsg("ada", "said elsewhere"), marks="far")
    path = home / "data" / "mnemoscope" / "sessions" / f"{session}.jsonl"
    changes = sum(isinstance(one, MemoryChanged) for one in read_session(path).events)
    async with keeping(url, resume=session) as driver:
        await driver.see("hello", "said elsewhere", "1 message of this session is no longer in the memory store")
    content = read_session(path)
    assert sum(isinstance(one, MemoryChanged) for one in content.events) == changes + 1
    assert [(entry.msg.get_text_content(), entry.marks) for entry in content.entries] == [
        ("hello", ()),
        ("said elsewhere", ("far",)),
    ]


async def test_a_message_that_was_being_written_when_the_program_was_killed_is_written_by_the_next_run(
    url: str, home: Path
) -> None:
    """C02, P02: the session file has it and the store does not; nobody has deleted it."""
    async with keeping(url) as driver:
        await said(driver, "before")
        await said(driver, "cut off")
        session = driver.main.runtime.session.id
        cut_off = [msg.id for msg in await driver.messages()][2:]
    path = home / "data" / "mnemoscope" / "sessions" / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines) if b'"memory_changed"' in line and b"cut off" in line)
    path.write_bytes(b"".join(lines[: last + 1]))
    async with open_memory(url, session) as store:
        await store.delete(cut_off)
    async with keeping(url, resume=session) as driver:
        await driver.see("cut off", "Interrupted.")
        assert "no longer in the memory store" not in driver.screen
        assert BACK not in driver.screen
    assert (await held(url, session))[2:] == ["cut off"]


async def test_a_session_that_was_begun_without_a_store_is_taken_into_a_new_one(url: str, tmp_path: Path) -> None:
    async with keeping(url) as driver:
        await said(driver, "hello")
        session = driver.main.runtime.session.id
    other = f"sqlite:///{tmp_path}/other.db"
    async with keeping(other, resume=session) as driver:
        await driver.see("hello")
    assert await held(other, session) == await held(url, session)


async def test_a_session_whose_file_is_gone_or_never_was_comes_from_the_store(url: str) -> None:
    async with open_memory(url, "trip-1") as store:
        await store.add(UserMsg("ada", "from a program"), marks="plan")
    async with keeping(url, resume="trip-1") as driver:
        await driver.see("from a program")
        await said(driver, "hello")
    assert (await held(url, "trip-1"))[:2] == ["from a program plan", "hello"]


async def test_the_panes_follow_what_another_process_writes(url: str) -> None:
    async with keeping(url) as driver:
        await said(driver, "hello")
        await driver.press("f3")
        session = driver.main.runtime.session.id
        async with other_process(url, "default_user", session, "add", "ada", "2") as process:
            await finish(process)
        await driver.see("[ada]", "[all]")
        assert len([text for text in await held(url, session) if text.endswith(("ada", "all"))]) == 4


# --- A store that fails


async def goes_on_until_it_is_back(driver: Driver) -> None:
    """While the store fails the chat goes on, and a notice stays."""
    await said(driver, "meanwhile")
    await driver.see(TROUBLE)
    await said(driver, "and again")
    assert TROUBLE in status(driver)


async def test_a_server_that_is_stopped_in_mid_chat_and_started_again(server: RedisServer) -> None:
    async with keeping(server.url) as driver:
        await said(driver, "before")
        assert TROUBLE not in driver.screen
        server.stop()
        await driver.see("The chat goes on", TROUBLE)
        await goes_on_until_it_is_back(driver)
        server.start()
        await driver.see(BACK)
        assert TROUBLE not in status(driver)
        await said(driver, "after")
        everything = await driver.messages()
        assert len(await held(server.url, driver.main.runtime.session.id)) == len(everything)
        (failed,), (recovered,) = driver.agent.trace.of(StoreFailed), driver.agent.trace.of(StoreRecovered)
        assert failed.seq < recovered.seq


async def test_a_server_that_is_down_at_the_start(server: RedisServer) -> None:
    server.stop()
    async with keeping(server.url) as driver:
        await driver.see("is the server running?", TROUBLE)
        await goes_on_until_it_is_back(driver)
        server.start()
        await driver.see(BACK)
        assert "meanwhile" in await held(server.url, driver.main.runtime.session.id)


async def test_a_session_that_is_resumed_while_the_server_is_down_comes_from_its_file(server: RedisServer) -> None:
    async with keeping(server.url) as driver:
        await said(driver, "before")
        session = driver.main.runtime.session.id
    server.stop()
    async with keeping(server.url, resume=session) as driver:
        await driver.see("before", TROUBLE)
        await goes_on_until_it_is_back(driver)
        server.start()
        await driver.see(BACK)
        assert [one for one in await held(server.url, session) if one in ("before", "meanwhile")] == [
            "before",
            "meanwhile",
        ]


async def test_what_could_not_be_written_by_the_end_is_written_by_the_next_run(server: RedisServer) -> None:
    async with keeping(server.url) as driver:
        await said(driver, "before")
        server.stop()
        await said(driver, "meanwhile")
        runtime = driver.main.runtime
        count = len(await driver.messages()) - 2
    session = runtime.session.id
    assert runtime.last_words.startswith(f"{count} messages could not be written to the memory store")  # type: ignore[attr-defined]
    assert f"--resume {session}" in runtime.last_words  # type: ignore[attr-defined]
    server.start()
    assert "meanwhile" not in await held(server.url, session)
    async with keeping(server.url, resume=session) as driver:
        await driver.see("meanwhile", BACK)
        assert len(await held(server.url, session)) == len(await driver.messages()) == count + 2
    async with keeping(server.url, resume=session) as driver:
        assert len(driver.agent.trace.of(StoreRecovered)) == 1


async def test_a_new_session_while_the_store_fails_says_what_was_not_written(server: RedisServer) -> None:
    async with keeping(server.url) as driver:
        server.stop()
        await said(driver, "hello")
        await driver.say("/new")
        await driver.see("could not be written to the memory store", TROUBLE)


async def test_a_file_that_another_process_has_locked_is_waited_for_while_the_screen_is_alive(
    url: str, tmp_path: Path
) -> None:
    """P06: a write transaction elsewhere; what is said waits, then succeeds."""
    async with keeping(url) as driver:
        await said(driver, "before")
        with locked(tmp_path / "memory.db"):
            await driver.say("patience")
            await driver.until(lambda: driver.main.chat.is_working)
            await driver.paste("typed meanwhile")
            await driver.see("typed meanwhile")
            assert driver.main.chat.is_working
        await driver.rest()
        assert TROUBLE not in driver.screen
        assert "patience" in await held(url, driver.main.runtime.session.id)


async def test_a_file_that_stays_locked_is_told_and_written_later(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P06: after the limit a notice; the chat goes on."""
    monkeypatch.setattr(engine, "LOCK_TIMEOUT", 0.2)
    async with keeping(url) as driver:
        await said(driver, "before")
        with locked(tmp_path / "memory.db"):
            await said(driver, "meanwhile")
            await driver.see("is locked by another program", TROUBLE)
            await goes_on_until_it_is_back(driver)
        await driver.see(BACK)
        assert "meanwhile" in await held(url, driver.main.runtime.session.id)


async def test_a_disk_that_is_full_is_told_harms_nothing_and_is_written_to_later(url: str) -> None:
    """P12: what was stored stays, the chat goes on, the notice stays until there is room."""
    pages = [1_000_000]

    def limit(connection: Any, _record: object, _proxy: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA max_page_count={pages[0]}")
        cursor.close()

    event.listen(Pool, "checkout", limit)
    try:
        async with keeping(url) as driver:
            await said(driver, "before")
            session = driver.main.runtime.session.id
            pages[0] = 1
            await said(driver, "long " * 4000)
            await driver.see(TROUBLE)
            assert "the disk is full: free some space" in driver.agent.trace.of(StoreFailed)[0].error
            await goes_on_until_it_is_back(driver)
            assert (await held(url, session))[0] == "before"
            pages[0] = 1_000_000
            await driver.see(BACK)
            assert "meanwhile" in await held(url, session)
    finally:
        event.remove(Pool, "checkout", limit)


async def test_a_file_that_may_only_be_read_is_shown_and_not_written(url: str, tmp_path: Path) -> None:
    async with open_memory(url, "trip") as store:
        await store.add(UserMsg("ada", "from a program"))
    read_only = f"sqlite:///file:{tmp_path}/memory.db?mode=ro&uri=true"
    async with keeping(read_only, resume="trip") as driver:
        await driver.see("from a program")
        assert TROUBLE not in driver.screen
        await said(driver, "hello")
        await driver.see("it is read-only", TROUBLE)
    assert await held(url, "trip") == ["from a program"]


async def test_a_file_that_is_moved_away_and_put_back(url: str, tmp_path: Path) -> None:
    file, away = tmp_path / "memory.db", tmp_path / "away"
    async with keeping(url) as driver:
        await said(driver, "before")
        file.rename(away)
        await driver.see("is gone: put it back", TROUBLE)
        await goes_on_until_it_is_back(driver)
        assert not file.exists()
        away.rename(file)
        await driver.see(BACK)
        assert "meanwhile" in await held(url, driver.main.runtime.session.id)


async def test_a_store_of_another_version_is_refused_with_the_way_out_and_left_alone(url: str, tmp_path: Path) -> None:
    async with open_memory(url, "trip") as store:
        await store.add(UserMsg("ada", "from a program"))
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as database:
        database.execute("UPDATE mnemoscope_schema SET version = 99")
    async with keeping(url) as driver:
        await driver.see("was written by another version", TROUBLE)
        (failed,) = driver.agent.trace.of(StoreFailed)
        assert "schema 99" in failed.error
        assert "name another store" in failed.error
        await said(driver, "hello")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as database:
        assert database.execute("SELECT count(*) FROM mnemoscope_message").fetchall() == [(1,)]


async def test_leaving_while_the_file_is_locked_does_not_take_the_terminal_hostage(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LOCK_TIMEOUT", 0.2)
    async with keeping(url) as driver:
        await said(driver, "before")
        runtime = driver.main.runtime
        with locked(tmp_path / "memory.db"):
            await driver.say("meanwhile")
            await driver.until(lambda: len(driver.agent.trace.of(StoreFailed)))
            async with asyncio.timeout(60):
                await driver.main.quit()
                await runtime.aclose()
            assert "is locked by another program" in runtime.last_words  # type: ignore[attr-defined]
