"""The facts pane over the real mem0 with its default store, and over clients that fail or hold everything up."""

import asyncio
import threading
from typing import Any

import pytest
from textual.widgets import Input

from agent_core.event import FactsWritten
from tests.fake_server import Gate, reply, text
from tests.memory.mem0.agents import agent_with
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make, brain, chat_model, embedding_model, make  # noqa: F401
from tests.memory.mem0.fakes import FakeClient
from tests.tui.panes.harness import Driver, PaneApp, driving, facts_pane
from tui.screens.reading import ReadingScreen
from tui.widgets.row_list import RowList


def shown(driver: Driver, id: str) -> list[str]:
    """What one of the two lists shows, blank lines left out."""
    rows = driver.app.pane.query_one(f"#{id}", RowList)
    return [line for y in range(rows.size.height) if (line := rows.render_line(y).text.rstrip())]


def turns(driver: Driver) -> list[str]:
    return shown(driver, "turns")


def listed(driver: Driver) -> list[str]:
    """The memories in the list: what stands behind their age."""
    return [line.rsplit("now  ", 1)[-1] for line in shown(driver, "memories")]


def heads(driver: Driver) -> str:
    return "\n".join(str(head.content) for head in driver.app.pane.query(".pane-head"))


class Store(FakeClient):
    """A client that lists what it is told, and in which any method fails or waits."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.listed: list[dict[str, Any]] = [{"id": text, "memory": text, "user_id": "alice"} for text in texts]
        self.blocked: threading.Event | None = None

    async def get_all(self, *, filters: dict[str, Any], **options: Any) -> Any:
        if self.blocked is not None:
            # A client that says it is asynchronous, and blocks its thread all the same.
            self.blocked.wait()
        self._fail()
        return {"results": self.listed}

    async def get(self, memory_id: str) -> Any:
        return next((one for one in self.listed if one["id"] == memory_id), None)

    async def delete(self, memory_id: str) -> None:
        self._fail()
        self.listed = [one for one in self.listed if one["id"] != memory_id]


async def test_what_was_searched_told_and_written_is_shown_for_each_reply(make: Make, brain: Brain) -> None:  # noqa: F811
    brain.will_extract(memories("I like green tea"))
    middleware = make()
    agent = agent_with(middleware)
    async with driving(agent, facts_pane, (90, 40)) as driver:
        assert "mem0 both · user alice · no reply yet" in heads(driver)
        assert "no memories yet (n adds one)" in heads(driver)
        await agent.reply("I like green tea")
        await driver.settle()
        first = turns(driver)
        assert first[0] == "› I like green tea"
        assert first[1].lstrip().startswith("○ searched in ")
        assert "✎ written (extracted by the model, " in first[2]
        assert first[3].strip() == "+ I like green tea"
        assert listed(driver) == ["I like green tea"]
        await agent.reply("Which tea do I like?")
        await driver.settle()
        second = turns(driver)
        assert second[0] == "› Which tea do I like?"
        assert "● told at round 1 after " in second[1]
        assert "1 found, 1 related, 1 to be told" in second[1]
        assert second[2].split()[:2] == ["1.00", "I"]
        assert "○ nothing new to keep" in second[3]
        await driver.press("shift+tab", "enter")
        assert isinstance(driver.app.screen, ReadingScreen)
        assert "told at round 1" in driver.screen


async def test_a_write_in_the_background_is_seen_until_it_is_over(make: Make, brain: Brain) -> None:  # noqa: F811
    gate = Gate()
    brain.will_extract(reply(gate, text(memories("I like tea"))))
    agent = agent_with(make(await_write=False))
    async with driving(agent, facts_pane) as driver:
        await agent.reply("I like tea")
        await gate.reached()
        await driver.settle()
        assert "⋯ writing for " in turns(driver)[-1]
        assert "1 being written" in heads(driver)
        over = asyncio.Event()
        agent.trace.subscribe(lambda event: over.set() if isinstance(event, FactsWritten) else None)
        gate.open()
        await over.wait()
        await driver.settle()
        assert "being written" not in heads(driver)
        assert turns(driver)[-1].strip() == "+ I like tea"
        assert listed(driver) == ["I like tea"]
        assert driver.app.pane._ticker is None


async def test_memories_are_added_changed_and_deleted_by_keys(make: Make) -> None:  # noqa: F811
    agent = agent_with(make())
    async with driving(agent, facts_pane, (90, 40)) as driver:
        await driver.press("n")
        await driver.type("I live in [/x] Oslo")
        assert listed(driver) == ["I live in [/x] Oslo"]
        assert turns(driver) == ["› by hand", "    ✎ written (by hand)", "      + I live in [/x] Oslo"]
        await driver.press("n")
        await driver.type("i live in [/x] OSLO")
        assert driver.app.told[-1] == "That is known already."
        await driver.press("e")
        line = driver.app.focused
        assert isinstance(line, Input)
        assert line.value == "I live in [/x] Oslo"
        await driver.type("I live in Rome")
        assert listed(driver) == ["I live in Rome"]
        await driver.press("h")
        assert "before: I live in [/x] Oslo" in driver.screen
        assert "after:  I live in Rome" in driver.screen
        await driver.press("escape", "d")
        assert "Delete “I live in Rome”?" in driver.screen
        await driver.press("n")
        assert listed(driver) == ["I live in Rome"]
        await driver.press("d", "y")
        assert listed(driver) == []
        assert "− I live in Rome  (deleted)" in turns(driver)[2]
        assert [event.how for event in agent.trace.of(FactsWritten)] == ["by_hand"] * 4


async def test_an_edit_that_changes_or_says_nothing_writes_nothing(make: Make) -> None:  # noqa: F811
    middleware = make()
    await middleware.facts.add("I like\ntea")
    agent = agent_with(middleware)
    async with driving(agent, facts_pane) as driver:
        await driver.press("e", "enter")
        await driver.press("e")
        await driver.type("  ")
        assert "A memory must say something" in driver.screen
        await driver.press("escape")
        assert agent.trace.of(FactsWritten) == []
        assert [fact.text for fact in await middleware.facts.list()] == ["I like\ntea"]


async def test_what_is_replaced_stays_visible_as_such(make: Make) -> None:  # noqa: F811
    middleware = make()
    await middleware.facts.add("I live in Oslo")
    await middleware.facts.add("I live in Rome")
    async with driving(agent_with(middleware), facts_pane) as driver:
        assert listed(driver) == ["I live in Rome", "[replaced] I live in Oslo"]
        assert "2 memories, newest first, 1 replaced" in heads(driver)
        await driver.press("down")
        assert "replaced by a newer one" in driver.text(".pane-foot")
        await driver.press("enter")
        assert "replaced by I live in Rome (" in driver.screen
        assert "hash" in driver.screen


async def test_searching_shows_scores_and_escape_lists_all_again(make: Make) -> None:  # noqa: F811
    middleware = make()
    for fact in ("I like tea", "My dog is called Rex", "I live in Hangzhou"):
        await middleware.facts.add(fact)
    async with driving(agent_with(middleware), facts_pane) as driver:
        await driver.press("slash")
        await driver.type("what is my dog called")
        assert "“what is my dog called”: 3 found in " in heads(driver)
        assert shown(driver, "memories")[0].split()[:2] == ["›", "1.00"]
        assert listed(driver)[0] == "My dog is called Rex"
        assert "shares" in driver.text(".pane-foot")
        await driver.press("enter")
        assert "score       1.000" in driver.screen
        await driver.press("escape", "escape")
        assert "3 memories, newest first" in heads(driver)
        assert "1.00" not in "\n".join(shown(driver, "memories"))


async def test_a_store_that_fails_is_a_line_in_the_pane_and_the_chat_goes_on(make: Make) -> None:  # noqa: F811
    """T05: an error with brackets in it."""
    store = Store("likes tea")
    store.will_fail(OSError("no [/x] store\nsecond line"))
    agent = agent_with(make(client=store))
    async with driving(agent, facts_pane) as driver:
        assert "no [/x] store (r: try again)" in heads(driver)
        await driver.press("r")
        assert listed(driver)[0].endswith("likes tea")
        assert "try again" not in heads(driver)
        store.will_fail(RuntimeError("it is [/] locked"))
        await driver.press("d", "y")
        assert "it is [/] locked" in heads(driver)
        assert len(listed(driver)) == 1
        await agent.reply("hello")
        await driver.settle()
        assert turns(driver)[0] == "› hello"


async def test_what_was_typed_is_not_lost_when_it_could_not_be_saved(make: Make) -> None:  # noqa: F811
    store = Store()
    async with driving(agent_with(make(client=store)), facts_pane) as driver:
        store.will_fail(OSError("no store"))
        await driver.press("n")
        await driver.type("I live in Oslo")
        assert "no store (what you typed stands there when you try again)" in heads(driver)
        await driver.press("n")
        assert isinstance(driver.app.focused, Input)
        assert driver.app.focused.value == "I live in Oslo"
        await driver.press("enter", "n")
        assert driver.app.focused.value == ""


async def test_a_client_that_blocks_does_not_hold_the_screen_up(make: Make) -> None:  # noqa: F811
    """D06: what calls itself asynchronous and blocks holds up neither keys nor the chat."""
    store = Store("likes tea")
    store.blocked = threading.Event()
    agent = agent_with(make(client=store, mode="agent_control"), "Hello.")
    app = PaneApp(agent, facts_pane)
    try:
        async with app.run_test() as pilot:
            driver = Driver(app, pilot)
            assert "opening the memory …" in heads(driver)
            await pilot.press("slash", "t")
            assert isinstance(app.focused, Input)
            assert app.focused.value == "t"
            await pilot.press("escape")
            assert (await agent.reply("hi")).get_text_content() == "Hello."
            assert listed(driver) == []
            store.blocked.set()
            await driver.settle()
            assert listed(driver)[0].endswith("likes tea")
    finally:
        store.blocked.set()


async def test_an_unknown_end_is_not_told_as_saved(make: Make) -> None:  # noqa: F811
    """D10: a store that answers nothing."""
    store = Store()
    store.will_answer(None)
    agent = agent_with(make(client=store))
    async with driving(agent, facts_pane) as driver:
        await agent.reply("I like tea")
        await driver.settle()
        assert "? not known whether it was kept" in turns(driver)[-1]


async def test_memories_without_ids_are_shown_and_cannot_be_changed(make: Make) -> None:  # noqa: F811
    store = Store()
    store.listed = [{"memory": "one"}, {"memory": "two"}]
    async with driving(agent_with(make(client=store)), facts_pane) as driver:
        assert len(listed(driver)) == 2
        for key in ("e", "d", "h"):
            await driver.press(key)
            assert "does not say the ids" in driver.app.told[-1]


async def test_keys_about_a_memory_do_nothing_while_the_replies_have_the_focus(make: Make) -> None:  # noqa: F811
    async with driving(agent_with(make(client=Store("one"))), facts_pane) as driver:
        await driver.press("shift+tab", "d", "e", "h")
        assert not driver.is_asking
        await driver.press("tab", "d")
        assert driver.is_asking


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 10), (80, 24), (200, 60)])
async def test_any_size_is_no_crash(make: Make, size: tuple[int, int]) -> None:  # noqa: F811
    """T22: tiny terminals. T06, T09: texts that would act on a terminal."""
    store = Store("日本語 🙂 \x1b[2J\u202e", "[/x]\nsecond line", "x" * 5000)
    agent = agent_with(make(client=store))
    async with driving(agent, facts_pane, size) as driver:
        await agent.reply("日本語の質問 \x1b[2J")
        await driver.press("down", "enter", "escape", "slash", "escape", "d", "n", "shift+tab", "enter", "escape")
        await driver.pilot.resize_terminal(120, 40)
        await driver.settle()
        assert "\x1b" not in driver.screen
        assert len(listed(driver)) == 3
