"""Being asked about a tool call."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.events import Key

from agent_core.event import PermissionAnswered
from tests.agent_core.agents import Change, use
from tests.tui.app.harness import Driver, SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished, ToolCallDelta
from tui.widgets.approval_panel import ApprovalPanel


class ManyLines(Change):
    """Would change many lines."""

    name = "ManyLines"
    input_schema: ClassVar[dict[str, Any]] = Change.input_schema

    async def preview(self, arguments: dict[str, Any]) -> str:
        return "--- a\n+++ a\n@@ -1 +1 @@\n" + "\n".join(f"+line {number} [/x]" for number in range(60))


def panel(driver: Driver) -> ApprovalPanel:
    return driver.main.chat.query_one(ApprovalPanel)


async def go_to_question(driver: Driver) -> None:
    """Wait for the question, and move the focus there."""
    await driver.see("once", "always")
    if not panel(driver).has_focus:
        await driver.press("tab")
    await driver.until(lambda: panel(driver).is_armed)


def answers(driver: Driver) -> list[str]:
    return [f"{event.answer} {event.reason}".strip() for event in driver.agent.trace.of(PermissionAnswered)]


@pytest.mark.parametrize(("key", "answer", "done"), [("y", "once", ["x"]), ("a", "always", ["x"]), ("n", "no", [])])
async def test_a_key_answers(tmp_path: Path, key: str, answer: str, done: list[str]) -> None:
    tool = Change()
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[tool], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Allow Change? (it may change something)", "+x", "asks you")
        await go_to_question(driver)
        await driver.press(key)
        screen = await driver.see("Done.")
        assert "Allow Change?" not in screen
        assert answers(driver) == [answer]
        assert tool.done == done
        assert driver.prompt.has_focus


async def test_a_click_answers(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("once")
        await driver.pause()
        await driver.pilot.click(driver.main.chat.query("_Choice").last())
        await driver.see("Done.")
        assert answers(driver) == ["no"]


async def test_what_is_being_typed_is_neither_swallowed_nor_an_answer(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.press("y", "e")
        model.feed(ToolCallDelta("c1", "Change", '{"text": "x"}'), Finished("tool_calls"))
        await driver.see("Allow Change?", "tab or click to answer")
        await driver.press("s", "n", "a", "y")
        assert driver.prompt.text == "yesnay"
        assert answers(driver) == []


async def test_a_key_pressed_just_as_the_question_comes_up_goes_to_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.widgets.approval_panel.ARMING_SECONDS", 3600)
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Allow Change?")
        panel(driver).focus()
        await driver.press("y")
        await driver.until(lambda: driver.prompt.text == "y")
        assert driver.prompt.has_focus
        assert answers(driver) == []


async def test_other_letters_go_to_the_prompt(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await go_to_question(driver)
        await driver.press("w", "a", "i", "t")
        await driver.until(lambda: driver.prompt.text == "wait")
        assert answers(driver) == []


async def test_a_question_takes_the_focus_when_nobody_is_typing(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.until(lambda: driver.prompt.quiet_for > 1.0)
        model.feed(ToolCallDelta("c1", "Change", '{"text": "x"}'), Finished("tool_calls"))
        await driver.see("Allow Change?", "tab: back to the prompt")
        assert panel(driver).has_focus
        await driver.press("tab")
        assert driver.prompt.has_focus


async def test_escape_refuses_and_stops(tmp_path: Path) -> None:
    tool = Change()
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[tool], folder=tmp_path)) as driver:
        await driver.say("hi")
        await go_to_question(driver)
        await driver.press("escape")
        await driver.see("interrupted", "ready")
        assert answers(driver) == ["no interrupted"]
        assert tool.done == []
        assert not panel(driver).display


async def test_questions_come_one_after_the_other(tmp_path: Path) -> None:
    calls = [use("Change", "c1", "one"), use("Change", "c2", "two")]
    tool = Change()
    async with driving(SmallRuntime(calls, "Done.", tools=[tool], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("+one")
        await go_to_question(driver)
        await driver.press("y")
        await driver.see("+two")
        await go_to_question(driver)
        await driver.press("n")
        await driver.see("Done.")
        assert answers(driver) == ["once", "no"]
        assert tool.done == ["one"]


async def test_while_asked_the_chat_scrolls_the_change_scrolls_and_panes_can_be_seen(tmp_path: Path) -> None:
    runtime = SmallRuntime([use("ManyLines")], "Done.", tools=[ManyLines()], folder=tmp_path)
    await runtime.agent.observe([f"line {number} of the chat" for number in range(40)])
    async with driving(runtime) as driver:
        await driver.say("hi")
        await driver.see("+line 0 [/x]")
        await go_to_question(driver)
        for key in ["down", "down", "down"]:
            # As keys come that are held down: together, before anything is drawn.
            driver.app.post_message(Key(key, None))
        await driver.see("+line 9 [/x]")
        assert "+line 2 " not in driver.screen
        await driver.press("pageup", "pageup")
        await driver.see("line 33 of the chat", "once")
        await driver.press("f3")
        await driver.see("messages", "next prompt")
        await driver.press("f2")
        await driver.see("once")
        await go_to_question(driver)
        await driver.press("n")
        await driver.see("ready")


async def test_a_question_that_comes_right_after_sending_is_answered_without_looking_for_it(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("Change")], "Done.", tools=[Change()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("once", "always")
        await driver.until(lambda: panel(driver).is_armed)
        await driver.press("y")
        await driver.see("Done.")


async def test_the_answers_are_on_the_smallest_usual_screen(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("ManyLines")], "Done.", tools=[ManyLines()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Allow ManyLines?", "once", "always", "no")
