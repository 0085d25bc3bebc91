"""What a working memory publishes after each committed mutation: enough to redo it and to undo it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from agent_core.marks import Entry
from agent_core.message import Msg


class StoredEntry(Struct, frozen=True):
    """A message, its marks, and its place in the store (0 is the first)."""

    position: int
    msg: Msg
    marks: tuple[str, ...] = ()


class MarksChange(Struct, frozen=True):
    """The marks of the stored message at `position`, before and after."""

    position: int
    msg_id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class Added(Struct, frozen=True, tag="added"):
    """Messages were appended, in this order."""

    entries: tuple[StoredEntry, ...]


class Inserted(Struct, frozen=True, tag="inserted"):
    """Messages came back to where they had been; `position` is their place afterwards."""

    entries: tuple[StoredEntry, ...]


class Deleted(Struct, frozen=True, tag="deleted"):
    """Messages were removed; `position` is their place before."""

    entries: tuple[StoredEntry, ...]


class Marked(Struct, frozen=True, tag="marked"):
    """Marks of messages changed."""

    changes: tuple[MarksChange, ...]


class SummaryChanged(Struct, frozen=True, tag="summary_changed"):
    """The summary was replaced."""

    before: str
    after: str


class Cleared(Struct, frozen=True, tag="cleared"):
    """Everything was removed, the summary too."""

    entries: tuple[StoredEntry, ...]
    summary: str


class Snapshot(Struct, frozen=True, tag="snapshot"):
    """The whole content at once: on subscription, after loading a state, after a change by another process."""

    entries: tuple[StoredEntry, ...]
    summary: str


MemoryChange = Added | Inserted | Deleted | Marked | SummaryChanged | Cleared | Snapshot


class MemoryState:
    """The fold over changes: the entries and the summary that a memory holds after them."""

    def __init__(self, entries: Iterable[Entry] = (), summary: str = "") -> None:
        self.entries: list[Entry] = list(entries)
        self.summary = summary

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryState) and (self.entries, self.summary) == (other.entries, other.summary)

    def apply(self, change: MemoryChange) -> None:
        """Redo one change."""
        match change:
            case Added(entries):
                self.entries.extend(Entry(entry.msg, entry.marks) for entry in entries)
            case Inserted(entries):
                for entry in entries:
                    self.entries.insert(entry.position, Entry(entry.msg, entry.marks))
            case Deleted(entries):
                gone = {entry.position for entry in entries}
                self.entries = [entry for position, entry in enumerate(self.entries) if position not in gone]
            case Marked(changes):
                for mark_change in changes:
                    position = mark_change.position
                    self.entries[position] = Entry(self.entries[position].msg, mark_change.after)
            case SummaryChanged(after=after):
                self.summary = after
            case Cleared():
                self.entries, self.summary = [], ""
            case Snapshot(entries, summary):
                self.entries = [Entry(entry.msg, entry.marks) for entry in entries]
                self.summary = summary


def stored(entries: Sequence[Entry], start: int = 0) -> tuple[StoredEntry, ...]:
    """Number entries from `start` on."""
    return tuple(StoredEntry(start + offset, msg, marks) for offset, (msg, marks) in enumerate(entries))


def encode_hook(value: Any) -> Any:
    """Msgspec's `enc_hook` for the types that changes and events hold."""
    if isinstance(value, Msg):
        return value.to_dict()
    raise NotImplementedError(f"cannot write {type(value).__name__}")


def decode_hook(kind: type, value: Any) -> Any:
    """Msgspec's `dec_hook`, the way back."""
    if kind is Msg:
        return Msg.from_dict(value)
    raise NotImplementedError(f"cannot read {kind.__name__}")
