"""Forgetting a user leaves nothing of them in any file, and everybody else's things where they are."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from memory.mem0.outbox import Outbox
from memory.working.open import open_memory
from tui.__main__ import main
from tui.config import load_settings
from tui.long_term_memory import close_facts, make_facts
from tui.prompt_history import PromptHistory
from tui.runtime import Runtime
from tui.session_purge import cut_session
from tui.session_reader import read_session
from tui.session_store import SessionStore
from tui.unsent import Unsent

os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))

PHRASE = "Zanzibarine"


@pytest.fixture
def data(home: Path) -> Path:
    return home / "data" / "mnemoscope"


def holding(folder: Path, phrase: str = PHRASE) -> list[str]:
    """The files whose bytes hold a phrase, free pages of databases included."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(folder)) for path in files if phrase.encode() in path.read_bytes())


def ask(*words: str, mem0: str = "both", user: str = "ana") -> int:
    return main(["ask", "--mem0", mem0, "--user", user, *words])


def facts(*words: str, user: str = "ana") -> int:
    return main(["facts", *words, "--user", user])


async def test_a_program_that_runs_forgets_its_own_session_and_begins_another(home: Path, data: Path) -> None:
    """D12: in the app, with the session open."""
    runtime = Runtime(load_settings({"mem0": "static_control", "user": "ana"}))
    await runtime.start()
    history = PromptHistory(runtime.history_path)
    history.add(f"Please remember that I live in {PHRASE}.")
    await runtime.agent.reply(f"Please remember that I live in {PHRASE}.")
    await runtime.finish_writing(60)
    await runtime.agent.reply("Where do I live?")
    before = runtime.session.id
    runtime.unsent.keep(Unsent(f"And the streets of {PHRASE}"))
    assert len(holding(data)) >= 5
    forgotten = await runtime.forget(history)
    assert forgotten.facts.memories == 1
    assert forgotten.prompts == 2
    assert [(cut.session_id, cut.is_gone) for cut in forgotten.sessions] == [(before, True)]
    assert runtime.session.id != before
    assert not await runtime.agent.memory.entries()
    assert history.older("") is None
    answer = await runtime.agent.reply("Where do I live?")
    assert PHRASE not in (answer.get_text_content() or "")
    await runtime.aclose(60)
    assert holding(data) == []


