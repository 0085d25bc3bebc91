import asyncio

import pytest

from agent_core.agent import Agent
from agent_core.event import BlockDelta, PromptSent
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import AssistantMsg, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg
from tests.tui.fed_model import FedModel, Finished
from tests.tui.panes.harness import Driver, content_pane, driving
from tests.tui.panes.memories import Failing, FiveMethods
from tests.tui.views.events import agent_with
from tui.screens.reading import ReadingScreen

ODD_MARKS = ["[/x]", "a,b", "two words", "!no", "🙂", "日本", 'say "hi"', "[red]b[/]", "\x1b[2J", "$x", "%", "\\"]


async def marks_of(agent: Agent) -> list[tuple[str, ...]]:
    return [marks for _, marks in await agent.memory.entries()]


async def three(agent: Agent) -> Agent:
    await agent.observe(UserMsg("alice", "one"), marks="planning")
    await agent.observe(AssistantMsg("helper", "two"), marks=["planning", "draft"])
    await agent.observe(UserMsg("alice", "three"))
    return agent


async def test_every_message_has_a_row_with_number_verdict_role_name_tokens_marks_and_first_line():
    async with driving(await three(agent_with()), content_pane) as driver:
        assert driver.lines == [
            "   1 ✓ user alice           ≈5 [planning] one",
            "   2 ✓ asst helper          ≈5 [planning] [draft] two",
            "›  3 ✓ user alice           ≈6 three",
        ]
        assert "next prompt: 3 of 3 messages, ≈16 tokens" in driver.text(".pane-head")


async def test_what_the_filter_leaves_out_says_why():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        agent.memory_filter = MemoryFilter(None, "draft")
        await driver.settle()
        assert "✗ asst helper          ≈5 [planning] [draft] filtered out by mark draft · two" in driver.lines[1]
        assert "next prompt: 2 of 3 messages" in driver.text(".pane-head")
        assert "filter applied: !draft" in driver.text(".pane-head")
        await driver.press("up")
        assert "2 ✗ not sent: filtered out by mark draft" in driver.text(".pane-foot")


async def test_at_eighty_columns_and_less_the_columns_are_narrower():
    for width in (80, 50, 30, 12):
        async with driving(await three(agent_with()), content_pane, (width, 20)) as driver:
            assert all(
                driver.rows.render_line(y).cell_length == driver.rows.scrollable_content_region.width for y in range(5)
            )
            assert "✓" in driver.lines[0]


async def test_new_messages_and_marks_appear_by_themselves():
    agent = await three(agent_with("hello"))
    async with driving(agent, content_pane) as driver:
        await agent.reply("four", marks="new")
        await driver.settle()
        assert [line.split()[-1] for line in driver.lines] == ["one", "two", "three", "four", "hello"]
        assert "[new] four" in driver.lines[3]
        assert driver.rows.cursor == 4


async def test_the_message_that_streams_in_is_a_row_in_flight():
    model = FedModel()
    agent = Agent("helper", "", model)
    async with driving(agent, content_pane) as driver:
        streamed = asyncio.Event()
        agent.trace.subscribe(lambda event: streamed.set() if isinstance(event, BlockDelta) else None)
        reply = asyncio.create_task(agent.reply("hi"))
        model.feed("Well, [/x]")
        await streamed.wait()
        await driver.settle()
        assert "2 ⋯ asst" in driver.lines[1]
        assert "writing · Well, [/x]" in driver.lines[1]
        await driver.press("end", "space", "d", "enter")
        model.feed(Finished("stop"))
        await reply
        await driver.settle()
        assert "2 ✓ asst" in driver.lines[1]
        assert len(await agent.memory.entries()) == 2


