"""What the working memory holds, as the trace tells it, with keys that name a row for as long as it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent_core.change import (
    Added,
    Cleared,
    Deleted,
    Inserted,
    Marked,
    MemoryChange,
    Snapshot,
    StoredEntry,
    SummaryChanged,
)
from agent_core.history import REPLACES
from agent_core.marks import Entry
from agent_core.message import Msg, ToolCallBlock, ToolResultBlock
from agent_core.tokens import estimate_message_tokens


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
        ids: how often each message is stored, by id.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.keys: list[int] = []
        self.summary = ""
        self.mark_counts: Counter[str] = Counter()
        self.tokens = 0
        self.ids: Counter[str] = Counter()
        self._next_key = 0
        self._links: dict[str, list[int]] = {}

    def apply(self, change: MemoryChange) -> Sequence[int] | None:
        """Take in one change.

        Returns:
            The positions that are new or differ; None when positions have moved.
        """
        match change:
            case Added(entries):
                start = len(self.entries)
                for entry in entries:
                    self._link(len(self.entries), entry.msg)
                    self._insert(len(self.entries), entry, self._new_key())
                return range(start, len(self.entries))
            case Inserted(entries):
                for entry in entries:
                    self._insert(max(0, entry.position), entry, self._new_key())
            case Deleted(entries):
                self._delete(entries)
            case Marked(changes):
                places = [(self._place(mark.position, mark.msg_id), mark.after) for mark in changes]
                return [self._mark(place, after) for place, after in places if place is not None]
            case SummaryChanged(after=after):
                self.summary = after
                return ()
            case Cleared():
                self._replace((), "")
            case Snapshot(entries, summary):
                self._replace(entries, summary)
        self._link_all()
        return None

    def positions_of(self, msg_ids: Iterable[str]) -> list[int]:
        """Where these messages are, in order."""
        wanted = frozenset(msg_ids)
        return [place for place, entry in enumerate(self.entries) if entry.msg.id in wanted] if wanted else []

    def linked(self, places: Iterable[int]) -> list[int]:
        """These places and those of all messages that they are linked to, directly or not, in order.

        A call is linked to its results, and a message to those that it replaces or that replace it.
        """
        found = set(places)
        seen: set[str] = set()
        waiting = list(found)
        while waiting:
            links = set(_links(self.entries[waiting.pop()].msg)) - seen
            seen |= links
            news = {place for link in links for place in self._links[link]} - found
            found |= news
            waiting.extend(news)
        return sorted(found)

    def _link_all(self) -> None:
        self._links.clear()
        for place, entry in enumerate(self.entries):
            self._link(place, entry.msg)

    def _link(self, place: int, msg: Msg) -> None:
        for link in _links(msg):
            self._links.setdefault(link, []).append(place)

    def _new_key(self) -> int:
        self._next_key += 1
        return self._next_key

    def _insert(self, position: int, entry: StoredEntry, key: int) -> None:
        self.entries.insert(position, Entry(entry.msg, tuple(entry.marks)))
        self.keys.insert(position, key)
        self.mark_counts.update(entry.marks)
        self.ids[entry.msg.id] += 1
        self.tokens += estimate_message_tokens(entry.msg)

    def _delete(self, entries: Iterable[StoredEntry]) -> None:
        places = {self._place(entry.position, entry.msg.id) for entry in entries}
        for place in sorted((place for place in places if place is not None), reverse=True):
            msg, marks = self.entries.pop(place)
            del self.keys[place]
            self._uncount(self.mark_counts, marks)
            self._uncount(self.ids, (msg.id,))
            self.tokens -= estimate_message_tokens(msg)

    def _mark(self, place: int, marks: tuple[str, ...]) -> int:
        msg, before = self.entries[place]
        self.entries[place] = Entry(msg, marks)
        self._uncount(self.mark_counts, before)
        self.mark_counts.update(marks)
        return place

    @staticmethod
    def _uncount(counts: Counter[str], gone: Iterable[str]) -> None:
        for one in gone:
            counts[one] -= 1
            if counts[one] <= 0:
                del counts[one]

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
        self.ids.clear()
        self.tokens = 0
        self.summary = summary
        for stored in entries:
            keys = known.get(stored.msg.id)
            self._insert(len(self.entries), stored, keys.pop() if keys else self._new_key())


def _links(msg: Msg) -> Iterator[str]:
    """What ties a message to others: ids of calls, and what it replaces."""
    if not msg.is_plain:
        for block in msg.blocks:
            if isinstance(block, ToolCallBlock | ToolResultBlock):
                yield f"call {block.id}"
    key = msg.get_metadata(REPLACES)
    if isinstance(key, str):
        yield f"replaces {key}"
