"""Making a change again that a working memory has published, on the same memory or on another one."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.change import Added, Cleared, Deleted, Inserted, Marked, MarksChange, MemoryChange, SummaryChanged
from memory.working.base import MemoryBase


async def redo(change: MemoryChange, memory: MemoryBase) -> None:
    """Make a change again, by message ids: what others have done meanwhile stays. A snapshot says nothing to be done.

    Raises:
        NotImplementedError: this memory cannot do it.
    """
    match change:
        case Added(entries):
            for entry in entries:
                await memory.add(entry.msg, entry.marks)
        case Inserted(entries):
            await memory.restore(entries)
        case Deleted(entries):
            await memory.delete([entry.msg.id for entry in entries])
        case Marked(changes):
            await swap_marks(changes, memory)
        case SummaryChanged(after=after):
            await memory.update_compressed_summary(after)
        case Cleared(entries):
            # Not all that is there: what was stored since was no part of the change.
            await memory.delete([entry.msg.id for entry in entries])
            await memory.update_compressed_summary("")


async def swap_marks(changes: Sequence[MarksChange], memory: MemoryBase) -> None:
    """Bring the marks of each message from `before` to `after`, keeping what others have set since."""
    present = {msg.id: marks for msg, marks in await memory.entries()}
    wanted = {}
    for change in changes:
        marks = present.get(change.msg_id)
        if marks is None:
            continue
        others = [mark for mark in marks if mark not in change.before and mark not in change.after]
        wanted[change.msg_id] = (*change.after, *others)
    await memory.set_marks(wanted)
