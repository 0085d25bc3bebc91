import asyncio
from pathlib import Path

import pytest

from agent_core.agent import Agent
from agent_core.event import ReplyEnded, ReplyStarted, RetrievalEnded, RetrievalStarted
from agent_core.message import AssistantMsg, HintBlock
from agent_core.middleware import MiddlewareBase
from agent_core.model.scripted_model import ScriptedChatModel
from memory import AgenticMemoryMiddleware, InMemoryMemory
from memory.agentic.manifest import SELECTION_SCHEMA
from tests.tui.panes.harness import driving, hints_pane
from tests.tui.views.events import agent_with
from tui.screens.reading import ReadingScreen

LIST = next(iter(SELECTION_SCHEMA["properties"]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Memory"
    folder.mkdir()
    (folder / "home.md").write_text("---\ndescription: Where the user lives\n---\nIn Hangzhou [/x].\nSince 2019.")
    return folder


def agent_in(folder: Path, *script, structured, grace: float | None = None, **options) -> Agent:
    parameters = AgenticMemoryMiddleware.Parameters(retrieval_async=grace is not None, retrieval_grace=grace or 0.0)
    memory = AgenticMemoryMiddleware(folder.parent, parameters=parameters)
    model = ScriptedChatModel(script, structured=structured)
    return Agent("helper", "", model, middlewares=[memory], memory=InMemoryMemory(), **options)


async def test_a_recalled_memory_is_told_with_its_round_time_line_file_and_reason(folder):
    agent = agent_in(folder, "In Hangzhou.", structured=[{LIST: ["home.md"]}])
    async with driving(agent, hints_pane) as driver:
        await agent.reply("Where do I live?\nTell me.")
        await driver.settle()
        assert driver.lines[0] == "› ▸ Where do I live?"
        assert driver.lines[1].startswith("    ● injected at round 1 after ")
        assert driver.lines[2].split()[0] == "rounds"
        assert "1" in driver.lines[2].split()[1]
        assert "┤" in driver.lines[2]
        assert driver.lines[3].split()[0] == "retrieval"
        assert "●" in driver.lines[3]
        assert driver.lines[4] == "    · home.md  chosen by scripted · from outside"


async def test_enter_unfolds_the_injected_text_and_opens_it_whole(folder):
    agent = agent_in(folder, "In Hangzhou.", structured=[{LIST: ["home.md"]}])
    async with driving(agent, hints_pane) as driver:
        await agent.reply("Where do I live?")
        await driver.settle()
        assert "In Hangzhou [/x]." not in driver.screen
        await driver.press("enter")
        assert driver.lines[0].startswith("› ▾")
        assert "    ┆ (came from outside: it was there before, or another program wrote it)" in driver.lines
        assert "    ┆ In Hangzhou [/x]." in driver.lines
        assert "    ┆ Since 2019." in driver.lines
        await driver.press("end", "enter")
        assert isinstance(driver.app.screen, ReadingScreen)
        assert "Since 2019." in driver.screen
        await driver.press("escape", "home", "enter")
        assert "In Hangzhou [/x]." not in driver.screen


async def test_the_newest_reply_stands_first_and_a_known_file_is_told(folder):
    structured = [{LIST: ["home.md"]}, {LIST: ["home.md"]}, {LIST: []}]
    agent = agent_in(folder, "one", "two", "three", structured=structured)
    async with driving(agent, hints_pane) as driver:
        for question in ("first?", "second?", "third?"):
            await agent.reply(question)
        await driver.settle()
        heads = [line.split("▸")[1].strip() for line in driver.lines if "▸" in line]
        assert heads == ["third?", "second?", "first?"]
        assert "○ nothing relevant" in driver.lines[1]
        assert "◐ already known: in the conversation already: home.md" in "\n".join(driver.lines)
        assert driver.rows.cursor == 0


async def test_a_failure_is_told_with_its_error(folder):
    """T05: an error with brackets in it."""
    agent = agent_in(folder, "one", structured=[RuntimeError("bad [/x]")])
    async with driving(agent, hints_pane) as driver:
        await agent.reply("hello?")
        await driver.settle()
        assert "✗ failed: " in driver.lines[1]
        assert "bad [/x]" in driver.lines[1]


async def test_while_it_runs_it_is_seen_to_run_and_what_is_late_goes_to_the_next_reply(folder):
    opened = asyncio.Event()
    asked = asyncio.Event()

    async def select(messages, schema):
        asked.set()
        await opened.wait()
        return {LIST: ["home.md"]}

    answering = asyncio.Event()

    async def answer(messages, tools):
        await answering.wait()
        return "I do not know."

    agent = agent_in(folder, answer, "In Hangzhou.", structured=[select, {LIST: []}], grace=0.0)
    async with driving(agent, hints_pane) as driver:
        reply = asyncio.create_task(agent.reply("Where do I live?"))
        await asked.wait()
        await driver.settle()
        assert "⋯ searching for" in driver.lines[1]
        answering.set()
        await reply
        await driver.settle()
        assert "» late: it goes on, for the next reply" in driver.lines[1]
        ended = asyncio.Event()
        agent.trace.subscribe(lambda event: ended.set() if isinstance(event, RetrievalEnded) else None)
        opened.set()
        await ended.wait()
        await driver.settle()
        assert "» found 1 file" in driver.lines[1]
        assert "waits for the next reply" in driver.lines[1]
        await agent.reply("And now?")
        await driver.settle()
        text = "\n".join(driver.lines)
        assert "also put in here: what was looked up for “Where do I live?”" in text
        assert "● late, carried over: injected at round 1 of a later reply" in text


async def test_the_head_shows_the_settings_and_a_reply_how_long_it_was_held_back(folder):
    agent = agent_in(folder, "In Hangzhou.", structured=[{LIST: ["home.md"]}], grace=5.0)
    async with driving(agent, hints_pane) as driver:
        assert driver.text(".pane-head") == "no reply yet · grace 5.0 s · carry on"
        await agent.reply("Where do I live?")
        await driver.settle()
        assert "of 5.0 s grace" in driver.lines[1]
        await driver.press("enter")
        assert driver.lines[2].startswith("    the first round was held back ")


async def test_replies_without_a_memory_say_that_nothing_was_looked_up():
    agent = agent_with("hello")
    async with driving(agent, hints_pane) as driver:
        assert "no reply yet" in driver.text(".pane-head")
        await agent.reply("hi [/x]")
        await driver.settle()
        assert driver.lines[0] == "› ▸ hi [/x]"
        assert driver.lines[1] == "    nothing was looked up"
        assert "1 reply" in driver.text(".pane-head")


class Whisper(MiddlewareBase):
    """Puts a hint in by itself, without any retrieval."""

    async def on_reply(self, agent, input_kwargs, next_handler):
        await agent.memory.add(AssistantMsg("whisper", [HintBlock("psst\nsecond", "me")]), marks="hint")
        async for event in next_handler(**input_kwargs):
            yield event


async def test_a_hint_that_another_middleware_put_in_is_shown_too():
    agent = agent_with("hello", middlewares=[Whisper()])
    async with driving(agent, hints_pane) as driver:
        await agent.reply("hi")
        await driver.settle()
        assert driver.lines[-1] == "    · hint from me"
        await driver.press("enter")
        assert driver.lines[-2:] == ["    ┆ psst", "    ┆ second"]


async def test_the_pane_draws_by_itself_only_while_a_reply_runs():
    agent = agent_with("hello")
    async with driving(agent, hints_pane) as driver:
        assert driver.app.pane._ticker is None
        await agent.reply("hi")
        await driver.settle()
        assert driver.app.pane._ticker is None


async def test_what_an_earlier_run_left_open_is_no_crash_and_does_not_run_on():
    agent = agent_with()
    agent.trace.append(ReplyStarted(agent="a", reply_id="r"))
    agent.trace.append(RetrievalStarted(retrieval_id="x", source="/m", question="where?", reply_id="r"))
    agent.trace.append(ReplyEnded(finish="interrupted", reply_id="gone"))
    async with driving(agent, hints_pane) as driver:
        assert "cut off: the program ended before it did" in "\n".join(driver.lines)
        await driver.press("enter", "end", "enter", "space")


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 10), (200, 60)])
async def test_any_size_is_no_crash(folder, size):
    """T22: tiny terminals."""
    agent = agent_in(folder, "In Hangzhou.", structured=[{LIST: ["home.md"]}])
    async with driving(agent, hints_pane, size) as driver:
        await agent.reply("日本語の質問 🙂?")
        await driver.press("enter", "end", "enter", "escape")
        await driver.pilot.resize_terminal(80, 24)
        await driver.settle()
        assert len(driver.lines) >= 5
