"""Undo, redo and the comparison of filters, from the prompt and from the panes."""

from __future__ import annotations

from pathlib import Path

from agent_core.mark_rules import MarkRule
from agent_core.marks import MemoryFilter
from agent_core.message import UserMsg
from tests.tui.app.harness import Driver, SmallRuntime, driving
from tests.tui.panes.memories import FiveMethods
from tui.config import Settings
from tui.screens.reading import ReadingScreen


async def marked(driver: Driver) -> None:
    await driver.agent.observe(UserMsg("user", "one"), marks="planning")
    await driver.agent.observe(UserMsg("user", "two"), marks=["planning", "draft"])


async def texts(driver: Driver) -> list[str | None]:
    return [msg.get_text_content() for msg in await driver.messages()]


async def test_what_was_deleted_in_the_pane_comes_back_from_the_prompt(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await marked(driver)
        await driver.press("f3")
        await driver.see("Content", "[planning] [draft]")
        await driver.press("a", "d")
        await driver.see("Delete 2 messages, ≈10 tokens?", "1 user: one")
        await driver.press("y")
        await driver.see("0 of 0 messages")
        await driver.say("/undo")
        await driver.told("Undone: delete 2 messages. /redo does it again.")
        assert await texts(driver) == ["one", "two"]
        await driver.say("/redo")
        await driver.told("Done again: delete 2 messages. /undo takes it back.")
        assert await texts(driver) == []
        await driver.say("/redo")
        await driver.told("There is nothing to do again.")


async def test_a_memory_that_cannot_undo_says_so_at_the_prompt(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path, memory=FiveMethods())) as driver:
        await driver.say("/undo")
        await driver.told("FiveMethods does not tell what it changes, so nothing can be undone.")


async def test_a_new_session_begins_with_nothing_to_undo(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await marked(driver)
        await driver.main.editor.delete([msg.id for msg in await driver.messages()])
        await driver.say("/new")
        await driver.until(lambda: driver.main.runtime.session.id == "2")
        await driver.pause()
        await driver.say("/undo")
        await driver.told("There is nothing to undo.")


async def test_two_filters_are_read_side_by_side(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await marked(driver)
        await driver.say("/compare planning | !draft")
        await driver.see("A  planning", "passes 2 messages", "B  !draft", "only A lets through: 1 message", "two")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, ReadingScreen))
        assert driver.agent.memory_filter == MemoryFilter()


async def test_one_filter_is_compared_with_the_applied_one(tmp_path: Path) -> None:
    """M10: a filter that contradicts itself is explained."""
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await marked(driver)
        driver.agent.memory_filter = MemoryFilter(exclude_mark="draft")
        await driver.say("/compare draft !draft")
        await driver.see("A  !draft", "B  draft !draft", "draft is both wanted and left out")


async def test_what_cannot_be_compared_is_told_with_its_place(tmp_path: Path) -> None:
    """M10."""
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say('/compare a | "b')
        await driver.told("/compare: position 5: this quote is not closed")
        await driver.say("/compare a | b | c")
        await driver.told("/compare takes two filters with a | between them")


async def test_in_the_filter_pane_d_compares_what_is_made_with_what_is_applied(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await marked(driver)
        await driver.press("f4")
        await driver.see("agent sends")
        await driver.press("d")
        await driver.told("This filter is the one applied")
        await driver.press("exclamation_mark", "d")
        await driver.see("A  everything", "B  !draft", "only A lets through: 1 message")


async def test_the_rules_and_what_they_did_can_be_seen(tmp_path: Path) -> None:
    runtime = SmallRuntime(folder=tmp_path, mark_rules=[MarkRule("a b", role="user", pattern=r"[/x] due\b")])
    async with driving(runtime, (120, 40)) as driver:
        await driver.agent.observe(UserMsg("user", "x due"))
        await driver.say("/rules")
        await driver.see("\"a b\": role user, pattern '[/x] due\\b'  (the mark is on 1 message)")
        await driver.press("escape", "f3")
        await driver.see("x due")
        await driver.press("enter")
        await driver.see("by rules    \"a b\" by role user, pattern '[/x] due\\b'")


async def test_without_rules_it_is_said_how_to_write_one(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await driver.say("/rules")
        await driver.see("There are no rules.", "[[mark_rules]]")


async def test_a_rule_that_was_switched_off_is_still_shown_and_says_why(tmp_path: Path) -> None:
    slow = MarkRule("slow", pattern="(a+)+$")
    runtime = SmallRuntime(folder=tmp_path, mark_rules=[slow])
    runtime.settings = Settings(mark_rules=(slow,))
    async with driving(runtime, (120, 40)) as driver:
        await driver.agent.observe("marked until then: aa")
        await driver.agent.observe("a" * 50 + "b")
        await driver.see("The rule that sets mark 'slow' is off now")
        await driver.say("/rules")
        await driver.see("off: its pattern took too long on a message")
        await driver.press("escape", "f3", "home", "enter")
        await driver.see("by rules    slow by pattern '(a+)+$'")
