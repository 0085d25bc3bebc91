"""Deleting a memory for good takes what the memory store (`--memory`) tells of it out of that, too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agent_core.marks import Entry
from agent_core.message import AssistantMsg, Msg, ToolCallBlock, UserMsg
from memory.working.open import open_memory
from memory.working.state import content_to_json
from tests.contract.backends import STORES, store_url
from tests.tui.memory_command import Answer, Shell
from tests.tui.test_memory_command_for_good import holding
from tui.__main__ import main
from tui.opened_store import all_names
from tui.redaction import MARK
from tui.session_store import SessionStore

PLACE = "Hangzhou"
FACT = f"I live in {PLACE}"


def ask(shell: Shell, url: str, user: str, question: str) -> None:
    options = ["--memory", url, "--user", user, "--workdir", str(shell.workdir)]
    assert main(["ask", "--allow-writes", question, *options]) == 0


def delete(shell: Shell, url: str, capsys: pytest.CaptureFixture[str], name: str, *options: str) -> Answer:
    words = ["memory", "delete", name, "--for-good", *options, "--workdir", str(shell.workdir)]
    code = main(["--memory", url, *words])
    captured = capsys.readouterr()
    return Answer(code, captured.out, captured.err)


def state_of(entries: Sequence[Entry]) -> dict[str, Any]:
    return {"_compressed_summary": "", "content": content_to_json(entries)}


async def put(url: str, session: str, user: str, *messages: Msg, summary: str = "") -> None:
    async with open_memory(url, session, user) as memory:
        await memory.add(messages, "mine")
        await memory.update_compressed_summary(summary)


async def told(url: str, user: str) -> dict[str, str]:
    """All that the store holds of a user, session by session."""
    found = {}
    for names in await all_names(url):
        if names.user_id == user:
            async with open_memory(url, names.session_id, user) as memory:
                found[names.session_id] = json.dumps(await memory.export_state(), ensure_ascii=False)
    return found


@pytest.mark.parametrize("kind", STORES)
def test_nothing_of_it_is_left_in_the_store(
    shell: Shell, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    ana, ben, url = f"ana:*{uuid4().hex}", f"ben{uuid4().hex}", store_url(kind, tmp_path)
    ask(shell, url, ana, f"remember that {FACT}")
    ask(shell, url, ana, "where do I live?")
    write = json.dumps({"file_path": str(shell.folder / "user_profile.md"), "content": "the lake"})
    elsewhere = AssistantMsg("a", [ToolCallBlock("w1", "Write", write)])
    asyncio.run(put(url, "else where", ana, UserMsg("u", FACT), elsewhere, summary=f"They said: {FACT}."))
    asyncio.run(put(url, "silent", ana, UserMsg("u", "what is a lake?")))
    asyncio.run(put(url, "else where", ben, UserMsg("u", FACT)))
    before = asyncio.run(told(url, ana))
    assert sum(PLACE in session for session in before.values()) == 3
    capsys.readouterr()
    answer = delete(shell, url, capsys, "user_profile", "--json", "--user", ana)
    assert (answer.code, answer.err) == (0, "")
    (value,) = answer.values
    assert value["stored"]["sessions"] == 3
    assert value["stored"]["passages"] >= 6
    after = asyncio.run(told(url, ana))
    assert PLACE not in repr(after)
    assert "the lake" not in after["else where"]
    assert after["else where"].count(MARK) == 3
    assert after["silent"] == before["silent"]
    assert PLACE in repr(asyncio.run(told(url, ben)))
    # A session is the same there as in its own file, what was said in the replies that wrote it included.
    files = SessionStore(home / "data/mnemoscope/sessions")
    for info in files.list():
        opened = files.resume(info.id, shell.workdir)
        opened.file.close()
        assert after[info.id] == json.dumps(state_of(opened.entries), ensure_ascii=False)


def test_the_file_of_the_store_keeps_nothing_on_free_pages(
    shell: Shell, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = store_url("sqlite", tmp_path)
    ask(shell, url, "ana", f"remember that {FACT}")
    asyncio.run(put(url, "elsewhere", "ana", *(UserMsg("u", f"{FACT}. {number * 'x'}") for number in range(2_000))))
    assert holding(tmp_path)
    assert delete(shell, url, capsys, "user_profile", "--user", "ana").code == 0
    assert holding(tmp_path) == []


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:1/0", "sqlite:////proc/nothing/a.db", "postgresql://u:secret@127.0.0.1:1/x"]
)
def test_a_store_that_cannot_be_reached_is_named_and_nothing_is_deleted(
    shell: Shell, home: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    shell.put("tea.md", f"---\nname: tea\n---\n{FACT}\n")
    before = shell.tree()
    answer = delete(shell, url, capsys, "tea")
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "The memory store (--memory) may tell of it and cannot be searched" in answer.err
    assert "Nothing was deleted." in answer.err
    assert "secret" not in answer.err
    assert shell.tree() == before
