"""The summary in the content pane: read, removed with its marks, and brought back."""

from __future__ import annotations

from agent_core.agent import Agent
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import UserMsg
from tests.tui.panes.harness import content_pane, driving
from tests.tui.views.events import agent_with

SUMMARY = "Summary of the conversation so far\n\nTask: count to [/x] ten\n\nState: at \x1b[2J three"


async def summarised(**options) -> Agent:
    agent = agent_with("hello", **options)
    await agent.observe([UserMsg("ana", "one"), UserMsg("ana", "two")], marks=["mine", COMPRESSED])
    await agent.observe(UserMsg("ana", "three"))
    await agent.memory.update_compressed_summary(SUMMARY)
    return agent


async def test_the_pane_shows_how_the_summary_begins_and_s_opens_it_whole_with_its_story():
    agent = await summarised()
    async with driving(agent, content_pane, (100, 40)) as driver:
        assert "summary of 2 messages" in driver.text(".pane-head")
        assert "“Task: count to [/x] ten State: at" in driver.text(".pane-head")
        await agent.reply("four")
        await driver.settle()
        await driver.press("s")
        for text in ("Task: count to [/x] ten", "State: at ␛[2J three", "prompt 1", "✓ sent"):
            assert text in driver.screen
        assert "\x1b" not in driver.screen
        await driver.press("c")
        assert "State: at" in driver.app.clipboard
        await driver.press("escape")
        assert driver.rows.has_focus


async def test_without_a_summary_s_says_why_there_is_none():
    async with driving(agent_with(), content_pane) as driver:
        await driver.press("s")
        assert "No summary" in driver.screen
        assert "one is made when the endpoint says that its window is full" in driver.screen


async def test_removing_it_brings_what_it_covers_back_and_undo_puts_it_over_them_again():
    agent = await summarised()
    before = await agent.memory.entries()
    async with driving(agent, content_pane, (100, 40)) as driver:
        assert "next prompt: 1 of 3" in driver.text(".pane-head")
        await driver.press("s", "d")
        await driver.settle()
        assert "What it covers is sent itself again: 2 messages, ≈10 tokens." in driver.screen
        assert "1 user ana: one" in driver.screen
        await driver.press("n")
        assert await agent.memory.entries() == before
        await driver.press("s", "d")
        await driver.settle()
        await driver.press("y")
        assert [marks for _, marks in await agent.memory.entries()] == [("mine",), ("mine",), ()]
        assert agent.memory._compressed_summary == ""
        assert "next prompt: 3 of 3" in driver.text(".pane-head")
        await driver.press("u")
        assert await agent.memory.entries() == before
        assert agent.memory._compressed_summary == SUMMARY
        assert driver.app.told == ["Undone: remove the summary. /redo does it again."]
        await driver.press("U")
        assert agent.memory._compressed_summary == ""


async def test_a_summary_that_is_switched_off_says_so():
    agent = await summarised()
    agent.memory_filter = MemoryFilter(prepend_summary=False)
    async with driving(agent, content_pane, (100, 40)) as driver:
        await driver.press("s")
        assert "✗ not sent: the summary is switched off" in driver.screen
