"""The facts pane in the app: there while mem0 is used, and only then."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.tui.app.harness import Driver, driving
from tui.config import load_settings
from tui.runtime import Runtime

pytestmark = pytest.mark.usefixtures("home")

# Read when mem0 is imported, by whichever test of this process comes first.
os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))


class StartedRuntime(Runtime):
    """The real one, but that it looks for no servers."""

    def __init__(self, **options: str) -> None:
        super().__init__(load_settings(options))
        self.started = asyncio.Event()

    async def start(self) -> None:
        await self.prepare()
        self.started.set()


@asynccontextmanager
async def running(size: tuple[int, int] = (100, 30), **options: str) -> AsyncIterator[Driver]:
    runtime = StartedRuntime(**options)
    try:
        async with driving(runtime, size) as driver:
            yield driver
    finally:
        await runtime.aclose()


async def add_by_hand(driver: Driver, fact: str) -> None:
    await driver.press("f7", "n")
    await driver.paste(fact)
    await driver.press("enter")


async def test_without_mem0_there_are_four_panes_and_its_key_says_how_to_switch_it_on() -> None:
    async with running((200, 60)) as driver:
        assert "F7" not in driver.screen.splitlines()[0]
        await driver.press("f7")
        await driver.told("mem0 is off: /mem0 both switches it on, or --mem0 both at the start")
        assert "Facts" not in driver.screen.splitlines()[0]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_with_mem0_there_is_a_fifth_pane_at_any_size(size: tuple[int, int]) -> None:
    async with running(size, mem0="both", user="ana") as driver:
        await driver.press("f7")
        await driver.see("F7 Facts", "mem0 both · user ana", "no memories yet (n adds one)")
        await driver.press("f1")
        await driver.see("Keys and commands")


async def test_it_comes_and_goes_and_changes_hands_while_the_app_runs() -> None:
    async with running((80, 24)) as driver:
        await driver.say("/mem0 both")
        await driver.see("F7 Facts")
        await add_by_hand(driver, "I like tea")
        await driver.see("1 memory, newest first", "I like tea", "by hand")
        await driver.say("/user ana")
        await driver.press("f7")
        assert "now  I like tea" not in await driver.see("user ana", "no memories yet")
        await driver.say("/mem0 agent_control")
        await driver.press("f7")
        await driver.see("mem0 agent_control")
        await driver.main.runtime.use_facts("off")
        driver.main.draw({"facts"})
        await driver.until(lambda: "F7" not in driver.screen)
        await driver.until(lambda: driver.prompt.has_focus)
        await driver.say("/mem0 static_control")
        await driver.press("f7")
        await driver.see("mem0 static_control", "user ana")


async def test_a_new_session_begins_with_the_memories_and_without_the_replies() -> None:
    async with running((120, 30), mem0="both") as driver:
        await add_by_hand(driver, "I like tea")
        await driver.see("by hand")
        await driver.say("/new")
        await driver.until(lambda: "by hand" not in driver.screen)
        await driver.press("f7")
        await driver.see("no reply yet", "now  I like tea")


async def test_forgetting_from_the_pane_asks_first_and_begins_anew_without_anything() -> None:
    async with running((120, 40), mem0="both") as driver:
        await add_by_hand(driver, "I like tea")
        await driver.see("now  I like tea")
        await driver.press("F")
        await driver.see("Forget everything about")
        await driver.press("n")
        await driver.see("now  I like tea")
        await driver.press("F")
        await driver.see("Forget everything about")
        await driver.press("y")
        await driver.see("Forgotten about")
        await driver.press("f7")
        assert "tea" not in await driver.see("no memories yet", "no reply yet")
