"""A reply on a line of characters: its rounds on one track, each retrieval on another below it, on the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tui.views.grace import grace_of
from tui.views.hints import Lookup, Moment, ReplyRecord

STAGES = {"scan": "░", "search": "▒", "select": "▓", "read": "█"}
"""What each stage is drawn as."""
OUTCOMES = {"injected": "●", "nothing": "○", "known": "◐", "late": "◌", "cancelled": "×", "failed": "✗"}
CARRIED_OVER = "»"
HELD = "╌"
"""The first model call waits for the retrieval."""
GRACE_OVER = "╎"
"""It would wait no longer than until here."""
LEGEND = "░scan ▒search ▓select █read ·wait »carried ╌held back ╎grace over"

_RUNNING = "─"
_WORKING = "·"
_END = "┤"
_SHORTEST = 0.001
"""Seconds that a time line covers at least."""


class Timeline(NamedTuple):
    """The tracks, each exactly as wide as was asked for, and the seconds that they cover."""

    rounds: str
    lookups: tuple[str, ...]
    seconds: float


class _Scale(NamedTuple):
    start: float
    seconds: float
    width: int

    def cell(self, at: float) -> int:
        """The cell in which a moment lies; moments outside lie at the edge."""
        share = (at - self.start) / self.seconds
        return min(self.width - 1, max(0, int(share * self.width)))


def timeline(reply: ReplyRecord, width: int, now: float | None) -> Timeline:
    """Draw a reply.

    Args:
        reply: what is drawn.
        width: cells for each track, 1 at least.
        now: seconds since the epoch while the reply runs; None when it does not.
    """
    width = max(1, width)
    start = min([reply.started, *(lookup.started for lookup in reply.lookups)])
    end = max([reply.started, _end(reply, now), *(_lookup_end(lookup, reply) for lookup in reply.lookups)])
    scale = _Scale(start, max(_SHORTEST, end - start), width)
    tracks = tuple(_lookup_track(lookup, reply, scale, now) for lookup in reply.lookups)
    return Timeline(_round_track(reply, scale, now), tracks, end - start)


def _end(reply: ReplyRecord, now: float | None) -> float:
    if reply.ended is not None:
        return reply.ended
    return reply.latest if now is None else now


def _lookup_end(lookup: Lookup, reply: ReplyRecord) -> float:
    """When the part of a retrieval that belongs to this reply was over; 0 as long as it is not."""
    if lookup.carried_at is not None:
        return lookup.carried_at
    if lookup.settled is not None:
        return lookup.settled_at
    return lookup.ended_at


def _round_track(reply: ReplyRecord, scale: _Scale, now: float | None) -> str:
    cells = [" "] * scale.width
    last = scale.cell(_end(reply, now))
    for cell in range(scale.cell(reply.started), last + 1):
        cells[cell] = _RUNNING
    _draw_grace(cells, reply, scale, now)
    if reply.ended is not None:
        cells[last] = _END
    for cell, number in _spread(reply.rounds, scale, last if reply.ended is not None else scale.width):
        cells[cell : cell + len(number)] = number
    return "".join(cells)


def _draw_grace(cells: list[str], reply: ReplyRecord, scale: _Scale, now: float | None) -> None:
    """Draw for how long the first model call was held back, and when it would have gone at the latest."""
    grace = grace_of(reply, _end(reply, now))
    if grace is None:
        return
    for cell in range(scale.cell(grace.start), scale.cell(grace.until)):
        cells[cell] = HELD
    if grace.limit is not None and grace.limit <= scale.start + scale.seconds:
        # Beside the number of the round, not under it.
        cells[max(scale.cell(grace.limit), min(scale.cell(grace.start) + 1, scale.width - 1))] = GRACE_OVER


def _spread(rounds: Sequence[Moment], scale: _Scale, limit: int) -> list[tuple[int, str]]:
    """Where the number of each round stands: as near as can be to when it began, none over another.

    Rounds that find no room in front of `limit` are left out, the oldest first.
    """
    placed: list[tuple[int, str]] = []
    free = 0
    for moment in rounds:
        free = max(free, scale.cell(moment.at))
        placed.append((free, str(moment.round)))
        free += len(placed[-1][1])
    kept: list[tuple[int, str]] = []
    for cell, number in reversed(placed):
        limit = min(cell, limit - len(number))
        if limit < 0:
            break
        kept.append((limit, number))
    return kept


def _lookup_track(lookup: Lookup, reply: ReplyRecord, scale: _Scale, now: float | None) -> str:
    cells = [" "] * scale.width
    end = _lookup_end(lookup, reply) or _end(reply, now)
    for cell in range(scale.cell(lookup.started), scale.cell(end) + 1):
        cells[cell] = _WORKING
    for stage in lookup.stages:
        for cell in range(scale.cell(stage.start), scale.cell(min(stage.end, end)) + 1):
            cells[cell] = STAGES.get(stage.name, _WORKING)
    if lookup.carried_at is not None:
        cells[scale.cell(end)] = CARRIED_OVER
    elif lookup.settled is not None:
        cells[scale.cell(end)] = OUTCOMES[lookup.settled.outcome]
    return "".join(cells)