async def test_space_selects_and_goes_on_a_selects_all_escape_selects_nothing():
    async with driving(await three(agent_with()), content_pane) as driver:
        await driver.press("home", "space", "space")
        assert [line[1] for line in driver.lines] == ["▪", "▪", " "]
        assert "2 selected" in driver.text(".pane-foot")
        await driver.press("a")
        assert len(driver.rows.selected) == 3
        await driver.press("escape")
        assert not driver.rows.selected


async def test_m_sets_a_mark_on_the_selection_and_takes_it_off_when_all_have_it():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("a", "m")
        assert "Set which mark on 3 messages? One all have comes off." in driver.screen
        await driver.type("planning")
        assert await marks_of(agent) == [("planning",), ("planning", "draft"), ("planning",)]
        assert "[planning] three" in driver.lines[2]
        await driver.press("m")
        await driver.type("planning")
        assert await marks_of(agent) == [(), ("draft",), ()]


async def test_m_completes_from_the_marks_there_are():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("m", "p", "l", "tab", "comma", "n", "e", "w", "enter")
        assert (await marks_of(agent))[2] == ("planning", "new")


async def test_capital_m_repeats_the_last_mark_on_other_messages():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("M")
        assert driver.app.told == ["No mark has been set yet: m sets one."]
        await driver.press("m")
        await driver.type('"a,b" x')
        await driver.press("home", "M")
        assert await marks_of(agent) == [("planning", "a,b", "x"), ("planning", "draft"), ("a,b", "x")]


@pytest.mark.parametrize("mark", ODD_MARKS)
async def test_a_mark_of_any_name_is_shown_renamed_and_removed(mark):
    """T02, T06, M10: marks with brackets, commas, blanks, quotes, emoji, control characters."""
    agent = agent_with()
    await agent.observe("text", marks=mark)
    async with driving(agent, content_pane) as driver:
        assert "\x1b" not in driver.screen
        await driver.press("enter", "escape", "f")
        await driver.press("r")
        await driver.type("new")
        await driver.press("y")
        assert await marks_of(agent) == [("new",)]
        await agent.memory.update_messages_mark(mark, "new")
        await driver.settle()
        await driver.press("x")
        assert await marks_of(agent) == [()]
        assert driver.app.told == []


async def test_a_mark_that_is_written_wrongly_is_explained_and_asked_again():
    """M10: an empty mark is refused with its position."""
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("m")
        await driver.type('""')
        assert "position 1: a mark cannot be empty" in driver.screen
        assert await marks_of(agent) == [("planning",), ("planning", "draft"), ()]
        await driver.type("k")
        assert (await marks_of(agent))[2] == ("k",)


async def test_escape_answers_nothing_and_focus_is_back_on_the_rows():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("m", "x", "escape")
        assert not driver.ask.display
        assert driver.rows.has_focus
        assert (await marks_of(agent))[2] == ()


async def test_r_renames_the_mark_everywhere_or_on_the_selection_only():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "r")
        assert "Rename planning on all 2 messages to:" in driver.screen
        await driver.type("plan")
        await driver.press("y")
        assert await marks_of(agent) == [("plan",), ("plan", "draft"), ()]
        await driver.press("space", "r")
        assert "Rename plan on 1 message to:" in driver.screen
        await driver.type("one")
        await driver.press("y")
        assert await marks_of(agent) == [("one",), ("plan", "draft"), ()]


async def test_with_several_marks_it_is_asked_which():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("up", "x")
        assert "Take which mark off 1 message? planning draft" in driver.screen
        await driver.type("draft")
        assert (await marks_of(agent))[1] == ("planning",)


async def test_where_there_is_no_mark_that_is_said():
    async with driving(await three(agent_with()), content_pane) as driver:
        await driver.press("x")
        assert driver.app.told == ["There is no mark here."]


async def test_d_asks_says_how_many_and_deletes_only_on_yes():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "space", "space", "d")
        assert "Delete 2 messages, ≈10 tokens?" in driver.screen
        await driver.press("n")
        assert len(await agent.memory.entries()) == 3
        await driver.press("d", "y")
        assert [msg.get_text_content() for msg, _ in await agent.memory.entries()] == ["three"]
        assert len(driver.lines) == 1
        assert not driver.rows.selected


