"""What the working memory holds, as the trace tells it, with keys that name a row for as long as it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set

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
    SummaryChanged,
)
from agent_core.marks import Entry
from agent_core.tokens import estimate_message_tokens
from tui.views.clusters import Clusters, Kind


class StoredMessages:
    """The fold over memory changes that never fails.

    A session may have been cut anywhere, so a change may speak of places that are not there: then the message is
    looked for by its id, and what is not found is left alone.

    Attributes:
        entries: the messages with their marks, in order.
        keys: a number for each of them that no other row ever had. Ids do not do: one message may be stored twice.
        summary: what stands for the messages marked `compressed`; empty when there is none.
        mark_counts: how many messages have each mark.
        tokens: an estimate of all messages together.
        revision: grows with every change.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.keys: list[int] = []
        self.summary = ""
        self.mark_counts: Counter[str] = Counter()
        self.tokens = 0
        self.revision = 0
        self._next_key = 0
        self._clusters = Clusters()

    @property
    def ids(self) -> Set[str]:
        """The ids of all messages."""
        return self._clusters.ids

    @property
    def running(self) -> frozenset[str]:
        """The ids of the running reply's messages, stored or not."""
        return self._clusters.running

    @property
    def kinds(self) -> Collection[Kind]:
        """All kinds of messages, as far as verdicts on them are concerned."""
        return self._clusters.kinds

    def kind_of(self, position: int) -> tuple[Kind, int]:
        """The kind of those that the message at this position is judged with, and its place among them."""
        return self._clusters.kind_of(self.keys[position])

    def run(self, msg_ids: frozenset[str]) -> None:
        """Take the messages with these ids, those to come too, for those of the running reply."""
        self.revision += 1
        self._clusters.run(msg_ids)

    def apply(self, change: MemoryChange) -> None:
        """Take in one change."""
        self.revision += 1
        match change:
            case Added(entries):
                self._append(entries)
            case Inserted(entries):
                for entry in entries:
                    self._insert(max(0, entry.position), entry, self._new_key())
                self._index_all()
            case Deleted(entries):
                self._delete(entries)
            case Marked(changes):
                self._mark(changes)
            case SummaryChanged(after=after):
                self.summary = after
            case Cleared():
                self._replace((), "")
            case Snapshot(entries, summary):
                self._replace(entries, summary)

    def _index_all(self) -> None:
        self._clusters = Clusters(self.running)
        self._clusters.update((), dict(zip(self.keys, self.entries, strict=True)))

    def _new_key(self) -> int:
        self._next_key += 1
        return self._next_key

    def _append(self, entries: Sequence[StoredEntry]) -> None:
        start = len(self.entries)
        for entry in entries:
            self._insert(len(self.entries), entry, self._new_key())
        self._clusters.update((), dict(zip(self.keys[start:], self.entries[start:], strict=True)))

    def _insert(self, position: int, entry: StoredEntry, key: int) -> None:
        self.entries.insert(position, Entry(entry.msg, tuple(entry.marks)))
        self.keys.insert(position, key)
        self.mark_counts.update(entry.marks)
        self.tokens += estimate_message_tokens(entry.msg)

    def _delete(self, entries: Iterable[StoredEntry]) -> None:
        places = {self._place(entry.position, entry.msg.id) for entry in entries}
        gone = []
        for place in sorted((place for place in places if place is not None), reverse=True):
            msg, marks = self.entries.pop(place)
            gone.append(self.keys.pop(place))
            self._uncount(marks)
            self.tokens -= estimate_message_tokens(msg)
        self._clusters.update(gone, {})

    def _mark(self, changes: Iterable[MarksChange]) -> None:
        marked = {}
        for change in changes:
            place = self._place(change.position, change.msg_id)
            if place is not None:
                msg, before = self.entries[place]
                self.entries[place] = marked[self.keys[place]] = Entry(msg, change.after)
                self._uncount(before)
                self.mark_counts.update(change.after)
        self._clusters.update((), marked)

    def _uncount(self, marks: Iterable[str]) -> None:
        for mark in marks:
            self.mark_counts[mark] -= 1
            if self.mark_counts[mark] <= 0:
                del self.mark_counts[mark]

    def _place(self, position: int, msg_id: str) -> int | None:
        if 0 <= position < len(self.entries) and self.entries[position].msg.id == msg_id:
            return position
        return next((place for place, entry in enumerate(self.entries) if entry.msg.id == msg_id), None)

    def _replace(self, entries: Iterable[StoredEntry], summary: str) -> None:
        """Take over other content; a message that was there keeps its key."""
        known: dict[str, list[int]] = {}
        for entry, key in zip(reversed(self.entries), reversed(self.keys), strict=True):
            known.setdefault(entry.msg.id, []).append(key)
        self.entries, self.keys = [], []
        self.mark_counts.clear()
        self.tokens = 0
        self.summary = summary
        for stored in entries:
            keys = known.get(stored.msg.id)
            self._insert(len(self.entries), stored, keys.pop() if keys else self._new_key())
        self._index_all()
