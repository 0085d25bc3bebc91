"""Forgetting a user in the store that keeps the messages, whichever it is and wherever its sessions were begun."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from agent_core.message import UserMsg
from memory.working.open import open_memory
from tests.contract.backends import STORES, store_url
from tests.databases import RedisServer
from tui.config import Settings, load_settings
from tui.forgetting import Forgotten, forget_everything
from tui.long_term_memory import close_facts, make_facts
from tui.prompt_history import PromptHistory
from tui.runtime import Runtime

os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))

PHRASE = "Zanzibarine"


async def chat(settings: Settings, *said: str) -> str:
    """Say something in a session of its own, and leave; its id."""
    runtime = Runtime(settings)
    await runtime.prepare()
    for text in said:
        await runtime.agent.reply(text)
    await runtime.aclose(60)
    return runtime.session.id


async def forget(settings: Settings) -> Forgotten:
    memory = make_facts(settings)
    try:
        return await forget_everything(settings, memory, PromptHistory(None))
    finally:
        await close_facts(memory, 0)


async def texts(url: str, session: str, user: str) -> list[str | None]:
    async with open_memory(url, session, user) as memory:
        return [msg.get_text_content() for msg in await memory.get_memory()]


async def store(url: str, session: str, user: str, text: str) -> None:
    async with open_memory(url, session, user) as memory:
        await memory.add(UserMsg("user", text))
        await memory.update_compressed_summary(text)


@pytest.mark.parametrize("kind", STORES)
async def test_sessions_that_were_begun_elsewhere_are_emptied(home: Path, tmp_path: Path, kind: str) -> None:
    """D12: rows of that user of which no file here tells."""
    ana, ben, url = f"ana:*{uuid4().hex}", f"ben{uuid4().hex}", store_url(kind, tmp_path)
    settings = load_settings({"user": ana, "memory": url, "mem0": "static_control"})
    plain = await chat(load_settings({"user": ana, "memory": url}), "hello")
    told = await chat(settings, f"Please remember that I live in {PHRASE}.")
    await store(url, "from/another: machine", ana, f"I live in {PHRASE}")
    await store(url, "from/another: machine", ben, f"Ben lives in {PHRASE}")
    forgotten = await forget(settings)
    assert not forgotten.left
    assert forgotten.stored >= 3
    assert [await texts(url, session, ana) for session in (told, "from/another: machine")] == [[], []]
    assert (await texts(url, plain, ana))[0] == "hello"
    assert len(await texts(url, "from/another: machine", ben)) == 2
    async with open_memory(url, "from/another: machine", ana) as memory:
        # Whoever has it open elsewhere must not take it for a store that wants to be filled.
        assert not await memory.begin_with([], "everything again")


async def test_the_file_of_the_store_keeps_nothing_on_free_pages(home: Path, tmp_path: Path) -> None:
    url = store_url("sqlite", tmp_path)
    settings = load_settings({"user": "ana", "memory": url, "mem0": "static_control"})
    for number in range(5):
        await store(url, f"elsewhere{number}", "ana", f"{PHRASE} {'x' * 9_000}")
    await chat(settings, f"Please remember that I live in {PHRASE}.")
    assert not (await forget(settings)).left
    held = b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
    assert PHRASE.encode() not in held
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
    connection.close()


async def test_redis_writes_its_file_anew(home: Path) -> None:
    server = RedisServer()
    server.start()
    try:
        await store(server.url, "elsewhere", "ana", PHRASE)
        assert PHRASE.encode() in server.files()
        assert not (await forget(load_settings({"user": "ana", "memory": server.url}))).left
        async with Redis.from_url(server.url) as client:
            while (await client.info("persistence"))["aof_rewrite_in_progress"]:
                await asyncio.sleep(0.01)
        server.stop()
        assert PHRASE.encode() not in server.files()
    finally:
        server.remove()


async def test_a_session_that_has_changed_its_user_is_found_under_the_first(home: Path, tmp_path: Path) -> None:
    url = store_url("sqlite", tmp_path)
    runtime = Runtime(load_settings({"user": "ana", "memory": url, "mem0": "static_control"}))
    await runtime.prepare()
    await runtime.use_facts(user="ben")
    await runtime.agent.reply(f"Please remember that I live in {PHRASE}.")
    await runtime.aclose(60)
    assert await texts(url, runtime.session.id, "ana")
    await forget(load_settings({"user": "ben", "memory": url}))
    assert await texts(url, runtime.session.id, "ana") == []


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "sqlite:////nowhere/at/all.db"])
async def test_a_store_that_cannot_be_reached_is_named(home: Path, url: str) -> None:
    await chat(load_settings({"user": "ana", "mem0": "static_control"}), f"Please remember that I live in {PHRASE}.")
    forgotten = await forget(load_settings({"user": "ana", "memory": url}))
    assert len(forgotten.sessions) == 1
    (line,) = forgotten.left
    assert line.startswith("messages in the memory store: ")


async def test_a_reader_that_keeps_old_pages_is_told_of(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.working.sql.engine.LOCK_TIMEOUT", 0.1)
    url = store_url("sqlite", tmp_path)
    await store(url, "elsewhere", "ana", PHRASE)
    reader = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM mnemoscope_message").fetchone() == (1,)
    forgotten = await forget(load_settings({"user": "ana", "memory": url}))
    reader.close()
    assert "being read by another program" in forgotten.left[0]
    assert await texts(url, "elsewhere", "ana") == []
    assert not (await forget(load_settings({"user": "ana", "memory": url}))).left
    assert PHRASE.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
