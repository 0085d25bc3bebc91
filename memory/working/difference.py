"""What one state of a working memory has that an earlier one has not: few changes where the two differ little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent_core.change import StoredEntry
from agent_core.marks import Entry
from memory.working.base import MemoryBase


class Difference(Struct, frozen=True):
    """The changes that lead from one state to another, to be made in this order."""

    deleted: Sequence[str]
    marks: Mapping[str, Sequence[str]]
    placed: Sequence[StoredEntry]

    @property
    def size(self) -> int:
        """How many messages come, go, or are marked in another way."""
        return len(self.deleted) + len(self.marks) + len(self.placed)

    async def make(self, memory: MemoryBase) -> None:
        """Make the changes in a memory that holds the earlier state."""
        if self.deleted:
            await memory.delete(self.deleted)
        if self.marks:
            await memory.set_marks(self.marks)
        if self.placed:
            await memory.restore(self.placed)


def difference(before: Sequence[Entry], after: Sequence[Entry]) -> Difference | None:
    """How to come from `before` to `after`; None where an id is stored twice, or messages changed or moved."""
    old, new = ({entry.msg.id: entry for entry in entries} for entries in (before, after))
    if (len(old), len(new)) != (len(before), len(after)):
        return None
    kept = [id_ for id_ in new if id_ in old]
    if kept != [id_ for id_ in old if id_ in new] or any(old[id_].msg != new[id_].msg for id_ in kept):
        return None
    return Difference(
        [id_ for id_ in old if id_ not in new],
        {id_: new[id_].marks for id_ in kept if new[id_].marks != old[id_].marks},
        [StoredEntry(place, *entry) for place, entry in enumerate(after) if entry.msg.id not in old],
    )
