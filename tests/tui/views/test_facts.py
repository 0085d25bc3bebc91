import pytest
from hypothesis import given

from agent_core.change import Added, StoredEntry
from agent_core.event import (
    Event,
    FactChange,
    FactsWriteStarted,
    FactsWritten,
    MemoryChanged,
    RecalledMemory,
    ReplyEnded,
    ReplyStarted,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalSkipped,
    RetrievalStage,
    RetrievalStarted,
    ToolEnded,
    ToolStarted,
)
from agent_core.message import SystemMsg, ToolResultBlock, UserMsg
from memory.mem0.tools import SEARCH
from tests.agent_core.agents import make_agent
from tests.tui.views import events as made
from tui.views.facts import SEARCH_TOOL, FactsView
from tui.views.facts_text import title, turn_lines, turn_sections
from tui.views.hints import HintsView
from tui.views.session_view import SessionView

MEM0 = "mem0:alice"
TEA = RecalledMemory(f"{MEM0}/1", "h", "likes tea (2026-11-30)", "shares tea", 0.9)


def fold(*events: Event) -> FactsView:
    hints = HintsView()
    view = FactsView(hints)
    for event in events:
        hints.apply(event)
        view.apply(event)
    return view


def asked(source: str = MEM0, key: str = "r") -> list[Event]:
    msg = UserMsg("user", "What do I like?\nTell me.")
    return [
        ReplyStarted(agent="a", inputs=(msg.id,), reply_id=key, at=0.0),
        MemoryChanged(change=Added((StoredEntry(0, msg),)), reply_id=key, at=0.0),
        RetrievalStarted(retrieval_id=key, source=source, question="What do I like?", reply_id=key, at=0.0),
    ]


def found(*memories: RecalledMemory, finish: str = "found", told: str = "1 found", error: str = "") -> list[Event]:
    stage = RetrievalStage(retrieval_id="r", stage="search", seconds=0.2, detail=told, reply_id="r", at=0.2)
    ended = RetrievalEnded(retrieval_id="r", finish=finish, memories=memories, error=error, reply_id="r", at=0.2)
    return [stage, ended]


def settled(outcome: str, **more) -> Event:
    return RetrievalSettled(retrieval_id="r", outcome=outcome, reply_id="r", at=0.4, **more)


def begun(write_id: str = "w", reply_id: str | None = "r") -> Event:
    return FactsWriteStarted(write_id=write_id, source=MEM0, reply_id=reply_id, at=1.0)


def written(finish: str, *changes: FactChange, how: str = "extracted", write_id: str = "w", **more) -> Event:
    reply_id = more.pop("reply_id", "r")
    return FactsWritten(
        write_id=write_id, source=MEM0, finish=finish, how=how, changes=changes, seconds=1.2, reply_id=reply_id, **more
    )


def lines(*events: Event, now: float = 5.0, is_running: bool = False) -> list[str]:
    (turn,) = fold(*events).turns
    return [("    " if line.is_detail else "") + line.text for line in turn_lines(turn, now, is_running=is_running)]


ENDS = {
    "injected": ([*found(TEA), settled("injected", round=1)], "● told at round 1 after 0.4 s (1 found)"),
    "nothing there": ([*found(finish="nothing", told="0 found"), settled("nothing")], "○ searched in 0.2 s: nothing"),
    "known": (
        [*found(TEA), settled("known", detail="in the conversation already")],
        "◐ not told again: in the conversation already (1 found)",
    ),
    "late": ([*found(TEA), settled("late")], "◌ not told: the search was not over in time"),
    "cancelled": ([settled("cancelled")], "× search stopped with the reply, after 0.4 s"),
    "failed": ([*found(finish="failed", error="no [/x]", told=""), settled("failed")], "✗ the search failed: no [/x]"),
    "skipped": ([RetrievalSkipped(source=MEM0, reason="nothing was asked", reply_id="r")], "– not searched: nothing"),
}


@pytest.mark.parametrize("name", ENDS)
def test_each_end_of_a_search_is_told_differently(name):
    events, expected = ENDS[name]
    begin = asked()[:2] if name == "skipped" else asked()
    told = lines(*begin, *events)[0]
    assert told.startswith(expected)
    assert sum(told.split()[:2] == other.split()[:2] for _, other in ENDS.values()) == 1


def test_what_was_found_is_listed_with_score_and_reason_also_where_it_was_not_told():
    for outcome in ("injected", "known", "late"):
        assert lines(*asked(), *found(TEA), settled(outcome))[1] == "    0.90  likes tea (2026-11-30)  (shares tea)"


def test_while_it_searches_it_says_for_how_long_and_what_a_cut_left_open_does_not_run_on():
    assert lines(*asked(), now=2.0, is_running=True) == ["⋯ searching for 2.0 s"]
    assert lines(*asked(), *found(TEA), now=2.0, is_running=True)[0] == "⋯ 1 memory found, told at the next round"
    assert lines(*asked()) == ["⋯ search cut off: the program ended before it did"]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (written("stored"), "✎ written (extracted by the model, 1.2 s)"),
        (written("stored", how="as_given"), "✎ written (as the model gave it, 1.2 s)"),
        (written("nothing", how="by_rules"), "○ nothing new to keep (by fixed rules, 1.2 s)"),
        (written("accepted", detail="as 7, worked on later"), "» handed over: as 7, worked on later"),
        (written("unknown", detail="mem0 said nothing"), "? not known whether it was kept: mem0 said nothing"),
        (written("skipped", detail="no model"), "– not written: no model"),
        (written("failed", detail="no [/x]. It is kept."), "✗ not written, it failed: no [/x]. It is kept."),
    ],
)
def test_each_end_of_a_write_is_told_differently(event, expected):
    """D10: what a store does not say is told as unknown, never as saved."""
    assert lines(*asked()[:1], begun(), event) == [expected]


