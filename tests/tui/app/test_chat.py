"""Chatting: what is said, how an answer streams in, what is folded."""

from __future__ import annotations

import re
from pathlib import Path

from textual.events import Key

from agent_core.errors import ModelUnreachable
from agent_core.marks import HINT
from agent_core.message import AssistantMsg, HintBlock, TextBlock
from tests.agent_core.agents import Broken, Change, Echo, use
from tests.tui.app.harness import SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished, ThinkingDelta, ToolCallDelta
from tui.widgets.answer import Answer
from tui.widgets.thinking import Thinking
from tui.widgets.tool_row import ToolRow


async def test_a_message_is_sent_and_answered(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello **there**.", folder=tmp_path)) as driver:
        assert "Type a message and press Enter" in driver.screen
        await driver.say("hi")
        screen = await driver.see("❯ hi", "Hello there.")
        assert "Type a message" not in screen
        assert driver.prompt.text == ""


async def test_an_answer_is_seen_while_it_streams(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("waiting for fed")
        model.feed("# Title\n\nSome **te")
        await driver.see("Title", "Some **te", "fed answers", "Esc stops")
        model.feed("xt** and")
        await driver.see("Some text and")
        model.feed(" an end.", Finished("stop"))
        screen = await driver.see("Some text and an end.", "ready")
        assert "Esc stops" not in screen
        assert len(driver.app.screen.query(Answer)) == 1


async def test_reasoning_is_folded_and_opens_with_a_key(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("hi")
        model.feed(ThinkingDelta("First I look at\nthe [/some/path]"))
        await driver.see("▸ thinking: the [/some/path]", "fed thinks")
        model.feed("Done.", Finished("stop"))
        screen = await driver.see("▸ thought", "Done.")
        assert "First I look at" not in screen
        driver.app.screen.query_one(Thinking).focus()
        await driver.press("enter")
        await driver.see("▾ thought", "  First I look at")
        await driver.press("space")
        await driver.see("▸ thought")


async def test_a_call_shows_how_it_went_and_behind_that_its_arguments_and_result(tmp_path: Path) -> None:
    turns = [[TextBlock("I look."), use("Echo", text="[/x]")], "Done."]
    async with driving(SmallRuntime(*turns, tools=[Echo()], folder=tmp_path)) as driver:
        await driver.say("hi")
        screen = await driver.see("▸ ✓ Echo [/x]  done in", "Done.")
        assert "arguments" not in screen
        await driver.press("ctrl+o")
        await driver.see("▾ ✓ Echo", "  arguments", "  text: [/x]", "  result", "  echo [/x]")
        await driver.press("ctrl+o")
        await driver.see("▸ ✓ Echo")


async def test_a_call_is_seen_while_it_is_written(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, tools=[Echo()], folder=tmp_path)) as driver:
        await driver.say("hi")
        model.feed(ToolCallDelta("c1", "Echo", '{"te'))
        await driver.see("▸ … Echo  is being written", "fed writes a call of Echo")


async def test_a_click_opens_a_row(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("Echo")], "Done.", tools=[Echo()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Done.")
        await driver.rest()
        await driver.pilot.click(ToolRow)
        await driver.see("▾ ✓ Echo", "echo x")


async def test_a_failing_tool_is_shown_as_such(tmp_path: Path) -> None:
    async with driving(SmallRuntime([use("Broken")], "Sorry.", tools=[Broken()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("▸ ✗ Broken x  failed", "Sorry.")


async def test_a_recalled_memory_is_one_slim_line(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Yes.", folder=tmp_path)) as driver:
        hint = AssistantMsg("memory", [HintBlock("Lives in [/Hangzhou].", source="memory:user_profile.md")])
        await driver.agent.observe(hint, marks=HINT)
        screen = await driver.see("▸ recalled user_profile.md")
        assert "Hangzhou" not in screen
        await driver.press("ctrl+o")
        await driver.see("  Lives in [/Hangzhou].")


async def test_a_failed_reply_says_why_keeps_what_was_said_and_can_be_tried_again(tmp_path: Path) -> None:
    error = ModelUnreachable("No connection to http://localhost:1. Is a server running there?")
    async with driving(SmallRuntime(error, "Now it works.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("❯ hi", "✗ No connection to http://localhost:1.", "/retry tries again", "ready")
        await driver.press("ctrl+r")
        await driver.see("Now it works.")
        assert [msg.get_text_content() for msg in await driver.messages()] == ["hi", "Now it works."]


async def test_there_is_nothing_to_try_again_after_a_complete_reply(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("Hello.")
        await driver.rest()
        await driver.say("/retry")
        await driver.told("There is nothing to try again")


async def test_the_chat_goes_on_after_a_failure(tmp_path: Path) -> None:
    async with driving(SmallRuntime(RuntimeError("bad key [/x] in [a]"), "Better.", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("RuntimeError: bad key [/x] in [a]")
        await driver.say("again")
        await driver.see("Better.")


async def test_what_was_changed_shows_as_a_diff(tmp_path: Path) -> None:
    runtime = SmallRuntime([use("Change", text="new")], "ok", tools=[Change()], folder=tmp_path)
    async with driving(runtime) as driver:
        await driver.say("hi")
        await driver.see("Allow Change?", "+new")


async def test_a_long_session_mounts_only_its_end_and_goes_back_on_demand(tmp_path: Path) -> None:
    runtime = SmallRuntime("Hello.", folder=tmp_path)
    for number in range(250):
        await runtime.agent.observe([f"question {number}", AssistantMsg("assistant", f"answer {number}")])
    async with driving(runtime) as driver:
        transcript = driver.main.chat.query_one("#transcript")
        await driver.see("answer 249")
        assert len(transcript.children) == 30
        while len(transcript.children) == 30:
            await driver.press("pageup")
        await driver.press("pageup")
        read = re.findall(r"❯ question \d+", driver.screen)
        assert read
        assert 30 < len(transcript.children) <= 90
        await driver.agent.observe("something new")
        await driver.rest()
        assert re.findall(r"❯ question \d+", driver.screen) == read
        await driver.say("and now")
        await driver.see("something new", "❯ and now", "Hello.")


async def test_a_page_key_that_is_held_down_scrolls_by_as_many_pages_as_it_comes_times(tmp_path: Path) -> None:
    runtime = SmallRuntime("Hello.", folder=tmp_path)
    await runtime.agent.observe([f"line {number} of the chat" for number in range(40)])
    async with driving(runtime) as driver:
        await driver.see("line 39 of the chat")
        transcript = driver.main.chat.query_one("#transcript")
        end, page = transcript.scroll_offset.y, transcript.scrollable_content_region.height
        for _ in range(2):
            driver.app.post_message(Key("pageup", None))
        await driver.until(lambda: transcript.scroll_offset.y == end - 2 * page)
