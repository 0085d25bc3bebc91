"""`InMemoryMemory`: working memory in a list, with indexes by id and by mark."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent_core.change import (
    Added,
    Cleared,
    Deleted,
    Inserted,
    Marked,
    MarksChange,
    MemoryChange,
    Snapshot,
    StoredEntry,
    stored,
)
from agent_core.marks import Entry, Marks, normalize_marks
from agent_core.message import Msg
from agent_core.module import check_state
from memory.working.checked import CheckedMemory
from memory.working.mark_change import joined, replaced
from memory.working.state import content_from_json, content_to_json

Content = list[tuple[Msg, list[str]]]


class InMemoryMemory(CheckedMemory):
    """Keeps everything in this process. Adding costs the same at any size; a filter costs what it returns.

    Every message gets a serial number that only grows. Entries are found by it and stand in its order; the indexes hold
    serial numbers and survive deletions as they are. Places, which only listeners need, are found by bisection.
    """

    publishes_changes = True

    def __init__(self) -> None:
        super().__init__()
        self._reset(())
        self.register_state("content", content_to_json, content_from_json)

    @property
    def content(self) -> Content:
        """A snapshot of the `(msg, marks)` pairs. Assigning replaces everything but the summary."""
        return [(msg, list(marks)) for msg, marks in self._entries.values()]

    @content.setter
    def content(self, content: Iterable[tuple[Msg, Marks]]) -> None:
        self._reset(_checked_entries(content))
        self._publish_snapshot()

    async def size(self) -> int:
        """The number of stored messages."""
        return len(self._entries)

    async def clear(self) -> None:
        """Delete everything, the summary too."""
        gone = Cleared(stored(list(self._entries.values())), self._compressed_summary)
        self._reset(())
        self._compressed_summary = ""
        if gone.entries or gone.summary:
            self._publish(gone)

    async def entries(self) -> list[Entry]:
        """All messages with their marks."""
        return list(self._entries.values())

    async def restore(self, entries: Sequence[StoredEntry]) -> None:
        """Put deleted messages back to where they were; ids that are stored already are passed over."""
        missing = [entry for entry in entries if entry.msg.id not in self._serials_by_id]
        if not missing:
            return
        everything = list(self._entries.values())
        placed = []
        for entry in missing:
            position = min(entry.position, len(everything))
            everything.insert(position, Entry(entry.msg, entry.marks))
            placed.append(StoredEntry(position, entry.msg, entry.marks))
        self._reset(everything)
        self._publish(Inserted(tuple(placed)))

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None:
        """Put a state back, also one of AgentScope 1.x, whose older files have no summary and no marks.

        Raises:
            KeyError: `strict`, and there is no `content`.
            ValueError: the content is not a list of messages; nothing has been changed.
            TypeError: the summary or a mark is not a str; nothing has been changed.
        """
        check_state(state_dict)
        without_summary = {"_compressed_summary": ""} if "content" in state_dict else {}
        listeners, self._listeners = self._listeners, []
        try:
            super().load_state_dict({**without_summary, **state_dict}, strict)
        finally:
            self._listeners = listeners
        self._publish_snapshot()

    async def _add(self, messages: tuple[Msg, ...], marks: tuple[str, ...], duplicates: bool) -> None:
        start = len(self._entries)
        added: list[Entry] = []
        known: list[int] = []
        for msg in messages:
            serials = None if duplicates else self._serials_by_id.get(msg.id)
            if serials is None:
                added.append(Entry(msg, marks))
                self._append(added[-1])
            else:
                known.extend(serials)
        if added and self._listeners:
            self._publish(Added(stored(added, start)))
        if marks:
            self._change_marks(sorted(set(known)), lambda _, before: joined(before, marks))

    async def _delete(self, ids: tuple[str, ...] | None, marks: tuple[str, ...]) -> int:
        return self._remove(self._serials_of(marks) if ids is None else self._serials_with(ids))

    async def _read(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[str, list[Msg]]:
        return self._compressed_summary, self._filtered(wanted, self._serials_of(unwanted))

    async def _replace_mark(self, old: tuple[str, ...], new: tuple[str, ...], ids: tuple[str, ...] | None) -> int:
        return self._change_marks(self._candidates(old, ids), lambda _, marks: replaced(marks, old, new))

    async def _set_marks(self, marks: Mapping[str, tuple[str, ...]]) -> int:
        serials = self._serials_with(marks)
        return self._change_marks(sorted(serials), lambda serial, _: marks[self._entries[serial].msg.id])

    def _reset(self, entries: Iterable[Entry]) -> None:
        self._entries: dict[int, Entry] = {}
        self._serials: list[int] = []
        self._serials_by_id: dict[str, tuple[int, ...]] = {}
        self._serials_by_mark: dict[str, set[int]] = {}
        self._next_serial = 0
        for entry in entries:
            self._append(entry)

    def _append(self, entry: Entry) -> None:
        serial, self._next_serial = self._next_serial, self._next_serial + 1
        self._entries[serial] = entry
        self._serials.append(serial)
        self._serials_by_id[entry.msg.id] = (*self._serials_by_id.get(entry.msg.id, ()), serial)
        for mark in entry.marks:
            self._serials_by_mark.setdefault(mark, set()).add(serial)

    def _place(self, serial: int) -> int:
        return bisect_left(self._serials, serial)

    def _serials_of(self, marks: Iterable[str]) -> set[int]:
        return set().union(*(self._serials_by_mark.get(mark, ()) for mark in marks))

    def _serials_with(self, ids: Iterable[str]) -> set[int]:
        return {serial for id_ in ids for serial in self._serials_by_id.get(id_, ())}

    def _filtered(self, wanted: tuple[str, ...] | None, unwanted: set[int]) -> list[Msg]:
        if wanted is not None:
            chosen = self._serials_of(wanted) - unwanted
            if len(chosen) * 4 < len(self._entries):
                return [self._entries[serial].msg for serial in sorted(chosen)]
            # To put so many in order costs more than to walk all.
            return [entry.msg for serial, entry in self._entries.items() if serial in chosen]
        if unwanted:
            return [entry.msg for serial, entry in self._entries.items() if serial not in unwanted]
        return [entry.msg for entry in self._entries.values()]

    def _candidates(self, old: tuple[str, ...], ids: Sequence[str] | None) -> list[int]:
        if ids is not None:
            serials = self._serials_with(ids)
            return sorted(serials & self._serials_of(old) if old else serials)
        return sorted(self._serials_of(old)) if old else list(self._serials)

    def _change_marks(self, serials: Iterable[int], change: Callable[[int, tuple[str, ...]], tuple[str, ...]]) -> int:
        """Give each entry the marks that `change` makes of its serial number and its marks; how many really changed."""
        count, changes = 0, []
        for serial in serials:
            msg, before = self._entries[serial]
            after = change(serial, before)
            if after == before:
                continue
            count += 1
            self._entries[serial] = Entry(msg, after)
            self._index_marks(serial, before, after)
            if self._listeners:
                changes.append(MarksChange(self._place(serial), msg.id, before, after))
        if changes:
            self._publish(Marked(tuple(changes)))
        return count

    def _index_marks(self, serial: int, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        for mark in before:
            if mark not in after:
                self._serials_by_mark[mark].discard(serial)
                if not self._serials_by_mark[mark]:
                    del self._serials_by_mark[mark]
        for mark in after:
            if mark not in before:
                self._serials_by_mark.setdefault(mark, set()).add(serial)

    def _remove(self, serials: set[int]) -> int:
        if not serials:
            return 0
        gone = tuple(self._stored(serial) for serial in sorted(serials))
        for serial, entry in zip(sorted(serials), gone, strict=True):
            self._index_marks(serial, entry.marks, ())
            rest = tuple(other for other in self._serials_by_id[entry.msg.id] if other != serial)
            if rest:
                self._serials_by_id[entry.msg.id] = rest
            else:
                del self._serials_by_id[entry.msg.id]
            del self._entries[serial]
        self._serials = [serial for serial in self._serials if serial not in serials]
        self._publish(Deleted(gone))
        return len(gone)

    def _stored(self, serial: int) -> StoredEntry:
        return StoredEntry(self._place(serial), *self._entries[serial])

    def _publish_snapshot(self) -> None:
        self._publish(Snapshot(stored(list(self._entries.values())), self._compressed_summary))

    def _publish(self, change: MemoryChange) -> None:
        if self._listeners:
            super()._publish(change)


def _checked_entries(content: Iterable[tuple[Msg, Marks]]) -> list[Entry]:
    entries = []
    for pair in content:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], Msg):
            raise TypeError(f"content must hold pairs of a Msg and its marks, not {pair!r}")
        entries.append(Entry(pair[0], normalize_marks(pair[1])))
    return entries
