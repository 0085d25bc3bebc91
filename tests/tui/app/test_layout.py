"""What is seen at which size, and that no size does harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.app.harness import Driver, SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished
from tui.app import MnemoscopeApp


async def resize(driver: Driver, *sizes: tuple[int, int]) -> None:
    for size in sizes:
        await driver.pilot.resize_terminal(*size)
        await driver.pause()


async def test_it_lives_through_tiny_sizes_while_streaming(tmp_path: Path) -> None:
    """T22."""
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("hi")
        model.feed("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\nSome")
        await driver.see("Some")
        for size in ((10, 3), (1, 1), (2, 50), (300, 2), (80, 24)):
            model.feed(" more")
            await resize(driver, size)
        model.feed(" text.", Finished("stop"))
        await driver.see("❯ hi", "Title", "Some more more more more more text.", "ready", "F2 Chat")


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (99, 24), (200, 60)])
async def test_everything_can_be_opened_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path), size) as driver:
        await driver.say("hi")
        await driver.rest()
        await driver.press("f3", "f4", "f5", "f6", "f2", "f1", "escape", "ctrl+p", "escape", "slash", "m", "ctrl+u")
        await driver.say("/new")
        await driver.pause()
        assert driver.app.is_running


async def test_where_it_is_narrow_panes_are_tabs(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Hello.")
        await driver.press("f3")
        screen = await driver.see("next prompt")
        assert "❯ hi" not in screen
        await driver.press("escape")
        await driver.see("❯ hi")
        assert driver.prompt.has_focus


async def test_changing_the_size_loses_nothing(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Hello.")
        await driver.paste("half a thought")
        await driver.press("f4")
        await driver.see("agent sends")
        await resize(driver, (120, 30))
        await driver.see("Hello.", "half a thought", "agent sends")
        await resize(driver, (200, 60))
        await driver.see("Hello.", "half a thought", "agent sends", "next prompt", "no memory folder")
        await resize(driver, (80, 24))
        await driver.see("agent sends")
        await driver.press("f2")
        await driver.see("Hello.", "half a thought")


async def test_a_click_on_a_tab_leads_there(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        column = driver.screen.splitlines()[0].index("Content") + 2
        await driver.pilot.click(offset=(column, 0))
        await driver.see("next prompt")


async def test_sticky_marks_are_the_same_in_chat_and_filter(tmp_path: Path) -> None:
    async with driving(SmallRuntime("ok", folder=tmp_path), (120, 30)) as driver:
        await driver.press("f4")
        await driver.press("f2")
        await driver.say("/mark planning")
        await driver.see("marks what you say: [planning]", "next     planning")


async def test_the_status_line_is_there_at_eighty_columns(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.rest()
        status = driver.screen.splitlines()[-2]
        assert status.startswith(" ready · scripted · this machine · context ")
        assert "mode default" in status


async def test_a_pane_that_is_asked_for_before_there_are_any_is_shown_once_they_are_there(tmp_path: Path) -> None:
    runtime = SmallRuntime(folder=tmp_path)
    app = MnemoscopeApp(runtime)
    app.main.show_tab("index")
    async with app.run_test(size=(80, 24)) as pilot:
        driver = Driver(app, pilot)
        await driver.see("this agent has no memory folder")
