"""Sessions that were compacted: kept whole, listed, opened, compacted again."""

from __future__ import annotations

import json

import pytest

from tests.tui.test_cli import run
from tui.config import load_settings
from tui.runtime import Runtime

pytestmark = pytest.mark.usefixtures("home")


async def opened(resume: str | None = None) -> Runtime:
    runtime = Runtime(load_settings(), resume=resume)
    await runtime.prepare()
    return runtime


async def say(runtime: Runtime, *texts: str) -> None:
    for number, text in enumerate(texts):
        await runtime.agent.reply(text, marks=f"m{number}")


async def test_marks_order_and_summary_survive_compacting_saving_loading_and_compacting_again() -> None:
    """C10: I compress, save, load, compress again."""
    runtime = await opened()
    await say(runtime, "hello", "my cat is called Mimi", "what is two and two?", "thanks")
    known = None
    for round_number in range(3):
        assert await runtime.agent.compress_context()
        entries, summary = await runtime.agent.memory.entries(), runtime.agent.memory._compressed_summary
        assert any("compressed" in marks for _, marks in entries)
        assert summary
        if known is not None:
            assert [entry.msg.id for entry in entries][: len(known)] == known
        known = [entry.msg.id for entry in entries]
        await runtime.aclose()
        runtime = await opened(runtime.session.id)
        assert await runtime.agent.memory.entries() == entries
        assert runtime.agent.memory._compressed_summary == summary
        await say(runtime, f"again {round_number}", "and more", "and more still")
    await runtime.aclose()


async def test_a_compacted_session_is_listed_and_opens_by_its_id() -> None:
    """C18: I compact, quit, resume by id."""
    runtime = await opened()
    await say(runtime, "hello", "my cat is called Mimi", "what is two and two?", "thanks")
    assert await runtime.agent.compress_context()
    count = len(await runtime.agent.memory.entries())
    await runtime.aclose()
    (listed,) = [json.loads(line) for line in run("sessions", "--json").stdout.splitlines()]
    assert (listed["id"], listed["messages"]) == (runtime.session.id, count)
    answer = run("ask", "--resume", listed["id"], "hello again")
    assert answer.returncode == 0, answer.stderr
    (listed,) = [json.loads(line) for line in run("sessions", "--json").stdout.splitlines()]
    assert listed["messages"] > count
    again = await opened(listed["id"][:5])
    assert again.agent.memory._compressed_summary
    await again.aclose()


async def test_a_summary_that_was_removed_stays_removed() -> None:
    """C10, C18: what a person does to the summary is in the session as well."""
    runtime = await opened()
    await say(runtime, "hello", "my cat is called Mimi", "what is two and two?", "thanks")
    assert await runtime.agent.compress_context()
    from tui.panes.memory_editor import MemoryEditor

    await MemoryEditor(runtime.agent).remove_summary()
    await runtime.aclose()
    again = await opened(runtime.session.id)
    assert not again.agent.memory._compressed_summary
    assert not any("compressed" in marks for _, marks in await again.agent.memory.entries())
    await again.aclose()
