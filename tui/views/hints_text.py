"""What became of a retrieval, in words."""

from __future__ import annotations

from agent_core.event import RetrievalSettled
from tui.views.figures import plural, span
from tui.views.grace import grace_of
from tui.views.hints import Lookup, ReplyRecord


def outcome(lookup: Lookup, now: float | None) -> str:
    """One line on how a retrieval ended, or on how far it is.

    Args:
        lookup: the retrieval.
        now: seconds since the epoch while its reply runs; None when it does not.
    """
    if lookup.settled is not None:
        return _settled(lookup, lookup.settled)
    if lookup.ended is not None:
        found = plural(len(lookup.memories), "fact" if lookup.is_facts else "file")
        waits = "waits for the next reply" if lookup.carried_at is not None else "goes in at the next round"
        return f"found {found} after {span(lookup.ended_at - lookup.started)}, {waits}"
    if lookup.carried_at is not None:
        return "late: it goes on, for the next reply"
    if now is None:
        return "cut off: the program ended before it did"
    return f"searching for {span(now - lookup.started)} …"


def told_grace(reply: ReplyRecord, now: float | None) -> str:
    """For how long the first model call was held back for the retrieval; empty when it was not to be."""
    grace = grace_of(reply, now if now is not None else reply.latest)
    if grace is None:
        return ""
    most = "as long as it takes" if grace.limit is None else f"of {span(grace.limit - grace.start)} grace"
    return f"held back {span(grace.until - grace.start)} {most}{'' if grace.is_over else ' …'}"


def _settled(lookup: Lookup, settled: RetrievalSettled) -> str:
    took = span((lookup.ended_at or lookup.settled_at) - lookup.started)
    match settled.outcome:
        case "injected" if settled.carried_over:
            words = f"late, carried over: injected at round {settled.round} of a later reply"
        case "injected":
            words = f"injected at round {settled.round} after {span(lookup.settled_at - lookup.started)}"
        case "nothing":
            words = f"nothing relevant ({took})"
        case "known":
            return f"already known: {settled.detail}" if settled.detail else f"already known ({took})"
        case "late":
            words = f"late: it was not ready in time ({took})"
        case "cancelled":
            words = f"cancelled after {took}"
        case "failed":
            error = settled.detail or (lookup.ended.error if lookup.ended else "")
            return f"failed: {error}" if error else "failed"
    return f"{words}; {settled.detail}" if settled.detail else words
