"""`mnemoscope facts`: what each action says, how it ends, and that nothing else is heard."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import memory.mem0.sqlite_file as sqlite_file
from memory.mem0 import building
from memory.search import Loaded
from tests.fake_server import FakeServer, serving_in_thread
from tui.__main__ import main

os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))

pytestmark = pytest.mark.usefixtures("home")


class Told:
    """What a command said, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def values(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def facts(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> Told:
        code = main(["facts", *words])
        out, err = capsys.readouterr()
        return Told(code, out, err)

    return run


@pytest.fixture
def wordy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedding model is installed."""
    monkeypatch.setattr(building, "load_bundled_embedder", lambda: Loaded(None, "nothing is installed"))


def test_a_fact_is_stored_found_changed_and_deleted(facts: Any) -> None:
    told = facts("add", "Ana", "is allergic to nuts")
    assert (told.code, told.out.split(":")[0], told.err) == (0, "Stored", "")
    again = facts("add", "Ana is allergic to nuts")
    assert (again.code, again.out.split(":")[0]) == (0, "Known already")
    (fact,) = facts("list", "--json").values
    assert (fact["text"], fact["user"]) == ("Ana is allergic to nuts", "default_user")
    assert "Ana is allergic to nuts" in facts("search", "which nuts?").out
    (found,) = facts("search", "nuts", "--json", "-n", "1").values
    assert found["score"] is not None
    assert facts("delete", fact["id"][:8]).out.startswith("Deleted: Ana is allergic to nuts")
    assert "There are no facts about default_user yet." in facts("list").out
    assert facts("list", "--json").out == ""
    happened = facts("history", fact["id"], "--json").values
    assert [one["event"] for one in happened] == ["add", "delete"]


def test_nothing_found_looks_unlike_nothing_said(facts: Any) -> None:
    assert (facts("search", "tea").code, facts("search", "tea").out) == (0, "Nothing was found.\n")
    empty = facts("search", " \t ")
    assert (empty.code, empty.out) == (2, "")
    assert "The question is empty" in empty.err
    assert facts("add", "  ").code == 2


@pytest.mark.parametrize("wanted", ["nosuch", "", "  ", "a b", "é", "'; drop table memories; --"])
@pytest.mark.parametrize("action", ["delete", "history"])
def test_an_id_that_is_not_there_is_told(facts: Any, action: str, wanted: str) -> None:
    told = facts(action, wanted)
    assert (told.code, told.out) == (1, "")
    assert "has no fact of the id" in told.err
    assert len(told.err.splitlines()) == 1


def test_the_beginning_of_an_id_must_be_of_one_fact(facts: Any) -> None:
    for number in range(20):
        facts("add", f"Fact number {number} of many")
    ids = [one["id"] for one in facts("list", "--json").values]
    shared = next(id_[0] for id_ in ids if sum(other[0] == id_[0] for other in ids) > 1)
    told = facts("delete", shared)
    assert told.code == 1
    assert "Several facts begin with" in told.err
    assert len(facts("list", "--json").values) == 20


@pytest.mark.parametrize("user", ["  ", "a b", "a\nb"])
def test_a_user_that_cannot_be_is_told_in_one_line(facts: Any, user: str) -> None:
    told = facts("--user", user, "list")
    assert (told.code, told.out) == (1, "")
    assert "must not" in told.err
    assert len(told.err.splitlines()) == 1


def test_users_see_their_own_facts_only(facts: Any) -> None:
    facts("add", "Ana likes tea", "--user", "ana")
    assert facts("list", "--user", "ben", "--json").values == []
    (fact,) = facts("--user", "ana", "list", "--json").values
    told = facts("delete", fact["id"], "--user", "ben")
    assert (told.code, "ben has no fact" in told.err) == (1, True)


def test_what_could_act_on_a_terminal_is_only_seen(facts: Any) -> None:
    facts("add", "red \x1b[31malert\x1b[0m and [bold]marks[/bold]")
    told = facts("list").out
    assert "\x1b" not in told
    assert "␛[31malert" in told
    assert "[bold]marks[/bold]" in told


def test_facts_of_another_embedding_model_are_told_with_the_way_out(
    facts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D05: told at the start, nothing is changed, and reindex mends it."""
    with serving_in_thread(FakeServer()) as server:
        monkeypatch.setenv("MNEMOSCOPE_EMBEDDING_MODEL", "e")
        monkeypatch.setenv("MNEMOSCOPE_EMBEDDING_BASE_URL", server.base_url)
        assert facts("add", "Ana likes tea").code == 0
        monkeypatch.delenv("MNEMOSCOPE_EMBEDDING_MODEL")
        for words in (["list"], ["search", "tea"], ["add", "more"], ["delete", "x"], ["forget", "--yes"]):
            told = facts(*words)
            assert told.code == 1
            assert "mnemoscope facts reindex" in told.err
        told = facts("reindex", "--json")
        assert (told.code, told.values[0]["embedded"]) == (0, 1)
        assert "Ana likes tea" in facts("search", "tea").out


@pytest.mark.usefixtures("wordy")
def test_without_an_embedding_model_words_are_searched_and_reindexing_is_refused(facts: Any) -> None:
    told = facts("add", "Ana likes tea")
    assert told.code == 0
    assert "searched by words only" in told.err
    assert "Ana likes tea" in facts("search", "tea").out
    refused = facts("reindex")
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (1, "", 1)


def test_a_dead_embedding_endpoint_is_told(facts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDING_MODEL", "e")
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    told = facts("search", "tea")
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
    assert "127.0.0.1:9" in told.err


def test_a_store_that_another_program_keeps_locked_is_told(
    facts: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D04: a second program holds it; once it lets go all is there."""
    facts("add", "Ana likes tea")
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.1)
    holder = sqlite3.connect(home / "data" / "mnemoscope" / "mem0" / "memory.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    told = facts("add", "more")
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
    assert "locked" in told.err
    holder.execute("ROLLBACK")
    holder.close()
    assert len(facts("list", "--json").values) == 1


def test_misuse_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["search"], ["dance"], ["search", "x", "-n", "0"], ["search", "x", "-n", "many"], ["delete"]):
        with pytest.raises(SystemExit) as ended:
            main(["facts", *words])
        assert ended.value.code == 2
        assert "usage:" in capsys.readouterr().err


def test_only_the_answer_is_heard_and_all_lies_in_the_data_folder(home: Path) -> None:
    """In a process of its own: mem0 says nothing, calls nobody, and leaves nothing elsewhere."""
    program = (
        "import socket, sys\n"
        "def refused(self, address, *rest):\n"
        "    assert self.family not in (socket.AF_INET, socket.AF_INET6), address\n"
        "    return real(self, address, *rest)\n"
        "real, socket.socket.connect = socket.socket.connect, refused\n"
        "from tui.__main__ import main\n"
        "sys.exit(any([main(['facts', *words.split('/')]) for words in sys.argv[1:]]))"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEM0_")}
    command = [sys.executable, "-c", program, "add/Ana likes tea", "search/tea", "forget/--yes"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) >= 3
    outside = [path for path in home.rglob("*") if path.is_file() and home / "data" not in path.parents]
    assert outside == []
    assert [path.name for path in (home / "data").iterdir()] == ["mnemoscope"]
