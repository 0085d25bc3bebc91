"""`/compact`: one sees that it works, can stop it, and has everything as before then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_core.message import UserMsg
from agent_core.model.base import StructuredReply
from agent_core.model.scripted_model import ScriptedChatModel
from tests.tui.app.harness import SmallRuntime, driving


class Summariser(ScriptedChatModel):
    """Takes its time to summarise."""

    def __init__(self) -> None:
        super().__init__(["ok"])
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def generate_structured(self, *arguments: Any, **options: Any) -> StructuredReply:
        self.asked.set()
        await self.may_answer.wait()
        return StructuredReply({"task_overview": "To count."})


async def talk(runtime: SmallRuntime) -> None:
    await runtime.agent.observe([UserMsg("user", text) for text in ("one", "two", "three", "four", "five")])


async def test_it_shows_that_it_works_and_then_what_it_did(tmp_path: Path) -> None:
    model = Summariser()
    runtime = SmallRuntime(model=model, folder=tmp_path)
    async with driving(runtime, (120, 40)) as driver:
        await talk(runtime)
        await driver.say("/compact")
        await driver.see("summarising 2 messages", "Esc stops")
        await driver.press("f3")
        await driver.see("summarising 2 messages, ≈10 tokens …")
        model.may_answer.set()
        await driver.see("2 older messages are summarised in", "summary of 2 messages", "“Task: To count.”")
        await driver.rest()


@pytest.mark.parametrize("pane", ["f2", "f3"])
async def test_escape_stops_it_and_nothing_has_changed(tmp_path: Path, pane: str) -> None:
    model = Summariser()
    runtime = SmallRuntime(model=model, folder=tmp_path)
    async with driving(runtime, (120, 40)) as driver:
        await talk(runtime)
        before = await driver.agent.memory.entries()
        await driver.say("/compact")
        await driver.until(model.asked.is_set)
        await driver.press(pane, "escape")
        await driver.see("Stopped: the conversation was not summarised")
        await driver.rest()
        assert "summarising" not in driver.screen
        assert await driver.agent.memory.entries() == before
        assert driver.agent.memory._compressed_summary == ""
        model.may_answer.set()
        await driver.say("/compact")
        await driver.see("2 older messages are summarised in")