def test_what_became_of_each_memory_is_told():
    changes = (
        FactChange("2", "lives in Rome", "added"),
        FactChange("1", "lives in Oslo", "superseded", "2"),
        FactChange("3", "works at A", "superseded", "elsewhere"),
        FactChange("4", "likes tea", "known"),
        FactChange("5", "is 40", "updated"),
        FactChange("6", "", "deleted"),
    )
    assert lines(*asked()[:1], begun(), written("stored", *changes))[1:] == [
        "    + lives in Rome",
        "    ↷ lives in Oslo  (replaced by: lives in Rome)",
        "    ↷ works at A  (replaced by a newer one)",
        "    = likes tea  (known already)",
        "    ~ is 40  (updated)",
        "    − the memory 6  (deleted)",
    ]


def test_what_is_still_being_written_is_counted_and_told():
    view = fold(*asked()[:1], begun(), ReplyEnded(finish="completed", reply_id="r", at=2.0))
    assert view.writing == 1
    assert [line.text for line in turn_lines(view.turns[0], 4.0, is_running=False)] == ["⋯ writing for 3.0 s"]
    view.apply(written("stored"))
    assert (view.writing, view.written) == (0, 1)


async def test_what_an_earlier_run_was_writing_when_it_ended_is_not_being_written_any_more():
    agent = make_agent()
    agent.trace.append(begun(reply_id=None))
    view = SessionView(agent).facts
    assert view.writing == 0
    assert turn_lines(view.turns[0], 9.0, is_running=False)[0].text.startswith("⋯ writing cut off")


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("interrupted", "– not written: the reply was interrupted"),
        ("error", "– not written: the reply failed"),
        ("max_iters", "– not written: the reply came to no end"),
        ("completed", "– not written: nothing to keep"),
    ],
)
def test_a_reply_that_wrote_nothing_says_why(finish, expected):
    ended = ReplyEnded(finish=finish, reply_id="r", at=2.0)
    assert lines(*asked(), settled("nothing"), ended)[-1] == expected


def test_searches_of_the_model_are_told_with_what_they_gave():
    assert SEARCH_TOOL == SEARCH
    call = ToolStarted(call_id="c", tool=SEARCH, arguments={"keywords": ["tea", "home"]}, reply_id="r")
    result = ToolResultBlock("c", SEARCH, "- likes tea [score 0.90]\n- likes [/x]")
    stored = MemoryChanged(change=Added((StoredEntry(0, SystemMsg(SEARCH, [result])),)), reply_id="r")
    ended = ToolEnded(call_id="c", tool=SEARCH, state="success", seconds=0.2, reply_id="r")
    view = fold(*asked()[:1], call, stored, ended)
    (line,) = turn_lines(view.turns[0], 1.0, is_running=False)
    assert line.text == "● the model searched for “tea”, “home”: 2 memories, 0.2 s"
    section = turn_sections(view.turns[0], 1.0, is_running=False)[1]
    assert (section.heading, section.text) == ("answered to “tea”, “home”", result.output)
    failed = ToolEnded(call_id="c", tool=SEARCH, state="error", reply_id="r")
    assert lines(*asked()[:1], call, failed) == ["✗ the model searched for “tea”, “home”: error"]
    for odd in (None, "tea", 7, {"a": 1}):
        odd_call = ToolStarted(call_id="c", tool=SEARCH, arguments={"keywords": odd}, reply_id="r")
        assert lines(*asked()[:1], odd_call)[0].startswith("⋯ the model searched for")


def test_other_memories_and_tools_are_not_its_business():
    call = ToolStarted(call_id="c", tool="Read", arguments={}, reply_id="r")
    ended = ToolEnded(call_id="c", tool="Read", state="success", reply_id="r")
    other = RetrievalSkipped(source="/m", reason="x", reply_id="r")
    assert fold(*asked("/home/me/Memory"), settled("nothing"), call, ended, other).turns == []


def test_what_happened_outside_of_replies_says_so():
    by_hand = written("stored", FactChange("1", "x", "deleted"), how="by_hand", write_id="a", reply_id=None)
    left_over = written("failed", write_id="b", reply_id=None)
    turns = fold(by_hand, begun("b", None), left_over).turns
    assert [title(turn) for turn in turns] == ["by hand", "left over from an earlier run"]
    assert turn_lines(turns[0], 1.0, is_running=False)[0].text == "✎ written (by hand)"


@given(made.any_events)
def test_any_events_can_be_told(events):
    view = fold(*events)
    for turn in view.turns:
        assert title(turn)
        for is_running in (True, False):
            assert turn_sections(turn, 1.0, is_running=is_running)
