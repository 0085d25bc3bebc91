"""The summary in the content pane: read, edited, removed with its marks, and brought back."""

from __future__ import annotations

import pytest

from agent_core.agent import Agent
from agent_core.event import PromptSent
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import UserMsg
from memory.working.in_memory import InMemoryMemory
from tests.tui.panes.harness import content_pane, driving
from tests.tui.views.events import agent_with
from tui.widgets.file_text import FileText

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
        assert "/compact makes one now." in driver.screen
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
        assert "undone: remove the summary (U does it again)" in driver.text(".pane-foot")
        await driver.press("U")
        assert agent.memory._compressed_summary == ""


async def edit(driver, text: str) -> None:
    """Open the summary, put this before it, and save."""
    await driver.press("s", "e")
    await driver.settle()
    driver.app.screen.query_one(FileText).insert(text, (0, 0))
    await driver.press("ctrl+s")
    await driver.settle()


async def test_it_is_edited_and_undo_takes_that_back():
    agent = await summarised()
    before = await agent.memory.entries()
    async with driving(agent, content_pane, (100, 40)) as driver:
        await edit(driver, "Mine [/x]. ")
        assert driver.rows.has_focus
        assert agent.memory._compressed_summary == "Mine [/x]. " + SUMMARY
        assert await agent.memory.entries() == before
        assert "edit the summary (u undoes it)" in driver.text(".pane-foot")
        await agent.reply("four")
        assert any("Mine [/x]." in str(part.text) for part in agent.trace.of(PromptSent)[-1].parts)
        await driver.press("u")
        assert agent.memory._compressed_summary == SUMMARY
        await driver.press("U")
        assert agent.memory._compressed_summary == "Mine [/x]. " + SUMMARY


async def test_an_empty_summary_is_not_saved_and_leaving_unchanged_changes_nothing():
    agent = await summarised()
    async with driving(agent, content_pane, (100, 40)) as driver:
        await driver.press("s", "e")
        await driver.settle()
        driver.app.screen.query_one(FileText).clear()
        await driver.press("ctrl+s")
        await driver.settle()
        assert "An empty summary tells the model nothing" in driver.screen
        await driver.press("escape", "y", "s", "e", "escape")
        assert driver.rows.has_focus
        assert agent.memory._compressed_summary == SUMMARY


@pytest.mark.parametrize("meanwhile", ["a newer one", ""])
async def test_what_has_become_of_it_meanwhile_is_not_lost_unasked(meanwhile: str):
    agent = await summarised()
    async with driving(agent, content_pane, (100, 40)) as driver:
        await driver.press("s", "e")
        await agent.memory.update_compressed_summary(meanwhile)
        await driver.press("x", "ctrl+s")
        await driver.settle()
        assert "Put this in its place?" in driver.screen
        await driver.press("n")
        assert agent.memory._compressed_summary == meanwhile
        await driver.press("ctrl+s")
        await driver.settle()
        await driver.press("y")
        await driver.settle()
        assert agent.memory._compressed_summary == "x" + SUMMARY


async def test_a_memory_that_cannot_keep_it_says_so_and_the_words_stay_to_be_copied():
    class Full(InMemoryMemory):
        async def update_compressed_summary(self, summary: str) -> None:
            if summary.startswith("Mine"):
                raise OSError("no room [/x]")
            await super().update_compressed_summary(summary)

    agent = await summarised(memory=Full())
    async with driving(agent, content_pane, (100, 40)) as driver:
        await edit(driver, "Mine. ")
        assert "no room [/x]" in driver.screen
        assert driver.app.screen.query_one(FileText).file_text == "Mine. " + SUMMARY


async def test_a_summary_that_is_switched_off_says_so():
    agent = await summarised()
    agent.memory_filter = MemoryFilter(prepend_summary=False)
    async with driving(agent, content_pane, (100, 40)) as driver:
        await driver.press("s")
        assert "✗ not sent: the summary is switched off" in driver.screen
