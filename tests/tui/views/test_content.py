import asyncio
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_core.agent import Agent
from agent_core.change import Deleted, StoredEntry
from agent_core.event import (
    BlockDelta,
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    PromptPart,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
)
from agent_core.history import COVERED, REPLACED, RUNNING, UNPAIRED, judge_history
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import AssistantMsg, HintBlock, Msg, SystemMsg, ToolCallBlock, ToolResultBlock
from agent_core.tokens import estimate_message_tokens
from tests.tui.fed_model import FedModel, Finished
from tests.tui.views import events as made
from tests.tui.views.events import MARKS, agent_with
from tui.views.content import ContentView


def watch(agent: Agent) -> ContentView:
    view = ContentView()
    for event in agent.trace:
        view.apply(event)
    agent.trace.subscribe(view.apply)
    return view


def shown(view: ContentView) -> list[tuple[str, tuple[str, ...], bool, str]]:
    rows = [view.row(position) for position in view.shown]
    return [(row.entry.msg.get_text_content() or "", row.entry.marks, row.included, row.reason) for row in rows]


def assert_consistent(view: ContentView) -> None:
    entries = view.stored.entries
    for judged in (view.judged, view.tried):
        wanted = judge_history(
            entries, judged.memory_filter, running=view.stored.running, has_summary=bool(view.stored.summary)
        )
        assert [judged.verdict(position) for position in range(len(entries))] == wanted
        assert judged.sent == sum(verdict.included for verdict in wanted)
        assert judged.sent_tokens == sum(estimate_message_tokens(one.entry.msg) for one in wanted if one.included)
        assert judged.reasons == Counter(one.reason for one in wanted if not one.included)
    assert len(set(view.stored.keys)) == len(entries) == len(view.stored.keys)
    assert view.stored.tokens == sum(estimate_message_tokens(entry.msg) for entry in entries)
    counts = {mark: sum(mark in entry.marks for entry in entries) for mark in MARKS}
    assert {mark: view.stored.mark_counts[mark] for mark in MARKS} == counts


async def test_a_row_for_every_message_with_its_marks():
    agent = agent_with("hello")
    view = watch(agent)
    await agent.observe("one", marks=["planning", "[/x]"])
    await agent.observe("two")
    assert shown(view) == [("one", ("planning", "[/x]"), True, ""), ("two", (), True, "")]
    assert [view.row(position).number for position in view.shown] == [1, 2]


async def test_the_reason_is_told_for_what_the_filter_leaves_out():
    agent = agent_with()
    view = watch(agent)
    await agent.observe("one", marks="planning")
    await agent.observe("two", marks="draft")
    agent.memory_filter = MemoryFilter("planning")
    assert shown(view)[1] == ("two", ("draft",), False, "lacks mark planning")
    agent.memory_filter = MemoryFilter(None, "planning")
    assert shown(view)[0] == ("one", ("planning",), False, "filtered out by mark planning")


async def test_wanting_and_leaving_out_the_same_mark_lets_nothing_through():
    """M10: include and exclude the same mark."""
    agent = agent_with()
    view = watch(agent)
    await agent.observe("one", marks="a")
    agent.memory_filter = MemoryFilter("a", "a")
    assert shown(view) == [("one", ("a",), False, "filtered out by mark a")]


async def test_what_the_running_reply_has_stored_goes_whatever_the_filter():
    model = FedModel()
    agent = Agent("helper", "", model)
    agent.memory_filter = MemoryFilter("planning")
    view = watch(agent)
    reply = asyncio.create_task(agent.reply("hello"))
    await model.asked.wait()
    assert shown(view) == [("hello", (), True, RUNNING)]
    model.feed("hi", Finished("stop"))
    await reply
    assert shown(view) == [
        ("hello", (), False, "lacks mark planning"),
        ("hi", (), False, "lacks mark planning"),
    ]


async def test_a_result_without_its_call_is_out_and_back_when_the_call_is():
    agent = agent_with()
    view = watch(agent)
    await agent.observe(AssistantMsg("helper", [ToolCallBlock("c", "Read", "{}")]), marks="draft")
    await agent.observe(SystemMsg("Read", [ToolResultBlock("c", "Read", "text")]))
    assert [row[2:] for row in shown(view)] == [(True, ""), (True, "")]
    agent.memory_filter = MemoryFilter(None, "draft")
    assert [row[2:] for row in shown(view)] == [(False, "filtered out by mark draft"), (False, UNPAIRED)]
    await agent.memory.update_messages_mark(None, "draft")
    assert [row[2:] for row in shown(view)] == [(True, ""), (True, "")]


async def test_a_newer_version_replaces_the_older():
    agent = agent_with()
    view = watch(agent)
    for text in ("old", "new"):
        await agent.observe(AssistantMsg("memory", [HintBlock(text)], metadata={"replaces": "file"}))
    assert [row[2:] for row in shown(view)] == [(False, REPLACED), (True, "")]


