"""Folding the memory changes of a session in which some may be missing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from agent_core.change import Deleted, Inserted, Marked, MarksChange, MemoryChange, MemoryState, StoredEntry


class SessionFold:
    """The working memory of a session as its changes are read, one by one.

    A change names messages by place and id. Where a damaged line took a change away, later places are off; such changes
    are fitted to what is really there.
    """

    def __init__(self) -> None:
        self.state = MemoryState()

    def take(self, change: MemoryChange) -> MemoryChange | None:
        """Apply a change and return it as it was applied; None when nothing is left of it."""
        fitted = self._fitted(change)
        if fitted is not None:
            self.state.apply(fitted)
        return fitted

    def _fitted(self, change: MemoryChange) -> MemoryChange | None:
        match change:
            case Marked(changes):
                marked = tuple(self._placed(changes))
                return Marked(marked) if marked else None
            case Deleted(entries):
                gone = tuple(self._found(entries))
                return Deleted(gone) if gone else None
            case Inserted(entries):
                size = len(self.state.entries)
                return Inserted(tuple(replace(e, position=min(e.position, size + n)) for n, e in enumerate(entries)))
        return change

    def _placed(self, changes: Iterable[MarksChange]) -> Iterable[MarksChange]:
        for change in changes:
            place = self._place(change.position, change.msg_id)
            if place is not None:
                yield replace(change, position=place)

    def _found(self, entries: Iterable[StoredEntry]) -> Iterable[StoredEntry]:
        for entry in entries:
            place = self._place(entry.position, entry.msg.id)
            if place is not None:
                yield replace(entry, position=place)

    def _place(self, position: int, msg_id: str) -> int | None:
        entries = self.state.entries
        if position < len(entries) and entries[position].msg.id == msg_id:
            return position
        return next((place for place, entry in enumerate(entries) if entry.msg.id == msg_id), None)