def test_nothing_is_left_in_any_file(home: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D12: a reset left the stored messages behind."""
    assert ask("hello", mem0="off") == 0
    assert ask(f"Please remember that I live in {PHRASE}") == 0
    assert ask("-c", "Where do I live?") == 0
    assert facts("add", f"{PHRASE} is an island of spices") == 0
    capsys.readouterr()
    assert facts("list", "--json") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert facts("delete", first["id"]) == 0
    put_aside(data)
    assert len(holding(data)) >= 6
    capsys.readouterr()
    assert facts("forget") == 2
    assert "--yes" in capsys.readouterr().err
    assert len(holding(data)) >= 6
    assert facts("forget", "--yes", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert holding(data) == []
    assert told["facts"]["memories"] == 1
    assert told["facts"]["history"] >= 2
    assert told["facts"]["waiting"] == 1
    assert (told["prompts"], told["copies"], told["is_log_emptied"]) == (1, 1, True)
    # The first session knew nothing of facts and is there still, up to where facts came in.
    (left,) = SessionStore(data / "sessions").list()
    assert left.title == "hello"
    assert facts("list") == 0
    assert "no facts about ana" in capsys.readouterr().out


def put_aside(data: Path) -> None:
    """Traces in the places that a single chat seldom leaves any in."""
    memory = make_facts(load_settings({"user": "ana"}))
    Outbox(data / "mem0" / "outbox.db", memory.store.name, "ana").put(
        [{"role": "user", "content": f"{PHRASE} again"}], "", "no model"
    )
    asyncio.run(close_facts(memory, 0))
    PromptHistory(data / "history.jsonl").add(f"Please remember that I live in {PHRASE}")
    PromptHistory(data / "history.jsonl").add("something else")
    (data / "mem0" / "memory.db.bad-20260101-000000").write_bytes(f"ana {PHRASE}".encode())
    (data / "mem0" / "memory.db.bad-20260101-000001").write_bytes(b"somebody's")
    with (data / "mnemoscope.log").open("a") as log:
        log.write(f"{PHRASE} could not be written\n")


def test_other_users_keep_everything(home: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("Please remember that I like Taiping tea", user="ben") == 0
    assert ask(f"Please remember that I live in {PHRASE}") == 0
    before = holding(data, "Taiping")
    assert facts("forget", "--yes") == 0
    assert holding(data) == []
    assert holding(data, "Taiping") == [name for name in before if "log" not in name]
    capsys.readouterr()
    assert facts("list", user="ben") == 0
    assert "Taiping" in capsys.readouterr().out


def test_a_session_is_cut_where_the_facts_came_in_and_can_be_gone_on_with(home: Path, data: Path) -> None:
    assert ask("My first question: what is 2 and 2?", mem0="off") == 0
    assert ask("-c", f"Please remember that I live in {PHRASE}") == 0
    (path,) = SessionStore(data / "sessions").paths()
    whole = path.read_bytes()
    cut = cut_session(path, "mem0:ana")
    assert cut is not None
    assert not cut.is_gone
    assert cut.said == {f"Please remember that I live in {PHRASE}"}
    assert whole.startswith(path.read_bytes())
    assert path.stat().st_mode & 0o777 == 0o600
    content = read_session(path)
    assert [entry.msg.role for entry in content.entries] == ["user", "assistant"]
    assert content.damaged == 0
    assert cut_session(path, "mem0:ana") is None
    assert ask("-c", "hello", mem0="off") == 0


def test_a_session_that_is_open_elsewhere_is_left_and_named(
    home: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(f"Please remember that I live in {PHRASE}") == 0
    store = SessionStore(data / "sessions")
    (path,) = store.paths()
    opened = store.resume(path.stem, "")
    capsys.readouterr()
    assert facts("forget", "--yes") == 1
    told = capsys.readouterr().out
    assert f"NOT forgotten: Session {path.stem} is open in another window" in told
    opened.file.close()
    assert facts("forget", "--yes") == 0
    assert holding(data) == []


def test_names_of_users_that_begin_alike_are_told_apart(home: Path, data: Path) -> None:
    assert ask(f"Please remember that I live in {PHRASE}", user="anabel") == 0
    assert facts("forget", "--yes", user="ana") == 0
    assert f"sessions/{SessionStore(data / 'sessions').paths()[0].name}" in holding(data)


def test_a_line_that_cannot_be_read_and_names_the_facts_is_cut_too(tmp_path: Path) -> None:
    path = tmp_path / "0a1b2c3d.jsonl"
    path.write_text('{"mnemoscope_session":1,"id":"0a1b2c3d"}\n{"type":"new_kind","source":"mem0:ana","x":"secret"}\n')
    cut = cut_session(path, "mem0:ana")
    assert cut is not None
    assert cut.is_gone
    assert not path.exists()


async def test_the_store_of_messages_loses_the_same_messages(home: Path, data: Path) -> None:
    url = f"sqlite:///{data}/chat.db"
    runtime = Runtime(load_settings({"mem0": "static_control", "user": "ana"}))
    await runtime.prepare()
    await runtime.agent.reply(f"Please remember that I live in {PHRASE}.")
    stored = open_memory(url, runtime.session.id, "ana")
    await stored.add([msg for msg, _ in await runtime.agent.memory.entries()])
    await stored.aclose()
    await runtime.aclose(60)
    settings = load_settings({"user": "ana", "memory": url})
    memory = make_facts(settings)
    from tui.forgetting import forget_everything

    forgotten = await forget_everything(settings, memory, PromptHistory(None))
    await close_facts(memory, 0)
    assert forgotten.stored == forgotten.messages > 0
    again = open_memory(url, runtime.session.id, "ana")
    assert await again.size() == 0
    await again.aclose()


def test_prompts_are_forgotten_in_the_file_and_by_who_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = PromptHistory(path)
    for text in ("one", "two", "one", "a\nb"):
        history.add(text)
    with path.open("a") as file:
        file.write('"torn\n')
    assert history.forget({"one", "a\nb"}) == 4
    assert path.read_text() == '"two"\n'
    assert history.older("") == "two"
    assert history.older("") is None
    assert PromptHistory(tmp_path / "none").forget({"x"}) == 0


def test_databases_keep_nothing_on_free_pages(home: Path, data: Path) -> None:
    for number in range(40):
        assert number or facts("add", f"{PHRASE} {'x' * 3000}") == 0
    assert facts("forget", "--yes") == 0
    for name in ("memory.db", "history.db"):
        with sqlite3.connect(data / "mem0" / name) as connection:
            assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        connection.close()
    assert holding(data) == []