async def test_what_the_summary_covers_is_out_until_the_summary_is_switched_off():
    agent = agent_with()
    view = watch(agent)
    await agent.observe("old", marks=COMPRESSED)
    assert shown(view)[0][2:] == (True, "")
    await agent.memory.update_compressed_summary("they said old")
    assert shown(view)[0][2:] == (False, COVERED)
    agent.memory_filter = MemoryFilter(prepend_summary=False)
    assert shown(view)[0][2:] == (True, "")


async def test_narrowing_hides_rows_and_keeps_their_numbers_and_verdicts():
    agent = agent_with()
    view = watch(agent)
    for number in range(4):
        await agent.observe(f"{number}", marks="odd" if number % 2 else None)
    view.narrow(MemoryFilter("odd"))
    assert [view.row(position).number for position in view.shown] == [2, 4]
    assert all(row[2] for row in shown(view))
    await agent.observe("5", marks="odd")
    assert len(view.shown) == 3
    view.narrow(None)
    assert len(view.shown) == 5


async def test_the_message_in_flight_shows_what_has_come_so_far():
    model = FedModel()
    agent = Agent("helper", "", model)
    view = watch(agent)
    reply = asyncio.create_task(agent.reply("hello"))
    await model.asked.wait()
    assert view.flight is None
    streamed = asyncio.Event()
    agent.trace.subscribe(lambda event: streamed.set() if isinstance(event, BlockDelta) else None)
    model.feed("First line")
    await streamed.wait()
    assert view.flight is not None
    assert (view.flight.doing, view.flight.preview) == ("writing", "First line")
    model.feed("\nsecond", Finished("stop"))
    await reply
    assert view.flight is None
    assert shown(view)[-1][0] == "First line\nsecond"


def test_a_flight_prefers_the_answer_to_the_reasoning_and_names_the_tool():
    view = ContentView()
    view.apply(ReplyStarted(agent="a", reply_id="r"))
    view.apply(BlockStarted(block_id="1", kind="thinking"))
    view.apply(BlockDelta(block_id="1", kind="thinking", text="let me see"))
    assert view.flight is not None
    assert (view.flight.doing, view.flight.preview) == ("thinking", "let me see")
    view.apply(BlockStarted(block_id="2", kind="text"))
    view.apply(BlockDelta(block_id="2", kind="text", text="well"))
    assert view.flight.preview == "well"
    view.apply(BlockStarted(block_id="3", kind="tool_call", name="Read"))
    assert view.flight.doing == "calling Read"
    view.apply(RoundStarted(round=2, reply_id="r"))
    assert view.flight is None


def test_a_reply_that_ends_with_nothing_stored_leaves_no_flight():
    view = ContentView()
    view.apply(ReplyStarted(agent="a", reply_id="r"))
    view.apply(BlockStarted(block_id="1", kind="text"))
    view.apply(ReplyEnded(finish="interrupted", reply_id="r"))
    assert view.flight is None


def test_a_long_stream_is_not_kept():
    view = ContentView()
    view.apply(BlockStarted(block_id="1", kind="text"))
    for _ in range(1000):
        view.apply(BlockDelta(block_id="1", kind="text", text="x" * 1000))
    assert view.flight is not None
    assert len(view.flight.preview) <= 400
    assert view.flight.tokens == 4 + 250_000


@pytest.mark.parametrize(
    ("events", "size", "line"),
    [
        ([], None, "no summary yet: one is made when the endpoint says that its window is full"),
        ([], 1000, "no summary yet: older messages are summarised at 80% of the window (now 0%)"),
        (
            [PromptSent(round=1, model="m", tokens=30)],
            1000,
            "no summary yet: older messages are summarised at 80% of the window (now 3%)",
        ),
        ([CompressionStarted(messages=14, tokens=3200)], 1000, "summarising 14 messages, ≈3.2k tokens …"),
        (
            [CompressionStarted(messages=1, tokens=3), CompressionEnded(error="no answer")],
            None,
            (
                "no summary yet: one is made when the endpoint says that its window is full "
                "(the last attempt failed: no answer)"
            ),
        ),
    ],
)
def test_the_summary_line_says_why_there_is_none(events, size, line):
    view = ContentView()
    for event in events:
        view.apply(event)
    assert view.summary_line(0.8, size) == line


async def test_the_summary_line_says_what_it_covers_and_when_it_is_off():
    agent = agent_with()
    view = watch(agent)
    await agent.observe(["one", "two"], marks=COMPRESSED)
    await agent.memory.update_compressed_summary("x" * 40)
    assert view.summary_line(0.8, None) == "summary of 2 messages, ≈10 tokens"
    agent.memory_filter = MemoryFilter(prepend_summary=False)
    assert view.summary_line(0.8, None) == "summary of 2 messages, ≈10 tokens, switched off by the filter"


async def test_clearing_leaves_no_row_and_no_summary():
    """M05: after a clear nothing is left."""
    agent = agent_with()
    view = watch(agent)
    await agent.observe("one", marks="a")
    await agent.memory.update_compressed_summary("s")
    await agent.memory.clear()
    assert list(view.shown) == []
    assert view.stored.summary == ""
    assert not view.stored.mark_counts


async def test_a_row_keeps_its_key_when_the_whole_content_is_told_anew():
    agent = agent_with()
    view = watch(agent)
    await agent.observe(["one", "two"])
    keys = list(view.stored.keys)
    agent.memory.content = agent.memory.content
    assert view.stored.keys == keys


