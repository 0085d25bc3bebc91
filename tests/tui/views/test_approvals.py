"""Questions that wait for a person."""

from __future__ import annotations

from agent_core.event import Noticed, PermissionAnswered, PermissionAsked, ReplyEnded
from tui.views.approvals import ApprovalsView


def asked(call_id: str, reply_id: str = "r1") -> PermissionAsked:
    return PermissionAsked(call_id=call_id, tool="Write", arguments={}, question="?", reply_id=reply_id)


def open_calls(view: ApprovalsView) -> list[str]:
    return [question.call_id for question in view.asked]


def test_questions_wait_in_order_until_they_are_answered() -> None:
    view = ApprovalsView()
    assert view.apply(asked("c1"))
    assert view.apply(asked("c2"))
    assert open_calls(view) == ["c1", "c2"]
    assert view.apply(PermissionAnswered(call_id="c1", answer="no"))
    assert open_calls(view) == ["c2"]
    assert not view.apply(PermissionAnswered(call_id="c1", answer="no"))


def test_the_end_of_a_reply_takes_its_questions_with_it() -> None:
    view = ApprovalsView()
    view.apply(asked("c1", "r1"))
    view.apply(asked("c2", "r2"))
    assert view.apply(ReplyEnded(finish="interrupted", reply_id="r1"))
    assert open_calls(view) == ["c2"]


def test_other_events_change_nothing() -> None:
    assert not ApprovalsView().apply(Noticed(text="x"))
