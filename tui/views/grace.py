"""The grace period of a reply: how long its first model call waits for what is looked up."""

from __future__ import annotations

from typing import NamedTuple

from tui.views.hints import ReplyRecord


class Grace(NamedTuple):
    """Moments in seconds since the epoch.

    Args:
        start: the first round began, and with it the wait.
        until: it was over, or is not yet at the present moment.
        limit: it would have been over then at the latest; None when it lasts for as long as the retrieval does.
        is_over: whether it is.
    """

    start: float
    until: float
    limit: float | None
    is_over: bool


def grace_of(reply: ReplyRecord, present: float) -> Grace | None:
    """The grace period of a reply; None when there was none, or it has not begun yet."""
    waited_for = [lookup for lookup in reply.lookups if lookup.patience != 0]
    if not waited_for or not reply.rounds:
        return None
    start = reply.rounds[0].at
    patiences = [lookup.patience for lookup in waited_for if lookup.patience is not None]
    limit = start + max(patiences) if len(patiences) == len(waited_for) else None
    ends = [lookup.ended_at for lookup in (*waited_for, *reply.brought) if lookup.ended is not None]
    has_ended = all(lookup.ended is not None for lookup in waited_for)
    until = max(ends) if has_ended else present
    if limit is not None and until >= limit:
        return Grace(start, limit, limit, is_over=True)
    return Grace(start, max(start, until), limit, is_over=has_ended or reply.ended is not None)