def test_what_became_of_a_message_in_the_last_prompt_is_kept():
    view = ContentView()
    one, two = PromptPart("message", "a", "user", 1), PromptPart("message", "b", "user", 1, False, "why")
    view.apply(PromptSent(round=1, model="m", parts=(one,)))
    view.apply(PromptSent(round=2, model="m", parts=(two,)))
    view.apply(PromptSent(round=3, model="m", removed=("a",)))
    assert view.prompts.story_of("a") == ((0, one), (2, None))
    assert view.prompts.story_of("b") == ((1, two),)


async def test_the_verdicts_are_those_of_the_agents_own_next_prompt():
    """The pane shows what the very object that is sent would say."""
    agent = agent_with([ToolCallBlock("c", "Missing", "{}")], "done", "again")
    view = watch(agent)
    await agent.reply("hello", marks="planning")
    agent.memory_filter = MemoryFilter("planning", "tool")
    await agent.reply("more")
    prompt = await agent.preview_prompt()
    parts = {part.key: (part.included, part.reason) for part in prompt.parts}
    for position in view.shown:
        row = view.row(position)
        assert parts[row.entry.msg.id] == (row.included, row.reason)


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(made.messages, max_size=3), made.marks),
        st.tuples(st.just("delete"), st.lists(made.ids, max_size=3), st.none()),
        st.tuples(st.just("put back"), st.none(), st.none()),
        st.tuples(st.just("mark"), st.sampled_from((*MARKS, None)), st.sampled_from((*MARKS, None))),
        st.tuples(st.just("summary"), st.sampled_from(["", "s"]), st.none()),
        st.tuples(st.just("filter"), made.filters, st.none()),
        st.tuples(st.just("try"), made.filters, st.none()),
        st.tuples(st.just("begin"), st.none(), st.none()),
        st.tuples(st.just("end"), st.none(), st.none()),
        st.tuples(st.just("clear"), st.none(), st.none()),
        st.tuples(st.just("reload"), st.none(), st.none()),
    ),
    max_size=25,
)


@given(operations)
@example(
    [
        ("add", [Msg("user", "q", "user", id="m")], ()),
        ("begin", None, None),
        ("add", [Msg("user", "q", "user", id="m")] * 2, ()),
    ]
)
def test_judging_one_of_each_kind_gives_what_judging_everything_gives(steps):
    async def play() -> None:
        agent = agent_with()
        await agent.start()
        view = watch(agent)
        gone: list[StoredEntry] = []
        agent.memory.subscribe(lambda change: gone.extend(change.entries) if isinstance(change, Deleted) else None)
        for name, first, second in steps:
            match name:
                case "add":
                    await agent.memory.add(first, marks=second, allow_duplicates=len(first) == 2)
                case "delete":
                    await agent.memory.delete(first)
                case "put back":
                    await agent.memory.restore(gone)
                    gone.clear()
                case "mark":
                    await agent.memory.update_messages_mark(first, second)
                case "summary":
                    await agent.memory.update_compressed_summary(first)
                case "filter":
                    agent.memory_filter = first
                case "try":
                    view.try_out(first)
                case "begin":
                    agent.trace.append(ReplyStarted(agent="helper", reply_id="r"))
                case "end":
                    agent.trace.append(ReplyEnded(finish="completed", reply_id="r"))
                case "clear":
                    await agent.memory.clear()
                case "reload":
                    agent.memory.content = agent.memory.content
            assert view.stored.entries == await agent.memory.entries()
            assert_consistent(view)

    made.run(play())


@pytest.mark.parametrize("exchanges", [10, 100])
async def test_another_filter_is_asked_about_one_cluster_of_each_kind_however_many_messages_there_are(
    exchanges, monkeypatch
):
    agent = agent_with()
    view = watch(agent)
    for number in range(exchanges):
        await agent.observe(f"question {number}", marks="odd" if number % 2 else None)
        await agent.observe(AssistantMsg("helper", [ToolCallBlock(f"c{number}", "Read", "{}")]))
        await agent.observe(SystemMsg("Read", [ToolResultBlock(f"c{number}", "Read", "text")]))
    asked: list[int] = []

    def counting(entries, *args, **kwargs):
        asked.append(len(entries))
        return judge_history(entries, *args, **kwargs)

    monkeypatch.setattr("tui.views.judged.judge_history", counting)
    agent.memory_filter = MemoryFilter("odd")
    assert view.judged.sent == exchanges // 2
    assert sorted(asked) == [1, 1, 2]
    await agent.observe("one more", marks="odd")
    assert view.judged.sent == exchanges // 2 + 1
    assert len(asked) == 3


@given(made.any_events, made.filters)
def test_no_sequence_of_events_is_a_crash(events, narrowing):
    view = ContentView()
    view.narrow(narrowing)
    view.try_out(narrowing)
    for event in events:
        view.apply(event)
        for position in view.shown:
            assert view.row(position).number == position + 1
        assert "\n" not in view.summary_line(0.8, None)
    assert_consistent(view)
