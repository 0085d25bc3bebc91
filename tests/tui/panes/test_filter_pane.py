import pytest
from textual.widgets import Input

from agent_core.agent import Agent
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import AssistantMsg, UserMsg
from tests.tui.panes.harness import Driver, driving, filter_pane
from tests.tui.panes.memories import FiveMethods
from tests.tui.views.events import agent_with
from tui.panes.filter import FilterPane


async def three(agent: Agent) -> Agent:
    await agent.observe(UserMsg("alice", "one"), marks="planning")
    await agent.observe(AssistantMsg("helper", "two"), marks=["planning", "draft"])
    await agent.observe(UserMsg("alice", "three"))
    return agent


def shown(driver: Driver) -> list[str | None]:
    content = driver.app.views.content
    return [content.row(place).entry.msg.get_text_content() for place in content.shown]


def values(driver: Driver) -> list[str]:
    return [driver.app.pane.query_one(f"#{name}", Input).value for name in ("wanted", "unwanted")]


async def test_at_first_nothing_filters():
    async with driving(await three(agent_with()), filter_pane) as driver:
        assert "agent sends    everything\ncontent shows  everything" in driver.text(".pane-head")
        assert "passes 3 of 3 messages, ≈16 of ≈16 tokens" in driver.text("#notes")
        assert driver.lines == ["›       1  draft", "        2  planning"]


async def test_enter_wants_a_mark_and_only_the_view_is_narrowed():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("down", "enter")
        assert "content shows  planning  (view only)" in driver.text(".pane-head")
        assert "agent sends    everything" in driver.text(".pane-head")
        assert "not applied" in driver.text("#notes")
        assert "passes 2 of 3 messages, ≈10 of ≈16 tokens" in driver.text("#notes")
        assert driver.lines[1] == "› ✓     2  planning"
        assert values(driver) == ["planning", ""]
        assert shown(driver) == ["one", "two"]
        assert agent.memory_filter == MemoryFilter()
        await driver.press("enter")
        assert shown(driver) == ["one", "two", "three"]


async def test_an_exclamation_mark_leaves_a_mark_out():
    async with driving(await three(agent_with()), filter_pane) as driver:
        await driver.press("exclamation_mark")
        assert values(driver) == ["", "draft"]
        assert shown(driver) == ["one", "three"]


async def test_a_applies_and_c_clears():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("down", "enter", "a")
        assert agent.memory_filter == MemoryFilter("planning")
        assert "agent sends    planning\ncontent shows  everything" in driver.text(".pane-head")
        assert "not applied" not in driver.text("#notes")
        assert "sends 2 messages, ≈10 tokens; not: 1 lacks mark planning" in driver.text("#notes")
        assert shown(driver) == ["one", "two", "three"]
        await driver.press("c")
        assert agent.memory_filter == MemoryFilter()
        assert values(driver) == ["", ""]


async def test_v_looks_through_what_is_applied_and_back():
    agent = await three(agent_with())
    agent.memory_filter = MemoryFilter("draft")
    async with driving(agent, filter_pane) as driver:
        assert values(driver) == ["draft", ""]
        await driver.press("v")
        assert shown(driver) == ["two"]
        await driver.press("v")
        assert len(shown(driver)) == 3


async def test_typing_is_followed_letter_by_letter_and_completed():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("e", "p", "l")
        assert "passes 0 of 3 messages" in driver.text("#notes")
        await driver.press("tab")
        assert shown(driver) == ["one", "two"]
        await driver.press("enter")
        assert driver.rows.has_focus
        assert values(driver) == ["planning", ""]
        await driver.press("e", "escape")
        assert driver.rows.has_focus


async def test_what_is_written_wrongly_is_explained_and_changes_nothing():
    """M10: an error names the position."""
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("e")
        await driver.type('"plan')
        assert "position 1: this quote is not closed" in driver.text("#notes")
        assert agent.memory_filter == MemoryFilter()
        assert isinstance(driver.app.focused, Input)
        await driver.type('"planning"')
        assert "position" not in driver.text("#notes")
        assert shown(driver) == ["one", "two"]


async def test_wanting_and_leaving_out_the_same_mark_is_explained():
    """M10: include and exclude the same mark gives an empty result that is explained."""
    async with driving(await three(agent_with()), filter_pane) as driver:
        await driver.press("e")
        await driver.type("draft")
        driver.app.pane.query_one("#unwanted").focus()
        await driver.settle()
        await driver.type("draft")
        assert "draft is both wanted and left out, and leaving out wins: nothing can pass" in driver.text("#notes")
        assert shown(driver) == []


