"""Changes in the content pane: shown before they happen, undone and done again."""

import pytest

from agent_core.agent import Agent
from agent_core.marks import COMPRESSED
from agent_core.message import UserMsg
from memory import InMemoryMemory
from tests.tui.panes.harness import content_pane, driving
from tests.tui.panes.memories import FiveMethods
from tests.tui.views.events import agent_with


async def shown(agent: Agent) -> list[str]:
    return [f"{msg.get_text_content()} {' '.join(marks)}".strip() for msg, marks in await agent.memory.entries()]


async def three(**options) -> Agent:
    agent = agent_with(**options)
    await agent.observe(UserMsg("alice", "one\nmore"), marks="planning")
    await agent.observe(UserMsg("alice", "two"), marks=["planning", "draft"])
    await agent.observe(UserMsg("alice", "three"))
    return agent


async def test_renaming_shows_which_messages_it_concerns_and_waits_for_a_yes():
    agent = await three()
    before = await shown(agent)
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "r")
        await driver.type("draft")
        for text in (
            "Rename planning to draft on 2 messages, ≈11 tokens; 1 of them already has draft?",
            "1 user alice: one",
            "2 user alice: two",
        ):
            assert text in driver.screen
        await driver.press("n")
        assert await shown(agent) == before
        await driver.press("r")
        await driver.type("draft")
        await driver.press("y")
        assert await shown(agent) == ["one\nmore draft", "two draft", "three"]
        assert "rename planning to draft on 2 messages (u undoes it)" in driver.text(".pane-foot")


async def test_renaming_to_the_same_name_asks_nothing():
    agent = await three()
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "r", "enter")
        assert not driver.is_asking


async def test_deleting_by_mark_shows_what_goes_and_only_that_goes():
    """What gets the mark while the question is open was not shown, and stays."""
    agent = await three()
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "D")
        assert "Delete all that is marked planning: 2 messages, ≈11 tokens?" in driver.screen
        await agent.observe("late", marks="planning")
        await driver.press("y")
        assert await shown(agent) == ["three", "late planning"]


async def test_deleting_by_mark_asks_which_where_the_message_has_none_or_several():
    agent = await three()
    async with driving(agent, content_pane) as driver:
        await driver.press("end", "D")
        assert "Delete all messages with which mark? planning draft  (enter" in driver.screen
        await driver.type("draft")
        assert "marked draft: 1 message" in driver.screen
        await driver.press("escape")
        await driver.press("up", "D")
        await driver.type("unknown")
        assert "No message is marked unknown; there is planning draft" in driver.screen
        await driver.press("escape")
        assert len(await shown(agent)) == 3


async def test_of_many_marks_the_first_are_named():
    agent = agent_with()
    await agent.observe("one", marks=[f"m{number}" for number in range(1, 31)])
    async with driving(agent, content_pane, (100, 24)) as driver:
        await driver.press("D")
        assert "which mark? m1 m2 m3 m4 m5 m6 m7 m8 …  (enter" in driver.screen
        await driver.type("m9x")
        assert "No message is marked m9x; there is m1 m2 m3 m4 m5 m6 m7 m8 …" in driver.screen


async def test_a_mark_is_taken_off_every_message_after_a_preview():
    agent = await three()
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "X")
        assert "Take planning off 2 messages, ≈11 tokens?" in driver.screen
        await driver.press("y")
        assert await shown(agent) == ["one\nmore", "two draft", "three"]


async def test_a_mark_is_taken_off_several_selected_messages_after_a_preview():
    agent = await three()
    await agent.memory.update_messages_mark(None, "draft")
    async with driving(agent, content_pane) as driver:
        await driver.press("a", "x")
        assert "Take planning off 2 messages" in driver.screen
        await driver.press("y")
        assert await shown(agent) == ["one\nmore", "two", "three"]


@pytest.mark.parametrize("text", ["[/x] [red]", "\x1b[2J\x07", "\u202eabc", "日本語" * 60, "a\tb\rc"])
async def test_a_preview_shows_text_of_any_kind_on_one_line(text):
    """T02, T06: markup and control sequences in what would be deleted."""
    agent = agent_with()
    await agent.observe([UserMsg("[/n]", text), UserMsg("b", "second")], marks="m")
    async with driving(agent, content_pane, (60, 20)) as driver:
        await driver.press("a", "d")
        assert "2 user b: second" in driver.screen
        assert "1 user [/n]: " in driver.screen
        assert not set(driver.screen) & set("\x1b\x07\u202e\r")


