import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.change import Added, StoredEntry
from agent_core.event import (
    Event,
    MemoryChanged,
    RecalledMemory,
    ReplyEnded,
    ReplyStarted,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalStage,
    RetrievalStarted,
    RoundStarted,
)
from agent_core.message import AssistantMsg, HintBlock, UserMsg
from tests.tui.views import events as made
from tui.views.hints import HintsView, ReplyRecord
from tui.views.hints_text import outcome, told_grace
from tui.views.timeline import timeline

HOME = RecalledMemory("/m/home.md", "h", "lives in Hangzhou", "chosen", 0.9)


def reply(started: float = 0.0, key: str = "r", question: str = "Where do I live?\nTell me.") -> list[Event]:
    msg = UserMsg("user", question)
    return [
        ReplyStarted(agent="a", inputs=(msg.id,), reply_id=key, at=started),
        MemoryChanged(change=Added((StoredEntry(0, msg),)), reply_id=key, at=started),
        RetrievalStarted(retrieval_id=key, source="/m", question=question, reply_id=key, at=started),
    ]


def stage(name: str, end: float, seconds: float, key: str = "r") -> RetrievalStage:
    return RetrievalStage(retrieval_id=key, stage=name, seconds=seconds, reply_id=key, at=end)


def ended(at: float, *memories: RecalledMemory, finish: str = "found", error: str = "", key: str = "r") -> Event:
    return RetrievalEnded(
        retrieval_id=key, finish=finish, memories=memories, seconds=at, error=error, reply_id=key, at=at
    )


def settled(at: float, what: str, *, key: str = "r", **more) -> Event:
    return RetrievalSettled(retrieval_id=key, outcome=what, reply_id=key, at=at, **more)


def fold(*events: Event) -> HintsView:
    view = HintsView()
    for event in events:
        view.apply(event)
    return view


def outcomes(record: ReplyRecord, now: float | None = None) -> str:
    return "; ".join(outcome(lookup, now) for lookup in record.lookups)


def words(*events: Event, now: float | None = None) -> str:
    return outcomes(fold(*events).replies[0], now)


FOUND = [stage("scan", 0.1, 0.1), stage("select", 0.3, 0.2), stage("read", 0.4, 0.1), ended(0.4, HOME)]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([*FOUND, RoundStarted(round=1, at=0.4), settled(0.4, "injected", round=1)], "injected at round 1 after 0.4 s"),
        (
            [*FOUND, settled(0.4, "injected", round=1, detail="in the conversation already: b.md")],
            "injected at round 1 after 0.4 s; in the conversation already: b.md",
        ),
        ([ended(0.2, finish="nothing"), settled(0.2, "nothing")], "nothing relevant (0.2 s)"),
        (
            [*FOUND, settled(0.5, "known", round=1, detail="in the conversation already: home.md")],
            "already known: in the conversation already: home.md",
        ),
        ([*FOUND, settled(0.5, "known", round=1)], "already known (0.4 s)"),
        ([ended(3.0, finish="cancelled"), settled(3.0, "late")], "late: it was not ready in time (3.0 s)"),
        ([ended(1.0, finish="cancelled"), settled(1.0, "cancelled")], "cancelled after 1.0 s"),
        ([ended(1.0, finish="failed", error="no [/x]"), settled(1.0, "failed")], "failed: no [/x]"),
        ([settled(1.0, "failed")], "failed"),
        (
            [*FOUND, RetrievalCarriedOver(retrieval_id="r", reply_id="r", at=1.0)],
            "found 1 file after 0.4 s, waits for the next reply",
        ),
        ([*FOUND], "found 1 file after 0.4 s, goes in at the next round"),
        ([RetrievalCarriedOver(retrieval_id="r", reply_id="r", at=1.0)], "late: it goes on, for the next reply"),
        (
            [RetrievalCarriedOver(retrieval_id="r", at=1.0), settled(9.0, "injected", round=2, carried_over=True)],
            "late, carried over: injected at round 2 of a later reply",
        ),
        ([], "cut off: the program ended before it did"),
    ],
)
def test_the_outcome_is_told_in_words(events, expected):
    assert words(*reply(), *events) == expected


def test_while_it_runs_it_says_for_how_long():
    assert words(*reply(), now=1.2) == "searching for 1.2 s …"


def test_the_question_is_the_first_line_of_what_was_said():
    assert fold(*reply()).replies[0].question == "Where do I live?"


def test_what_was_put_in_from_the_side_is_kept_with_its_reply():
    hint = AssistantMsg("memory", [HintBlock("lives in Hangzhou")])
    plain = AssistantMsg("helper", "well")
    view = fold(
        *reply(),
        MemoryChanged(change=Added((StoredEntry(1, hint, ("hint",)), StoredEntry(2, plain))), reply_id="r"),
    )
    assert view.replies[0].hints == [hint]


def test_what_was_carried_over_stays_with_the_reply_that_asked_and_is_named_by_the_one_that_gets_it():
    view = fold(
        *reply(key="r"),
        RetrievalCarriedOver(retrieval_id="r", reply_id="r", at=1.0),
        ReplyEnded(finish="completed", reply_id="r", at=1.0),
        *reply(started=10.0, key="s", question="And what do I like?"),
        ended(11.0, HOME),
        settled(11.5, "injected", round=2, carried_over=True),
    )
    first, second = view.replies
    assert outcome(first.lookups[0], None) == "late, carried over: injected at round 2 of a later reply"
    assert [lookup.question for lookup in second.brought] == ["Where do I live?\nTell me."]


