"""Facts in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.views.moments import local_time

if TYPE_CHECKING:
    from memory.mem0 import Change, Fact
    from memory.mem0.answers import Written

_ACTIONS = {
    "added": "Stored",
    "known": "Known already",
    "superseded": "Replaced by that",
    "updated": "Changed",
    "deleted": "Deleted",
}
_FINISHES = {
    "nothing": "Nothing was new",
    "accepted": "Accepted",
    "unknown": "Perhaps stored",
    "skipped": "Skipped",
    "failed": "Failed",
}


def fact_line(fact: Fact) -> str:
    """A fact with its id, its day, and how well it fits where something was searched."""
    day = _moment(fact.updated or fact.created, "%Y-%m-%d")
    score = "" if fact.score is None else f"  {fact.score:.2f}{f' {fact.why}' if fact.why else ''}"
    replaced = f"  (replaced by {fact.superseded_by})" if fact.superseded_by else ""
    return f"{fact.id}  {day}{score}  {fact.text}{replaced}"


def change_line(change: Change) -> str:
    """One thing that happened to a fact."""
    texts = " → ".join(text for text in (change.before, change.after) if text)
    return f"{_moment(change.at, '%Y-%m-%d %H:%M')}  {change.event:<6}  {texts}"


def written_lines(written: Written) -> list[str]:
    """What became of what was to be stored."""
    lines = [f"{_ACTIONS[change.action]}: {change.text}  ({change.memory_id})" for change in written.changes]
    detail = f": {written.detail}" if written.detail else ""
    return lines or [f"{_FINISHES.get(written.finish, written.finish)}{detail}"]


def _moment(at: float | None, form: str) -> str:
    return local_time(at, form) if at is not None else "?"