async def test_a_preview_of_many_messages_shows_the_first_and_says_how_many_more():
    agent = agent_with()
    await agent.observe([UserMsg("u", f"message {number}") for number in range(1, 31)])
    async with driving(agent, content_pane, (80, 24)) as driver:
        await driver.press("a", "d")
        assert "Delete 30 messages" in driver.screen
        assert "4 user u: message 4" in driver.screen
        assert "… and 26 more" in driver.screen


async def test_every_change_is_undone_and_done_again_in_turn_and_named():
    agent = await three()
    states = [await shown(agent)]
    async with driving(agent, content_pane) as driver:
        for key, answers in (("m", ["new"]), ("r", ["planning", "other"]), ("x", ["new"]), ("d", [])):
            await driver.press("home", key)
            for answer in answers:
                await driver.type(answer)
            if driver.is_asking:
                await driver.press("y")
            states.append(await shown(agent))
        assert len({tuple(state) for state in states}) == 5
        for state in reversed(states[:-1]):
            await driver.press("u")
            assert await shown(agent) == state
            assert "undone: " in driver.text(".pane-foot")
        for state in states[1:]:
            await driver.press("U")
            assert await shown(agent) == state
        assert "done again: delete 1 message (u undoes it)" in driver.text(".pane-foot")
        await driver.press("U")
        assert "there is nothing to do again" in driver.text(".pane-foot")
        assert driver.app.told == []


async def test_everything_is_deleted_and_comes_back_with_its_summary():
    agent = await three()
    before = await shown(agent)
    await agent.memory.update_compressed_summary("S")
    async with driving(agent, content_pane) as driver:
        await driver.press("C")
        assert "Delete everything, 3 messages, ≈17 tokens and the summary?" in driver.screen
        await driver.press("y")
        assert await shown(agent) == []
        assert agent.memory._compressed_summary == ""
        assert driver.text(".pane-foot") == "delete everything (u undoes it)"
        await agent.observe("meanwhile")
        await driver.press("u")
        assert sorted(await shown(agent)) == sorted([*before, "meanwhile"])
        assert agent.memory._compressed_summary == "S"
        await driver.press("U")
        assert await shown(agent) == ["meanwhile"]


async def test_with_nothing_to_undo_or_delete_that_is_said():
    async with driving(agent_with(), content_pane) as driver:
        await driver.press("u")
        assert driver.text(".pane-foot") == "there is nothing to undo"
        await driver.press("U", "C", "D")
        assert driver.text(".pane-foot") == "there is nothing to do again"
        assert driver.app.told == ["There is nothing to delete.", "There are no marks yet."]


async def test_a_memory_that_cannot_undo_says_so_before_and_when_asked():
    agent = await three(memory=FiveMethods())
    async with driving(agent, content_pane) as driver:
        assert "FiveMethods cannot change marks or undo" in driver.text(".pane-head")
        await driver.press("home", "d")
        assert "This memory cannot undo it." in driver.screen
        await driver.press("y", "u")
        assert driver.app.told == ["FiveMethods does not tell what it changes, so nothing can be undone"]


class NoWayBack(InMemoryMemory):
    """Tells what it changes, and yet cannot put messages back."""

    async def restore(self, entries):
        raise NotImplementedError("NoWayBack cannot put messages back")


async def test_a_memory_that_refuses_to_undo_is_told_and_the_step_is_kept():
    agent = await three(memory=NoWayBack())
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "d", "y", "u", "u")
        assert driver.app.told == ["NoWayBack cannot put messages back"] * 2


async def test_covered_messages_that_were_unmarked_by_hand_are_covered_again_on_undo():
    agent = await three()
    ids = [msg.id for msg, _ in await agent.memory.entries()]
    await agent.memory.update_messages_mark(COMPRESSED, msg_ids=ids[:2])
    await agent.memory.update_compressed_summary("S")
    async with driving(agent, content_pane) as driver:
        await driver.press("end", "X")
        await driver.type(COMPRESSED)
        await driver.press("y")
        assert "next prompt: 3 of 3" in driver.text(".pane-head")
        await driver.press("u")
        assert "next prompt: 1 of 3" in driver.text(".pane-head")
