"""What is typed while the agent works, and stopping it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.errors import ModelUnreachable
from tests.tui.app.harness import Driver, SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished


@asynccontextmanager
async def working(folder: Path) -> AsyncIterator[tuple[Driver, FedModel]]:
    """The app while the reply to "one" waits for its model, which a test feeds."""
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=folder)) as driver:
        await driver.say("one")
        await driver.see("waiting for fed")
        yield driver, model


async def said(driver: Driver) -> list[str | None]:
    return [msg.get_text_content() for msg in await driver.messages() if msg.role == "user"]


async def test_what_is_typed_meanwhile_waits_and_is_sent_in_order(tmp_path: Path) -> None:
    async with working(tmp_path) as (driver, model):
        await driver.say("two")
        await driver.say("three")
        await driver.see("queued: two", "queued: three", "working, 2 queued")
        assert await said(driver) == ["one"]
        for answer in ("First.", "Second.", "Third."):
            model.feed(answer, Finished("stop"))
        screen = await driver.see("❯ three", "Third.", "ready")
        assert "queued" not in screen
        assert await said(driver) == ["one", "two", "three"]


async def test_escape_stops_the_reply_and_gives_back_what_waits(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("one")
        model.feed("So far")
        await driver.see("So far")
        await driver.say("two")
        await driver.say("three")
        await driver.press("h", "a", "l", "f")
        await driver.press("escape")
        await driver.see("— interrupted; /retry goes on", "ready")
        assert driver.prompt.text == "two\nthree\nhalf"
        assert [msg.get_text_content() for msg in await driver.messages()] == ["one", "So far"]


async def test_after_stopping_one_can_go_on_at_once(tmp_path: Path) -> None:
    async with working(tmp_path) as (driver, model):
        await driver.press("escape", "escape")
        await driver.say("two")
        model.feed("Yes.", Finished("stop"))
        await driver.see("Interrupted.", "❯ two", "Yes.", "ready")


async def test_up_takes_back_what_was_queued_last(tmp_path: Path) -> None:
    async with working(tmp_path) as (driver, _):
        await driver.say("two")
        await driver.say("three")
        await driver.press("up")
        assert driver.prompt.text == "three"
        screen = await driver.see("queued: two")
        assert "queued: three" not in screen


async def test_a_failure_gives_back_what_waits_instead_of_sending_it_after(tmp_path: Path) -> None:
    async with working(tmp_path) as (driver, model):
        await driver.say("two")
        model.feed(ModelUnreachable("No connection."))
        await driver.see("No connection.")
        await driver.rest()
        assert driver.prompt.text == "two"
        assert await said(driver) == ["one"]


async def test_ctrl_c_stops_the_reply_and_pressed_twice_in_rest_it_quits(tmp_path: Path) -> None:
    async with working(tmp_path) as (driver, _):
        await driver.press("ctrl+c")
        await driver.see("Interrupted.", "ready")
        await driver.press("ctrl+c")
        await driver.see("Press ctrl+c again to quit.")
        assert driver.app.is_running
        await driver.press("ctrl+c")
        await driver.until(lambda: not driver.app.is_running)
        assert driver.app.return_code == 0


async def test_quitting_keeps_what_streamed_so_far(tmp_path: Path) -> None:
    model = FedModel()
    runtime = SmallRuntime(model=model, folder=tmp_path)
    async with driving(runtime) as driver:
        await driver.say("one")
        model.feed("So far")
        await driver.see("So far")
        await driver.press("ctrl+q")
        await driver.until(lambda: not driver.app.is_running)
    assert [msg.get_text_content() for msg, _ in await runtime.agent.memory.entries()] == ["one", "So far"]


async def test_prompts_typed_before_come_back_with_up(tmp_path: Path) -> None:
    async with driving(SmallRuntime("1", "2", folder=tmp_path)) as driver:
        for text in ("first", "second"):
            await driver.say(text)
            await driver.rest()
        await driver.press("h", "a", "l", "f", "up")
        assert driver.prompt.text == "second"
        await driver.press("up")
        assert driver.prompt.text == "first"
        await driver.press("down", "down")
        assert driver.prompt.text == "half"
    async with driving(SmallRuntime("3", folder=tmp_path)) as driver:
        await driver.press("up")
        assert driver.prompt.text == "second"


async def test_up_moves_within_several_lines_first(tmp_path: Path) -> None:
    async with driving(SmallRuntime("1", folder=tmp_path)) as driver:
        await driver.say("before")
        await driver.rest()
        await driver.press("a", "ctrl+j", "b", "up")
        assert driver.prompt.text == "a\nb"
        await driver.press("up")
        assert driver.prompt.text == "before"
