"""`mnemoscope marks`, in real processes, also beside one that has the session open."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.tui.test_cli import imported_by, run
from tui.config import load_settings
from tui.runtime import Runtime

pytestmark = pytest.mark.usefixtures("home")


async def open_session(*said: tuple[str, str], **options: str) -> Runtime:
    """A session that stays open, as in another terminal."""
    runtime = Runtime(load_settings(options))
    await runtime.prepare()
    for text, marks in said:
        await runtime.agent.observe(text, marks=marks.split() or None)
    return runtime


async def test_the_newest_session_here_is_compared_while_another_process_has_it_open() -> None:
    runtime = await open_session(("one", "planning"), ("two", "planning draft"), ("three", ""))
    answer = run("marks", "compare", "planning", "!draft")
    assert answer.stderr == b""
    assert answer.returncode == 0
    text = answer.stdout.decode()
    assert text.startswith(f"session {runtime.session.id}\n")
    assert "only A lets through: 1 message, ≈5 tokens\n   2 user  planning draft  two — filtered" in text
    await runtime.agent.observe("four", marks="planning")
    assert "4 user  planning  four" in run("marks", "compare", "planning", "").stdout.decode()
    await runtime.aclose()


async def test_what_is_damaged_in_a_session_is_said_beside_the_comparison() -> None:
    """P01."""
    runtime = await open_session(("one", "a"), ("two", ""))
    await runtime.aclose()
    with Path(str(runtime.session.path)).open("ab") as file:
        file.write(b"\0\n" * 3)
    answer = run("marks", "compare", "--json", "a", "")
    assert answer.stderr.startswith(b"mnemoscope: 1 damaged line of this session left out")
    assert len(answer.stdout.splitlines()) == 4


async def test_nothing_is_written_and_the_session_can_be_gone_on_with() -> None:
    runtime = await open_session(("one", "a"))
    await runtime.aclose()
    path = Path(str(runtime.session.path))
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(path.parent)))
    assert run("marks", "compare", "a", "!a", "--session", runtime.session.id[:4]).returncode == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(path.parent))) == before


async def test_json_is_one_value_a_line_the_filters_first() -> None:
    runtime = await open_session(("one\x1b[2J", "a"), ("two", "b"))
    await runtime.aclose()
    lines = run("marks", "compare", "--json", "a", "a !a").stdout.decode().splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["type"] for record in records] == ["filter", "filter", "message", "message"]
    assert {record["session"] for record in records} == {runtime.session.id}
    assert [(one["filter"], one["messages"]) for one in records[:2]] == [("a", 1), ("a !a", 0)]
    assert records[2]["second"] == {"passes": False, "reason": "filtered out by mark a"}
    assert records[3]["first"] == {"passes": False, "reason": "lacks mark a"}


async def test_a_contradiction_is_explained_and_text_cannot_act_on_the_terminal() -> None:
    """M10, T06."""
    runtime = await open_session(("one\x1b[2J\u202e [/x]", "a"))
    await runtime.aclose()
    text = run("marks", "compare", "a !a", "").stdout.decode()
    assert "a is both wanted and left out, and leaving out wins: nothing can pass" in text
    assert "one␛[2J" in text
    assert "[/x]" in text
    assert not set(text) & set("\x1b\u202e")


async def test_only_sessions_of_this_workdir_are_taken_by_themselves(tmp_path: Path) -> None:
    here = await open_session(("here", "a"), workdir=str(tmp_path / "here"))
    there = await open_session(("there", "a"), workdir=str(tmp_path / "there"))
    await there.aclose()
    await here.aclose()
    for name, runtime in (("here", here), ("there", there)):
        text = run("marks", "compare", "a", "b", "--workdir", str(tmp_path / name)).stdout.decode()
        assert runtime.session.id in text
        assert name in text
    named = run("marks", "compare", "a", "b", "--session", there.session.id, "--workdir", str(tmp_path / "here"))
    assert b"there" in named.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["compare", "a"], 2, "FILTER_B"),
        ([], 2, "ACTION"),
        (["compare", '"open', "b"], 1, "The first filter cannot be read: position 1: this quote is not closed"),
        (["compare", "a", '""'], 1, "The second filter cannot be read: position 1: a mark cannot be empty"),
        (["compare", "a", "b"], 1, "There is no session of"),
        (["compare", "a", "b", "--session", "zz"], 1, "No session begins with 'zz'"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(arguments: list[str], code: int, complaint: str) -> None:
    """M10 among them: an empty mark is refused."""
    answer = run("marks", *arguments)
    assert answer.returncode == code
    assert answer.stdout == b""
    last = answer.stderr.decode().splitlines()[-1]
    assert last.startswith("mnemoscope")
    assert complaint in last


async def test_it_imports_no_screen_and_no_model() -> None:
    runtime = await open_session(("one", "a"))
    await runtime.aclose()
    assert not imported_by("marks", "compare", "a", "b") & {"textual", "rich", "openai", "httpx", "mem0"}
