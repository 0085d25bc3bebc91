"""A memory of a user's own, with the five abstract methods and nothing more, in the app."""

from __future__ import annotations

from pathlib import Path

from tests.tui.app.harness import SmallRuntime, driving
from tests.tui.panes.memories import FiveMethods


async def test_the_chat_and_the_panes_work_and_what_needs_marks_says_that_it_cannot(tmp_path: Path) -> None:
    memory = FiveMethods()
    async with driving(SmallRuntime("First.", "Second.", folder=tmp_path, memory=memory), (120, 40)) as driver:
        await driver.say("/mark tea")
        await driver.say("hello")
        await driver.see("First.")
        await driver.rest()
        await driver.say("again")
        await driver.see("Second.")
        await driver.rest()
        assert [msg.get_text_content() for msg in memory.messages] == ["hello", "First.", "again", "Second."]
        await driver.press("f3")
        await driver.see("next prompt: 4 of 4 messages")
        await driver.press("home", "space", "m")
        await driver.paste("plan")
        await driver.press("enter")
        await driver.told("FiveMethods cannot change marks")
        await driver.press("escape", "f2")
        await driver.say("/filter plan")
        await driver.see("next prompt: 0 of 4 messages")
