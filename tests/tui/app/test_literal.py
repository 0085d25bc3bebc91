"""Whatever a text looks like, it is shown as it is and does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core.errors import ModelBadRequest
from agent_core.event import Noticed
from agent_core.message import AssistantMsg, HintBlock, TextBlock, ThinkingBlock
from tests.agent_core.agents import Change, Echo, use
from tests.tui.app.harness import SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished, ThinkingDelta

MARKUP = ("[/]", "[00]", "[#12]", "[/some/path]", "[bold]x[/]", '{"on": [true, false]}', "[link=x]y[/link]", "\\[x")


@pytest.mark.parametrize("text", MARKUP)
async def test_brackets_are_brackets_everywhere(tmp_path: Path, text: str) -> None:
    """T02: in what a person says, what the model says and thinks, a tool's arguments and result, marks and notices."""
    script = [[ThinkingBlock(f"t {text}"), TextBlock(f"m {text}"), use("Echo", text="r [/x]")], f"`e {text}`"]
    async with driving(SmallRuntime(*script, tools=[Echo()], folder=tmp_path), (200, 60)) as driver:
        driver.main.chat.marks = (f"k{text}",)
        await driver.press("ctrl+o")
        await driver.paste(f"u {text}")
        await driver.press("enter")
        await driver.rest()
        driver.agent.trace.append(Noticed(text=f"n {text}", level="warning"))
        hint = AssistantMsg("memory", [HintBlock(f"h {text}", source=f"memory:{text}.md")])
        await driver.agent.observe(hint)
        parts = [f"{letter} {text}" for letter in "utmenh"]
        await driver.see(*parts, f"recalled {text}.md", "echo r [/x]")
        driver.app.notify(text)
        await driver.until(lambda: text in driver.screen.splitlines()[-5:] or text in driver.screen)


async def test_a_message_of_the_moment_is_literal(tmp_path: Path) -> None:
    """T01."""
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        driver.app.notify('{"on": [true, false]} [/x] \x1b[2J', title="[/t]")
        await driver.see('{"on": [true, false]} [/x] ␛[2J', "[/t]")


async def test_reasoning_that_quotes_a_path_streams_in_a_character_at_a_time(tmp_path: Path) -> None:
    """T04."""
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("hi")
        for character in "see [/some/path]":
            model.feed(ThinkingDelta(character))
            await driver.pause()
        await driver.see("thinking: see [/some/path]")
        for character in "and [/other/path] too":
            model.feed(character)
            await driver.pause()
        model.feed(Finished("stop"))
        await driver.see("and [/other/path] too", "ready")


async def test_an_error_shows_its_brackets(tmp_path: Path) -> None:
    """T05."""
    async with driving(SmallRuntime(ModelBadRequest("bad key [/x] in [a]"), folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("✗ bad key [/x] in [a]")


async def test_the_question_about_a_call_is_literal(tmp_path: Path) -> None:
    runtime = SmallRuntime([use("Change", text="[/x] [bold]")], "ok", tools=[Change()], folder=tmp_path)
    async with driving(runtime) as driver:
        await driver.say("hi")
        await driver.see("+[/x] [bold]")


async def test_the_name_of_the_session_is_literal(tmp_path: Path) -> None:
    async with driving(SmallRuntime("ok", folder=tmp_path), (160, 24)) as driver:
        await driver.say("[/x] \x1b]0;title\x07")
        await driver.see("mode default · [/x] ␛]0;title␇")
