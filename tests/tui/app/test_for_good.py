"""Deleting a memory for good in the Index pane: nothing of it is left anywhere, the open session included."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.tui.app.harness import Driver
from tests.tui.app.kept import keeping
from tui.__main__ import main
from tui.session import open_locked

FACT = "I live in Hangzhou"
WORD = b"Hangzhou"
FILE = "user_profile.md"


@pytest.fixture
def data(home: Path) -> Path:
    return home / "data/mnemoscope"


def holding(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and WORD in path.read_bytes()]


@pytest.fixture
def saved(data: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The session of an earlier run, in which the fact was saved."""
    main(["ask", "--allow-writes", f"remember that {FACT}"])
    capsys.readouterr()
    return next(iter(holding(data / "sessions")))


async def press_delete_for_good(driver: Driver) -> None:
    await driver.press("f5")
    await driver.see("✓ user")
    await driver.press("d")
    await driver.see("f: for good")
    await driver.press("f")


async def test_the_open_session_ends_is_erased_and_an_empty_one_begins(data: Path) -> None:
    async with keeping(None) as driver:
        await driver.say("/mode accept_edits")
        await driver.say(f"remember that {FACT}")
        await driver.see("Saved")
        await driver.rest()
        await driver.say("where do I live?")
        await driver.see("From memory")
        await driver.rest()
        before = driver.main.runtime.session.id
        assert len(holding(data)) > 3
        await press_delete_for_good(driver)
        await driver.see(f"Delete {FILE} for good", "an empty one begins. (y/n)")
        await driver.press("n")
        assert driver.main.runtime.session.id == before
        await press_delete_for_good(driver)
        await driver.see("(y/n)")
        await driver.press("y")
        await driver.see(f"Deleted {FILE} for good: history:", f"of {before}", "prompts: 1 line")
        assert driver.main.runtime.session.id != before
        assert "Hangzhou" not in driver.screen
        assert holding(data) == []
        await driver.press("up")
        assert driver.prompt.text == "where do I live?"
        await driver.press("up")
        assert WORD.decode() not in driver.prompt.text
        driver.prompt.set_text("")
        await driver.say("where do I live?")
        await driver.see("nothing about that")
        await driver.rest()
    assert holding(data) == []


async def test_a_session_that_does_not_tell_of_it_goes_on(data: Path, saved: Path) -> None:
    (data / "history.jsonl").write_text(json.dumps(f"remember that {FACT}") + "\n")
    async with keeping(None) as driver:
        before = driver.main.runtime.session.id
        await press_delete_for_good(driver)
        text = await driver.see("what 1 other session says of it", "Nothing brings it back. (y/n)")
        assert "begins" not in text
        await driver.press("y")
        await driver.told("is gone for good")
        assert driver.main.runtime.session.id == before
        await driver.see("no memory yet")
        assert holding(data) == []
        await driver.press("f2")
        await driver.see("prompts: 1 line")
        await driver.press("up")
        assert driver.prompt.text == ""


async def test_a_session_that_is_open_in_another_window_is_told_and_nothing_is_deleted(data: Path, saved: Path) -> None:
    handle = open_locked(saved)
    before = sorted(holding(data))
    try:
        async with keeping(None) as driver:
            await press_delete_for_good(driver)
            await driver.told(f"Session {saved.stem} is open in another window")
            assert sorted(holding(data)) == before
    finally:
        os.close(handle)


async def test_while_a_reply_runs_it_is_not_done(data: Path, saved: Path) -> None:
    async with keeping(None) as driver:
        await driver.say("remember that I like tea")
        await driver.see("waits for your answer")
        await press_delete_for_good(driver)
        await driver.told("A reply is running")
        assert holding(data)
