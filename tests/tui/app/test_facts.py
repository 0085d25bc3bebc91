"""mem0 in the app: its commands, and leaving while memories are being written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.app.harness import SmallRuntime, driving


class WritingRuntime(SmallRuntime):
    """Two memories are being written, until a test says that they are."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=folder)
        self.written = asyncio.Event()
        self.given_up = False
        self.tell: Callable[[int], None] = lambda remaining: None

    async def finish_writing(self, seconds: float, remaining: Callable[[int], None] | None = None) -> int:
        assert remaining is not None
        self.tell = remaining
        remaining(2)
        try:
            await self.written.wait()
        except asyncio.CancelledError:
            self.given_up = True
            raise
        return 0


async def test_the_end_waits_for_the_memories_and_counts_them(tmp_path: Path) -> None:
    runtime = WritingRuntime(tmp_path)
    async with driving(runtime) as driver:
        await driver.press("ctrl+q")
        await driver.see("writing 2 memories…", "Esc or ctrl+c leaves")
        runtime.tell(1)
        await driver.see("writing 1 memory…")
        runtime.written.set()
        await driver.until(lambda: not driver.app.is_running)
    assert driver.app.return_code == 0
    assert not runtime.given_up


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+q"])
async def test_who_presses_a_key_meanwhile_leaves_at_once(tmp_path: Path, key: str) -> None:
    runtime = WritingRuntime(tmp_path)
    async with driving(runtime) as driver:
        await driver.press("ctrl+c", "ctrl+c")
        await driver.see("writing 2 memories…")
        await driver.press(key)
        await driver.until(lambda: not driver.app.is_running)
    assert driver.app.return_code == 0
    assert runtime.given_up


async def test_mem0_and_its_user_are_shown_and_changed(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 30)) as driver:
        await driver.say("/mem0")
        await driver.told("mem0 is off")
        await driver.say("/mem0 sometimes")
        await driver.told("There is no such use of mem0: sometimes; there are off, static_control")
        await driver.say("/mem0 both")
        assert driver.main.runtime.settings.mem0 == "both"
        await driver.say("/user ana")
        await driver.told("Facts are those of ana")
        await driver.say("/user")
        await driver.until(lambda: driver.main.runtime.settings.user == "ana")


async def test_forgetting_is_asked_once_more_and_says_what_is_gone(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path), (120, 30)) as driver:
        await driver.say("hi")
        await driver.see("Hello.")
        await driver.say("/forget")
        await driver.see("Forget everything about default_user?", "(y/n)")
        await driver.press("n")
        await driver.see("Hello.")
        await driver.say("/forget")
        await driver.see("(y/n)")
        await driver.press("y")
        await driver.see("Forgotten about default_user: store: 3 facts")
        assert "Hello." not in driver.screen
