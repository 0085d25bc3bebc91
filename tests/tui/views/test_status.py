"""What the agent is doing and what it has used."""

from __future__ import annotations

import pytest

from agent_core.errors import ModelUnreachable
from agent_core.event import (
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    Event,
    ModelCallEnded,
    ModelRetried,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    StoreFailed,
    StoreRecovered,
    ToolStarted,
    Usage,
)
from agent_core.marks import MemoryFilter
from tests.agent_core.agents import Echo, make_agent, use
from tui.views.status import StatusView
from tui.views.status_text import Field, StatusFacts, fitting, status_fields, working_text

FACTS = StatusFacts("gpt", "http://localhost:1234/v1", 8000, True, "default", "", 0)


def after(*events: Event) -> StatusView:
    view = StatusView()
    for event in events:
        view.apply(event)
    return view


def words(view: StatusView, facts: StatusFacts = FACTS) -> str:
    return " · ".join(field.text for field in status_fields(view, facts))


async def test_a_reply_goes_through_its_states() -> None:
    agent = make_agent([use("Echo")], "Done.", tools=[Echo()])
    view, seen = StatusView(), []

    def take(event: Event) -> None:
        if view.apply(event):
            seen.append(f"{view.activity} {view.detail}".strip())

    agent.trace.subscribe(take)
    await agent.reply("go")
    distinct = [state for before, state in zip(["", *seen], seen, strict=False) if state != before]
    assert distinct == [
        "preparing",
        "waiting",
        "calling Echo",
        "running Echo",
        "preparing",
        "waiting",
        "answering",
        "idle",
    ]


async def test_a_failed_reply_ends_the_work() -> None:
    agent = make_agent(ModelUnreachable("no"))
    view = StatusView()
    agent.trace.subscribe(lambda event: view.apply(event) and None)
    with pytest.raises(ModelUnreachable):
        await agent.reply("go")
    assert not view.is_working
    assert view.last_finish == "error"


def test_a_compression_inside_a_reply_goes_back_to_what_it_interrupted() -> None:
    view = after(ReplyStarted(agent="a"), CompressionStarted(messages=12, tokens=900))
    assert (view.activity, view.detail) == ("compressing", "12 messages")
    view.apply(CompressionEnded(covered=12))
    assert view.activity == "preparing"


def test_a_compression_of_its_own_ends_in_rest() -> None:
    assert after(CompressionStarted(messages=12, tokens=900), CompressionEnded(covered=12)).activity == "idle"


async def test_the_applied_filter_is_known() -> None:
    agent = make_agent()
    view = StatusView()
    agent.trace.subscribe(lambda event: view.apply(event) and None)
    agent.memory_filter = MemoryFilter(mark="planning")
    assert view.memory_filter.mark == "planning"


def test_the_context_is_estimated_until_the_server_has_counted() -> None:
    view = after(PromptSent(round=1, model="m", tokens=4000, context_size=8000))
    assert "context ≈4.0k/8.0k (50%)" in words(view)
    view.apply(ModelCallEnded(round=1, seconds=1.0, usage=Usage(5000, 200)))
    assert "context 5.2k/8.0k (65%)" in words(view)
    assert "context ≈5.2k/8.0k (65%)" in words(view, FACTS._replace(counts_are_exact=False))


def test_without_a_known_window_there_is_no_share() -> None:
    view = after(PromptSent(round=1, model="m", tokens=4000))
    assert "context ≈4.0k ·" in words(view, FACTS._replace(context_size=None)) + " ·"


def test_before_anything_was_sent_there_is_no_context() -> None:
    assert words(StatusView()) == "ready · gpt · http://localhost:1234/v1 · mode default"


def test_the_last_turn_and_the_session_are_shown() -> None:
    view = after(ReplyStarted(agent="a"), ReplyEnded(finish="completed", usage=Usage(12_000, 340)))
    text = words(view, FACTS._replace(session="Holiday plans", mode="explore"))
    assert text.endswith("last turn 12k in, 340 out · mode explore · Holiday plans")


def test_work_questions_and_the_queue_are_states() -> None:
    assert words(after(ReplyStarted(agent="a")), FACTS._replace(queued=2)).startswith("working, 2 queued · ")
    asked = after(PermissionAsked(call_id="c", tool="Write", arguments={}, question="?"))
    assert words(asked).startswith("asks you · ")


@pytest.mark.parametrize("width", range(1, 140))
def test_what_matters_least_goes_first(width: int) -> None:
    fields = [Field("ready", 0), Field("a-model", 1), Field("an-endpoint", 5), Field("context 1/2", 2), Field("s", 7)]
    kept = fitting(fields, width)
    text = " · ".join(field.text for field in kept)
    assert len(text) <= width or kept == [fields[0]]
    dropped = [field for field in fields if field not in kept]
    assert all(field.rank < gone.rank for field in kept for gone in dropped)


def test_widths_are_measured_in_cells_where_a_measure_is_given() -> None:
    fields = [Field("日本", 0), Field("語", 1)]
    assert fitting(fields, 6) == fields
    assert fitting(fields, 6, lambda text: 2 * len(text)) == fields[:1]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (RoundStarted(round=1, at=100.0), "preparing the request"),
        (PromptSent(round=1, model="m", at=100.0), "waiting for {gpt}"),
        (BlockStarted(block_id="b", kind="thinking", at=100.0), "{gpt} thinks"),
        (BlockStarted(block_id="b", kind="tool_call", name="Write", at=100.0), "{gpt} writes a call of Write"),
        (ToolStarted(call_id="c", tool="{x}", arguments={}, at=100.0), "{x} runs"),
        (ModelRetried(attempt=2, delay=1.0, error="busy", at=100.0), "trying again, attempt 2: busy"),
    ],
)
def test_a_wait_is_put_into_words(event: Event, text: str) -> None:
    view = after(event)
    assert working_text(view, "{gpt}", 100.4) == text
    assert working_text(view, "{gpt}", 112.0) == f"{text} · 12 s"


def test_rest_needs_no_words() -> None:
    assert working_text(StatusView(), "gpt", 5.0) == ""


def test_a_session_that_is_not_being_saved_is_shown_as_long_as_it_is() -> None:
    """P12: a warning that stays, also when the chat has scrolled on."""
    assert "not saved" in [field.text for field in status_fields(StatusView(), FACTS._replace(is_unsaved=True))]
    assert "not saved" not in [field.text for field in status_fields(StatusView(), FACTS)]


def test_a_store_that_fails_is_told_for_as_long_as_it_does_and_its_reason_where_there_is_room() -> None:
    view, why = after(StoreFailed(error="the disk is full")), "the disk is full"
    assert view.apply(StoreRecovered())
    assert "memory not stored" not in words(view)
    fields = status_fields(view, FACTS._replace(store_trouble=why))
    assert why in [field.text for field in fitting(fields, 200)]
    assert [field.text for field in fitting(fields, 30)] == ["ready", "memory not stored"]
