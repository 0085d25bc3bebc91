"""`mnemoscope ask --memory`."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.message import UserMsg
from memory.working.open import open_memory
from tests.contract.backends import STORES, store_url
from tests.tui.app.kept import held
from tests.tui.test_ask import run, sessions

pytestmark = pytest.mark.usefixtures("home")

NOBODY = "redis://:secret@127.0.0.1:1/0"


def only_session(home: Path) -> str:
    (session,) = sessions(home)
    assert session.header is not None
    return session.header.id


@pytest.mark.parametrize("name", STORES)
def test_the_messages_lie_in_the_store_and_the_next_question_goes_on_with_them(
    name: str, tmp_path: Path, home: Path
) -> None:
    url = store_url(name, tmp_path)
    first = run("--memory", url, "--user", "ada", "hello there")
    assert (first.returncode, first.stderr) == (0, b"")
    assert run("-c", "--memory", url, "--user", "ada", "and again").returncode == 0
    texts = asyncio.run(held(url, only_session(home), "ada"))
    assert len(texts) == 4
    assert texts[0] == "hello there"
    assert texts[2] == "and again"


def test_an_address_that_cannot_be_used_is_one_line() -> None:
    answer = run("--memory", "chat.db", "hello")
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert answer.stderr.count(b"\n") == 1
    assert b"sqlite:///FILE" in answer.stderr


def test_without_the_store_the_question_is_answered_and_what_is_not_written_is_told(home: Path) -> None:
    answer = run("--memory", NOBODY, "hello")
    assert answer.returncode == 0
    assert answer.stdout
    failed, unwritten = answer.stderr.decode().splitlines()
    assert "cannot be reached (connection refused): is the server running?" in failed
    assert "2 messages could not be written to the memory store" in unwritten
    assert f"--resume {only_session(home)}" in unwritten
    assert b"secret" not in answer.stderr


def test_what_one_question_could_not_write_the_next_one_does(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "later"
    url = f"sqlite:///{folder}/memory.db"
    assert b"could not be written" in run("--memory", url, "hello").stderr
    folder.mkdir()
    again = run("-c", "--memory", url, "again")
    assert again.stderr.decode() == "mnemoscope: The memory store is back; everything is written there.\n"
    texts = asyncio.run(held(url, only_session(home)))
    assert (texts[0], texts[2], len(texts)) == ("hello", "again", 4)


def test_a_session_of_the_store_that_has_no_file_is_gone_on_with(tmp_path: Path, home: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"

    async def fill() -> None:
        async with open_memory(url, "trip") as store:
            await store.add(UserMsg("ada", "from a program"))

    asyncio.run(fill())
    answer = run("--resume", "trip", "--memory", url, "--json", "hello")
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    assert "from a program" in json.dumps(events)
    assert only_session(home) == "trip"
    assert len(asyncio.run(held(url, "trip"))) == 3


@pytest.mark.parametrize(
    ("wish", "url"), [("nothing", "sqlite:///{}/memory.db"), ("nothing", NOBODY), ("../x", NOBODY)]
)
def test_a_session_that_nobody_has_is_told(wish: str, url: str, tmp_path: Path, home: Path) -> None:
    answer = run("--resume", wish, "--memory", url.format(tmp_path), "hello")
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"mnemoscope: No session begins with '{wish}'".encode())
    assert answer.stderr.count(b"\n") == 1
    assert not list((home / "data" / "mnemoscope").glob("sessions/*"))


def test_a_store_of_another_version_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    run("--memory", f"sqlite:///{file}", "hello")
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("UPDATE mnemoscope_schema SET version = 99")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = file.read_bytes()
    answer = run("--memory", f"sqlite:///{file}", "hello")
    assert b"schema 99" in answer.stderr
    assert file.read_bytes() == before