async def test_enter_opens_the_message_whole_and_it_can_be_copied():
    agent = agent_with()
    msg = Msg("helper", [ToolCallBlock("c", "Read", '{"x": 1}')], "assistant", {"model": "[/x]"}, id="the-id")
    await agent.observe(msg, marks=["tool", "a,b"])
    async with driving(agent, content_pane, (100, 40)) as driver:
        agent.trace.append(PromptSent(round=1, model="m"))
        await driver.press("enter")
        for text in ("the-id", "assistant", "helper", 'tool "a,b"', "≈7", "✓ sent", "[/x]", "call of Read", '{"x": 1}'):
            assert text in driver.screen
        await driver.press("c")
        assert "the-id" in driver.app.clipboard
        assert "Read" in driver.app.clipboard
        await driver.press("escape")
        assert not isinstance(driver.app.screen, ReadingScreen)


async def test_a_megabyte_is_cut_on_the_screen_and_copied_whole():
    """T17, T28: a huge message is opened with a note on its size."""
    agent = agent_with()
    await agent.observe("x" * 1_000_000)
    async with driving(agent, content_pane) as driver:
        await driver.press("enter", "end")
        assert "980k more characters" in driver.screen
        await driver.press("c")
        assert driver.app.clipboard.count("x") >= 1_000_000


async def test_a_double_click_opens():
    async with driving(await three(agent_with()), content_pane) as driver:
        await driver.pilot.click(driver.rows, offset=(5, 0), times=2)
        await driver.settle()
        assert "Message 1" in driver.screen


async def test_search_goes_to_the_next_message_that_says_it_and_around():
    agent = await three(agent_with())
    await agent.observe(SystemMsg("Read", [ToolResultBlock("c", "Read", "contains ONE too")]))
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "down", "slash")
        await driver.type("one")
        assert driver.rows.cursor == 3
        assert "“one”: 2 of 2" in driver.text(".pane-foot")
        await driver.press("n")
        assert driver.rows.cursor == 0
        await driver.press("N")
        assert driver.rows.cursor == 3
        await driver.press("slash")
        await driver.type("[/nothing]")
        assert "“[/nothing]” is in none of these messages" in driver.text(".pane-foot")


async def test_f_shows_only_what_has_the_mark_and_then_all_again():
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("home", "f")
        assert [line.split()[-1] for line in driver.lines] == ["one", "two"]
        assert "view only: 2 with planning" in driver.text(".pane-head")
        assert agent.memory_filter == MemoryFilter()
        await driver.press("f")
        assert len(driver.lines) == 3


async def test_f_on_compressed_messages_shows_them_though_they_are_not_sent():
    agent = await three(agent_with())
    ids = [msg.id for msg, _ in await agent.memory.entries()][2:]
    await agent.memory.update_messages_mark(COMPRESSED, msg_ids=ids)
    await agent.memory.update_compressed_summary("they counted")
    async with driving(agent, content_pane) as driver:
        assert "summary of 1 message" in driver.text(".pane-head")
        await driver.press("end", "f")
        assert len(driver.lines) == 1
        assert "covered by the summary · three" in driver.lines[0]


async def test_in_a_narrow_pane_there_is_room_for_what_a_covered_message_says():
    agent = await three(agent_with())
    await agent.memory.update_messages_mark(COMPRESSED, msg_ids=[msg.id for msg, _ in await agent.memory.entries()])
    await agent.memory.update_compressed_summary("they counted")
    async with driving(agent, content_pane, (48, 20)) as driver:
        await driver.press("end")
        assert driver.lines[-1].endswith("[compressed] three")
        assert "covered by the summary" in driver.text(".pane-foot")