def test_replies_that_run_at_the_same_time_do_not_mix():
    view = fold(
        *reply(key="r", question="one"),
        *reply(key="s", question="two"),
        settled(1.0, "nothing", key="s"),
        settled(2.0, "injected", key="r", round=1),
    )
    assert [(one.question, outcomes(one)) for one in view.replies] == [
        ("one", "injected at round 1 after 2.0 s"),
        ("two", "nothing relevant (1.0 s)"),
    ]


def test_the_time_line_has_rounds_and_stages_on_one_scale():
    view = fold(
        *reply(),
        stage("scan", 1.0, 1.0),
        stage("select", 4.0, 3.0),
        stage("read", 5.0, 1.0),
        ended(5.0, HOME),
        RoundStarted(round=1, reply_id="r", at=0.0),
        RoundStarted(round=2, reply_id="r", at=6.0),
        settled(6.0, "injected", round=2),
        ReplyEnded(finish="completed", reply_id="r", at=10.0),
    )
    drawn = timeline(view.replies[0], 20, None)
    assert drawn.rounds == "1───────────2──────┤"
    assert drawn.lookups == ("░░▓▓▓▓▓▓███·●       ",)
    assert drawn.seconds == 10.0


def held(patience: float | None, found: float | None = None, *more: Event, end: float | None = 10.0) -> HintsView:
    """A reply whose retrieval has its result at `found`."""
    started = RetrievalStarted(retrieval_id="r", source="/m", question="?", patience=patience, reply_id="r", at=0.0)
    events = [ReplyStarted(agent="a", reply_id="r", at=0.0), started, RoundStarted(round=1, reply_id="r", at=0.0)]
    finds = [ended(found, HOME)] if found is not None else []
    ends = [ReplyEnded(finish="completed", reply_id="r", at=end)] if end is not None else []
    return fold(*events, *finds, *more, *ends)


@pytest.mark.parametrize(
    ("patience", "found", "drawn", "told"),
    [
        (4.0, 9.0, "1╌╌╌╌╌╌╌╎──────────┤", "held back 4.0 s of 4.0 s grace"),
        (6.0, 2.0, "1╌╌╌────────╎──────┤", "held back 2.0 s of 6.0 s grace"),
        (60.0, 2.0, "1╌╌╌───────────────┤", "held back 2.0 s of 60 s grace"),
        (0.1, 0.2, "1╎─────────────────┤", "held back 0.1 s of 0.1 s grace"),
        (None, 8.0, "1╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌───┤", "held back 8.0 s as long as it takes"),
        (0.0, 0.0, "1──────────────────┤", ""),
    ],
)
def test_how_long_round_1_was_held_back_and_where_its_grace_ended_is_drawn_and_told(patience, found, drawn, told):
    (one,) = held(patience, found).replies
    assert timeline(one, 20, None).rounds == drawn
    assert told_grace(one, None) == told


def test_while_round_1_is_held_back_the_wait_grows():
    (one,) = held(4.0, end=None).replies
    assert timeline(one, 8, now=2.0).rounds == "1╌╌╌╌╌╌─"
    assert told_grace(one, 2.0) == "held back 2.0 s of 4.0 s grace …"


def test_one_that_was_stopped_while_it_was_held_back_says_for_how_long():
    (one,) = held(4.0, end=1.0).replies
    assert told_grace(one, None) == "held back 1.0 s of 4.0 s grace"


def test_only_the_first_call_of_a_reply_is_held_back():
    (one,) = held(4.0, 1.0, RoundStarted(round=2, reply_id="r", at=8.0), end=9.0).replies
    assert told_grace(one, None) == "held back 1.0 s of 4.0 s grace"


def rounds(width: int, *starts: float, end: float = 10.0) -> str:
    events = [RoundStarted(round=number, reply_id="r", at=at) for number, at in enumerate(starts, 1)]
    view = fold(ReplyStarted(agent="a", reply_id="r"), *events, ReplyEnded(finish="completed", reply_id="r", at=end))
    return timeline(view.replies[0], width, None).rounds


def test_rounds_that_begin_at_nearly_the_same_time_stand_side_by_side():
    assert rounds(10, 0.0, 0.1, 9.9, 9.95) == "12─────34┤"
    assert rounds(10, *[5.0] * 9) == "123456789┤"
    assert rounds(6, *[5.0] * 9) == "56789┤"
    assert rounds(1, 0.0, 1.0) == "┤"
    assert rounds(8, *[0.0] * 11) == "7891011┤"


def test_a_running_reply_is_drawn_up_to_now():
    view = fold(*reply(), RoundStarted(round=1, reply_id="r", at=0.0), stage("scan", 1.0, 1.0))
    drawn = timeline(view.replies[0], 8, now=4.0)
    assert drawn.rounds == "1───────"
    assert drawn.lookups == ("░░░·····",)


def test_what_is_handed_on_ends_with_its_reply():
    view = fold(
        *reply(),
        RetrievalCarriedOver(retrieval_id="r", reply_id="r", at=4.0),
        ReplyEnded(finish="completed", reply_id="r", at=4.0),
        settled(900.0, "injected", round=1, carried_over=True),
    )
    assert timeline(view.replies[0], 8, None).lookups == ("·······»",)


@given(made.any_events, st.integers(-1, 40), st.none() | made.seconds)
def test_no_sequence_of_events_is_a_crash(events, width, now):
    view = HintsView()
    for event in events:
        view.apply(event)
    for one in view.replies:
        assert "\n" not in outcomes(one, now)
        drawn = timeline(one, width, now)
        assert {len(track) for track in (drawn.rounds, *drawn.lookups)} == {max(1, width)}
        assert drawn.seconds >= 0
