"""What has happened to a memory: every change, with who and why, and every time that it was used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_core.change import Added, Inserted, Snapshot
from agent_core.event import Event, MemoryChanged
from memory.agentic.journal_entry import JournalEntry
from tui.views.figures import plural
from tui.views.hints import HintsView
from tui.views.hints_text import outcome
from tui.views.message_text import preview

WHO = {"user": "you", "model": "model", "tool": "tool's result", "outside": "outside"}
"""How the origin of a change is told."""
RECALLED = "recalled"


class Happening(NamedTuple):
    """One row of a history.

    Args:
        at: seconds since the epoch.
        who: who changed it; `recalled` when it was used.
        what: what was done.
        cause: which message caused it, in words; empty when none is known.
        entry: of the journal; None for a use.
        text: what was put into the conversation, for a use.
    """

    at: float
    who: str
    what: str
    cause: str = ""
    entry: JournalEntry | None = None
    text: str = ""


def history(path: str | None, entries: Sequence[JournalEntry], events: Iterable[Event]) -> list[Happening]:
    """All that has happened, newest first.

    Args:
        path: the file, absolute, whose uses are told; None tells none.
        entries: the changes, newest first.
        events: the trace of the session, which knows messages and uses; changes made in others have their ids only.
    """
    events = list(events)
    said = _said(events)
    happened = [
        Happening(entry.at, WHO[entry.origin], told_action(entry), _cause(entry, said), entry) for entry in entries
    ]
    if path is not None:
        happened += _uses(path, events)
    return sorted(happened, key=lambda one: one.at, reverse=True)


def told_action(entry: JournalEntry) -> str:
    """What a change did, in a few words."""
    if entry.action == "rename":
        return f"rename of {entry.from_path} to {entry.path}"
    size = entry.after_size - entry.before_size
    grown = f" ({'+' if size > 0 else '−'}{abs(size):,} bytes)" if size and entry.action != "delete" else ""
    along = " along with another" if entry.group else ""
    return f"{entry.action} of {entry.path}{along}{grown}"


def _cause(entry: JournalEntry, said: Mapping[str, str]) -> str:
    if entry.msg_id in said:
        return f"“{said[entry.msg_id]}”"
    if entry.msg_id:
        where = f" of session {entry.session_id}" if entry.session_id else ""
        return f"message {entry.msg_id[:8]}{where}"
    return ""


def _said(events: Iterable[Event]) -> dict[str, str]:
    """The first lines of the messages, by their ids."""
    return {
        entry.msg.id: preview(entry.msg)
        for event in events
        if isinstance(event, MemoryChanged) and isinstance(event.change, Added | Inserted | Snapshot)
        for entry in event.change.entries
    }


def _uses(path: str, events: Iterable[Event]) -> list[Happening]:
    view = HintsView()
    for event in events:
        view.apply(event)
    return [
        Happening(lookup.settled_at, RECALLED, outcome(lookup, None), f"“{lookup.question}”", text=memory.text)
        for reply in view.replies
        for lookup in reply.lookups
        if lookup.settled is not None
        for memory in lookup.memories
        if memory.path == path
    ]


def summary_line(happened: Sequence[Happening]) -> str:
    """How many changes and uses there are."""
    changes = sum(one.entry is not None for one in happened)
    uses = len(happened) - changes
    return ", ".join(
        [plural(changes, "change"), *([f"recalled {plural(uses, 'time')} in this session"] if uses else [])]
    )