@pytest.mark.parametrize("mark", ["[/x]", "a,b", "two words", "!no", "🙂", 'say "hi"', "\x1b[2J"])
async def test_a_mark_of_any_name_can_be_wanted_applied_and_left_out(mark):
    """T02, T06, M10: marks with brackets, commas, blanks, quotes, emoji, control characters."""
    agent = agent_with()
    await agent.observe("one", marks=mark)
    await agent.observe("two")
    async with driving(agent, filter_pane) as driver:
        await driver.press("enter", "a")
        assert agent.memory_filter == MemoryFilter(mark)
        assert "\x1b" not in driver.screen
        await driver.press("exclamation_mark", "a")
        assert agent.memory_filter == MemoryFilter(None, mark)


async def test_s_and_a_click_switch_the_summary():
    agent = await three(agent_with())
    ids = [msg.id for msg, _ in await agent.memory.entries()]
    await agent.memory.update_messages_mark(COMPRESSED, msg_ids=ids[:1])
    await agent.memory.update_compressed_summary("they counted")
    async with driving(agent, filter_pane) as driver:
        assert "sends 2 messages, ≈11 tokens; not: 1 covered by the summary" in driver.text("#notes")
        assert driver.text("#summary").startswith("on")
        await driver.press("s", "a")
        assert agent.memory_filter == MemoryFilter(prepend_summary=False)
        assert "sends 3 messages, ≈16 tokens" in driver.text("#notes")
        assert driver.text("#summary").startswith("off")
        assert "agent sends    everything, without the summary" in driver.text(".pane-head")
        await driver.pilot.click("#summary")
        await driver.settle()
        assert driver.text("#summary").startswith("on")


async def test_a_filter_that_is_applied_elsewhere_is_seen():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        agent.memory_filter = MemoryFilter(("planning", "a b"), "draft")
        await driver.settle()
        assert values(driver) == ['planning "a b"', "draft"]
        assert 'agent sends    planning "a b" !draft' in driver.text(".pane-head")


async def test_counts_follow_what_is_stored_and_marked():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("enter")
        await agent.observe("four", marks=["draft", "new"])
        await driver.settle()
        assert "passes 2 of 4 messages" in driver.text("#notes")
        assert [line.split()[-1] for line in driver.lines] == ["draft", "new", "planning"]


async def test_sticky_marks_are_told_to_the_app_and_shown_when_set_by_it():
    async with driving(agent_with(), filter_pane) as driver:
        pane = driver.app.pane
        assert isinstance(pane, FilterPane)
        pane.sticky_marks = ("planning", "a,b")
        await driver.settle()
        sticky = pane.query_one("#sticky", Input)
        assert sticky.value == 'planning "a,b"'
        sticky.focus()
        await driver.settle()
        await driver.type('x "y z"')
        assert driver.app.sticky == [("x", "y z")]
        sticky.focus()
        await driver.settle()
        await driver.type("!x")
        assert driver.app.told == ['position 1: ! has no meaning here; a mark that begins so is "!x"']


async def test_a_memory_without_marks_has_none_to_choose():
    agent = agent_with(memory=FiveMethods())
    await agent.observe("one", marks="ignored")
    async with driving(agent, filter_pane) as driver:
        assert driver.lines == []
        await driver.press("enter", "exclamation_mark", "a", "v", "c", "s")
        assert "passes 1 of 1 message" in driver.text("#notes")


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 10), (80, 24), (200, 60)])
async def test_any_size_is_no_crash(size):
    """T22: tiny terminals."""
    async with driving(await three(agent_with()), filter_pane, size) as driver:
        await driver.press("enter", "a", "e", "x", "escape")
        await driver.pilot.resize_terminal(80, 24)
        await driver.settle()
        assert len(driver.lines) >= 2


async def test_a_line_that_has_the_focus_follows_what_is_changed_elsewhere():
    agent = await three(agent_with())
    async with driving(agent, filter_pane) as driver:
        await driver.press("e")
        agent.memory_filter = MemoryFilter("planning")
        await driver.settle()
        assert values(driver) == ["planning", ""]
        await driver.press("comma", "x", "comma")
        assert values(driver) == ["planning,x,", ""]
