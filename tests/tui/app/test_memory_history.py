"""The history of a memory in the app: who changed it, by what, and what it was used for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tui.app.harness import Driver
from tests.tui.app.kept import keeping

PROFILE = "user_profile.md"


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "data/mnemoscope/workdir/Memory"


async def test_a_user_edit_a_tool_write_an_outside_edit_and_an_injection_are_four_rows_with_their_origins(
    folder: Path,
) -> None:
    """X08."""
    async with keeping(None, size=(160, 50)) as driver:
        await driver.say("/mode accept_edits")
        await driver.say("remember that I live in Hangzhou")
        await driver.see("Saved")
        await driver.rest()
        await driver.press("f5")
        await driver.see("✓ user")
        await driver.press("e")
        await driver.see("I live in Hangzhou", "save")
        await driver.press("ctrl+end")
        await driver.paste("- I like cats\n")
        await driver.press("ctrl+s")
        file = folder / PROFILE
        await driver.until(lambda: changed_by(driver, file) == "user")
        file.write_text(file.read_text() + "- I like tea [/x]\n")
        await driver.until(lambda: changed_by(driver, file) == "outside")
        await driver.say("where do I live?")
        await driver.see("From memory")
        await driver.rest()
        await driver.press("f5", "h")
        screen = await driver.see(f"History of {PROFILE}", "3 changes, recalled 1 time in this session")
        rows = re.findall(r"\d\d-\d\d \d\d:\d\d  (recalled|outside|you|model) +(\w+)(.*)", screen)
        assert [(who, what) for who, what, _ in rows] == [
            ("recalled", "injected"),
            ("outside", "edit"),
            ("you", "edit"),
            ("model", "create"),
        ]
        assert "“where do I live?”" in rows[0][2]
        assert "“remember that I live in Hangzhou”" in rows[3][2]
        # Each with what it was, whole.
        await driver.press("down")
        await driver.see("+- I like tea [/x]")
        await driver.press("down")
        await driver.see("+- I like cats")


def changed_by(driver: Driver, file: Path) -> str:
    return driver.main.views.index.changed_by.get(str(file), "")
