"""`undo`: taking back one change from the history of a memory. It is a change itself, and can be undone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agent_core.errors import StorageError
from agent_core.paths import one_line
from memory.agentic.folder import INDEX_NAME
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import USER, Author, JournalEntry, digest_of
from memory.agentic.memory_disk import MemoryConflict
from memory.agentic.revert import revert_lines
from memory.agentic.transaction import Transaction
from memory.agentic.writer import MemoryWriter


class Undone(NamedTuple):
    """What an undoing came to.

    Args:
        entries: of the journal, that of the file itself first.
        left: files that were changed along with it and could not be taken back, since they have changed since.
    """

    entries: tuple[JournalEntry, ...]
    left: tuple[str, ...] = ()


def newest_change(history: Iterable[JournalEntry]) -> JournalEntry | None:
    """The newest change that is no undoing and has not been undone; None without one.

    Args:
        history: the newest first.
    """
    undone: set[str] = set()
    for entry in history:
        if entry.id in undone or entry.group:
            # An undoing that was undone itself takes nothing back.
            continue
        if not entry.undoes:
            return entry
        undone.add(entry.undoes)
    return None


async def undo(entry_id: str, writer: MemoryWriter, journal: Journal, *, by: Author = USER) -> Undone:
    """Have a file hold what it held before a change, and be called what it was called.

    What the change did to other files, such as a line in the index, is taken back there too, also when other lines of
    them have changed since. Folders that were made for it go, if nothing is in them now.

    Args:
        entry_id: of the change, or the beginning of it.
        writer: changes the memory.
        journal: its history.
        by: who does it.

    Raises:
        MemoryConflict: the file has changed since; with the difference to what the change left.
        StorageError: there is no such change, or what the file held is not kept any more, or nothing can be written.
    """
    found = await journal.entry(entry_id)
    async with writer.transaction("undo", by, undoes=found.id) as change:
        entries = await journal.settled()
        entry = next((one for one in entries if one.id == found.id), found)
        after = await _required(entry, journal, writer)
        before = await _kept(entry.before, entry, journal)
        if entry.from_path and before is not None and after is not None:
            if (occupied := await writer.disk.read(entry.from_path)) is not None:
                raise await MemoryConflict.about(entry.from_path, None, occupied)
            change.move(entry.path, entry.from_path, after, before)
        else:
            change.change(entry.path, after, before)
        sides = [side for side in entries if side.group == entry.id]
        left = [side.path for side in sides if not await _take_back(side, entry, change, writer, journal)]
        if before is None and INDEX_NAME not in [one.path for one in change.entries]:
            # Its line is not as the change left it, or was written apart from it.
            await writer.index.remove(change, entry.path)
            left = [path for path in left if path != INDEX_NAME]
        undone = Undone(await change.carry_out(), tuple(left))
        await writer.disk.remove_empty(entry.folders)
        return undone


async def _required(entry: JournalEntry, journal: Journal, writer: MemoryWriter) -> bytes | None:
    """What the file holds now, which must be what the change left."""
    present = await writer.disk.read(entry.path)
    if (None if present is None else digest_of(present)) == entry.after:
        return present
    expected = await journal.content(entry.after)
    conflict = await MemoryConflict.about(entry.path, expected, present)
    raise MemoryConflict(f"{one_line(entry.path)} has changed since: the change was not undone.", conflict.diff)


async def _kept(digest: str | None, entry: JournalEntry, journal: Journal) -> bytes | None:
    content = await journal.content(digest)
    if digest is not None and content is None:
        raise StorageError(f"What {one_line(entry.path)} held before is not kept any more, so it cannot be undone.")
    return content


async def _take_back(
    side: JournalEntry, entry: JournalEntry, change: Transaction, writer: MemoryWriter, journal: Journal
) -> bool:
    """Take back what a change did to another file; False when it cannot be."""
    if side.path == INDEX_NAME:
        return await writer.index.revert(change, side, entry.path)
    present = await writer.disk.read(side.path)
    if (None if present is None else digest_of(present)) == side.after:
        change.change(side.path, present, await _kept(side.before, side, journal))
        return True
    before, after = await journal.content(side.before), await journal.content(side.after)
    reverted = revert_lines(before, after, present) if before and after and present else None
    if reverted is not None:
        change.change(side.path, present, reverted)
    return reverted is not None