async def test_the_summary_line_tells_how_far_it_is_to_one():
    agent = agent_with("hello")
    agent.model.context_size = 1000
    async with driving(agent, content_pane) as driver:
        assert "no summary yet: older messages are summarised at 80% of the window (now 0%)" in driver.screen
        await agent.reply("x" * 400)
        await driver.settle()
        assert "(now 10%)" in driver.text(".pane-head")


async def test_a_memory_with_the_five_methods_only_says_what_it_cannot_do():
    agent = agent_with("hello", memory=FiveMethods())
    await agent.observe("one", marks="ignored")
    async with driving(agent, content_pane) as driver:
        assert "FiveMethods cannot change marks" in driver.text(".pane-head")
        await driver.press("m")
        await driver.type("x")
        assert driver.app.told == ["FiveMethods cannot change marks"]
        await driver.press("d", "y")
        assert driver.lines == []
        await agent.reply("two")
        await driver.settle()
        assert [line.split()[-1] for line in driver.lines] == ["two", "hello"]


async def test_a_memory_that_fails_is_told_in_one_line():
    """T05: an error with brackets in it."""
    agent = agent_with(memory=Failing())
    await agent.observe("one")
    async with driving(agent, content_pane) as driver:
        await driver.press("d", "y")
        assert driver.app.told == ["no [/x] store"]
        assert len(driver.lines) == 1


async def test_an_empty_memory_is_no_crash():
    async with driving(agent_with(), content_pane) as driver:
        await driver.press("enter", "space", "a", "m", "M", "r", "x", "d", "f", "slash", "escape", "n", "N", "escape")
        assert driver.lines == []
        assert "0 of 0 messages" in driver.text(".pane-head")


@pytest.mark.parametrize("text", ["[/]", "[00] [#12]", "[link=x]", "\x1b]0;hi\x07", "\u202eabc", "日本語" * 50, ""])
async def test_text_of_any_kind_is_shown_literally(text):
    """T02, T06: markup and control sequences in a message and in a name."""
    agent = agent_with()
    await agent.observe(Msg(text or "n", text, "user"))
    async with driving(agent, content_pane) as driver:
        await driver.press("enter")
        assert "\x1b" not in driver.screen
        if text.startswith("["):
            assert text in driver.screen


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (80, 24), (200, 60)])
async def test_any_size_is_no_crash(size):
    """T22: tiny terminals."""
    async with driving(await three(agent_with()), content_pane, size) as driver:
        await driver.press("m", "x", "escape", "enter", "escape")
        await driver.pilot.resize_terminal(80, 24)
        await driver.settle()
        assert len(driver.lines) == 3


async def keys(driver: Driver) -> list[str]:
    return [binding.binding.description for binding in driver.app.screen.active_bindings.values()]


async def test_the_keys_are_in_the_footer():
    async with driving(await three(agent_with()), content_pane, has_footer=True) as driver:
        assert "select" in driver.screen
        assert "mark" in driver.screen
        await driver.press("m")
        assert "select" not in driver.screen.splitlines()[-1]


@pytest.mark.parametrize("pasted", ["\x1b]0;hi\x07", "a\x9b2J", "x\ud83d", "\u202eabc"])
async def test_what_is_pasted_into_a_question_cannot_act_on_the_terminal(pasted):
    """T06, T20: control sequences and half characters in a paste."""
    agent = await three(agent_with())
    async with driving(agent, content_pane) as driver:
        await driver.press("m")
        await driver.type(pasted)
        assert not set(driver.screen) & set("\x1b\x07\x9b\ud83d\u202e")
        (mark,) = (await marks_of(agent))[2]
        assert mark.isprintable()


async def test_what_is_observed_by_a_memory_that_publishes_nothing_appears_at_once():
    agent = agent_with(memory=FiveMethods())
    async with driving(agent, content_pane) as driver:
        await agent.observe("one")
        await driver.settle()
        assert [line.split()[-1] for line in driver.lines] == ["one"]
