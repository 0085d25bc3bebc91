from __future__ import annotations

import logging

import pytest

from agent_core.change import (
    Added,
    Cleared,
    Deleted,
    Inserted,
    Marked,
    MarksChange,
    MemoryState,
    Snapshot,
    StoredEntry,
    SummaryChanged,
)
from agent_core.event import (
    EVENT_TYPES,
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Event,
    MemoryChanged,
    Noticed,
    RoundStarted,
    decode_event,
    encode_event,
)
from agent_core.message import UserMsg
from agent_core.trace import Trace


def test_events_are_numbered_and_dated_and_told_before_append_returns() -> None:
    heard: list[Event] = []
    trace = Trace(clock=lambda: 12.5)
    trace.subscribe(heard.append)
    first, second = trace.append(Noticed(text="a")), trace.append(Noticed(text="b"))
    assert [first.seq, second.seq, first.at] == [0, 1, 12.5]
    assert heard == [first, second] == list(trace)


def test_a_listener_can_leave_and_one_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Event] = []
    trace = Trace()

    def broken(event: Event) -> None:
        raise RuntimeError("broken view")

    trace.subscribe(broken)
    leave = trace.subscribe(heard.append)
    with caplog.at_level(logging.CRITICAL):
        trace.append(Noticed(text="a"))
        leave()
        leave()
        trace.append(Noticed(text="b"))
    assert len(heard) == 1
    assert len(trace) == 2


def test_deltas_are_forgotten_when_their_block_has_ended_and_no_others() -> None:
    trace = Trace()
    for block_id in ("x", "y"):
        trace.append(BlockStarted(block_id=block_id, kind="text"))
    for text in ("1", "2"):
        trace.append(BlockDelta(block_id="x", kind="text", text=text))
        trace.append(BlockDelta(block_id="y", kind="text", text=text))
    trace.append(BlockEnded(block_id="x"))
    trace.append(Noticed(text="between"))
    assert [event.block_id for event in trace.of(BlockDelta)] == ["y", "y"]
    trace.append(BlockEnded(block_id="y"))
    assert trace.of(BlockDelta) == []
    assert [event.seq for event in trace] == [0, 1, 6, 7, 8]


def test_a_restored_trace_goes_on_counting() -> None:
    earlier = Trace()
    earlier.append(Noticed(text="a"))
    earlier.append(Noticed(text="b"))
    trace = Trace()
    trace.restore(list(earlier))
    assert trace.append(Noticed(text="c")).seq == 2
    with pytest.raises(ValueError, match="empty"):
        trace.restore([])


def test_every_event_type_has_its_own_tag() -> None:
    tags = [cls.__struct_config__.tag for cls in EVENT_TYPES]
    assert len(set(tags)) == len(tags) == len(set(EVENT_TYPES))


def test_an_event_of_a_newer_version_is_read_as_far_as_it_is_known() -> None:
    assert decode_event(b'{"type":"round_started","round":2,"mood":"fine"}') == RoundStarted(round=2)
    with pytest.raises(ValueError):
        decode_event(b'{"type":"teleported"}')
    with pytest.raises(ValueError):
        decode_event(b"{")


ONE, TWO, THREE = (UserMsg("u", text) for text in "123")
CHANGES = [
    (Added((StoredEntry(0, ONE), StoredEntry(1, TWO, ("a",)), StoredEntry(2, THREE))), "1 2a 3", ""),
    (SummaryChanged("", "S"), "1 2a 3", "S"),
    (Marked((MarksChange(0, ONE.id, (), ("b",)), MarksChange(1, TWO.id, ("a",), ()))), "1b 2 3", "S"),
    (Deleted((StoredEntry(0, ONE, ("b",)), StoredEntry(2, THREE))), "2", "S"),
    (Inserted((StoredEntry(0, ONE, ("b",)), StoredEntry(2, THREE))), "1b 2 3", "S"),
    (Cleared((), "S"), "", ""),
    (Snapshot((StoredEntry(0, TWO, ("z",)),), "T"), "2z", "T"),
]


def test_the_fold_over_changes_and_their_json_form() -> None:
    state = MemoryState()
    for change, content, summary in CHANGES:
        event = MemoryChanged(change=change, reply_id="r")
        again = decode_event(encode_event(event))
        assert again == event
        assert isinstance(again, MemoryChanged)
        state.apply(again.change)
        assert " ".join(f"{msg.content}{''.join(marks)}" for msg, marks in state.entries) == content
        assert state.summary == summary
