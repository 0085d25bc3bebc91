"""`IndexKeeper`: keeps MEMORY.md in step with the files of its folder, as part of the change that made it necessary."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from itertools import takewhile

from agent_core.errors import StorageError
from memory.agentic.folder import INDEX_NAME, MemoryFolder
from memory.agentic.index import find_links
from memory.agentic.index_edit import IndexLine, IsLink, add_entries, remove_entry, reword_entry
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import JournalEntry
from memory.agentic.link_edit import Names
from memory.agentic.memory_disk import MemoryDisk
from memory.agentic.memory_file import header_of, is_binary
from memory.agentic.provenance import origin_of_lines
from memory.agentic.revert import revert_lines
from memory.agentic.text_edit import edited
from memory.agentic.transaction import Transaction


class IndexKeeper:
    """Adds what the index needs to a transaction. Files are named by their paths from the memory folder.

    Everything may raise `StorageError`.

    Args:
        folder: the memory folder.
        disk: its files.
        journal: its history.
    """

    def __init__(self, folder: MemoryFolder, disk: MemoryDisk, journal: Journal) -> None:
        self._folder = folder
        self._disk = disk
        self._journal = journal

    async def names(self, *more: str) -> Names:
        """The files of the folder, and `more`, for finding out what links mean."""
        scan = await self._folder.scan()
        return Names([*(file.relative for file in scan.files), *more])

    async def add(self, change: Transaction, relative: str, data: bytes) -> None:
        """Have a line lead to a file that holds `data`, unless one does."""

        def add(index: str, is_link: IsLink) -> str:
            targets = [link.target for line in index.splitlines() for link in find_links(line)]
            return index if any(map(is_link, targets)) else add_entries(index, [index_line(relative, data)])

        await self._edit(change, relative, add)

    async def remove(self, change: Transaction, relative: str) -> None:
        """Remove what leads to a file."""
        await self._edit(change, relative, remove_entry)

    async def reword(self, change: Transaction, relative: str, before: bytes, after: bytes) -> None:
        """Where the index says of a file what its header said, have it say what the header says now."""
        old, new = index_line(relative, before), index_line(relative, after)
        if old != new:
            await self._edit(change, relative, lambda index, is_link: reword_entry(index, is_link, old, new))

    async def put_back(self, change: Transaction, relative: str, data: bytes) -> None:
        """Have the index lead to a file again, as it did before the file was disabled where that is known."""
        entries = await self._journal.settled()
        disabled = [entry.id for entry in entries if entry.action == "disable" and entry.path == relative]
        beside = [entry for entry in entries if entry.path == INDEX_NAME and entry.group in disabled]
        if not beside or not await self.revert(change, beside[-1], relative):
            await self.add(change, relative, data)

    async def revert(self, change: Transaction, side: JournalEntry, relative: str) -> bool:
        """Take back what a change of a file did to the index, its entry `side`; False where that is not possible."""
        present = await self._disk.read(INDEX_NAME)
        old, new = await self._journal.content(side.before), await self._journal.content(side.after)
        if (side.before and old is None) or (side.after and new is None):
            return False
        reverted = revert_lines(old or b"", new or b"", present or b"")
        if reverted is None:
            return False
        # Lines that come back are what they were before they went.
        earlier = list(takewhile(lambda entry: entry.id != side.group, await self._journal.settled()))
        source = origin_of_lines([relative, INDEX_NAME], earlier)
        change.change(INDEX_NAME, present, None if side.before is None and not reverted else reverted, source=source)
        return True

    async def _edit(self, change: Transaction, relative: str, edit: Callable[[str, IsLink], str]) -> None:
        names = await self.names(relative)
        before = await self._disk.read(INDEX_NAME)
        require_text(before)
        after = edited(before or b"", lambda index: edit(index, lambda target: names.find(target) == relative))
        if before is not None or after:
            source = origin_of_lines([relative], [*await self._journal.settled(), *change.entries])
            change.change(INDEX_NAME, before, after, source=source)


def require_text(index: bytes | None) -> None:
    """Raise `StorageError` where what MEMORY.md holds is no text, to which no line can be added."""
    if index is not None and is_binary(index):
        raise StorageError(f"{INDEX_NAME} is not text: mend it by hand first.")


def index_line(relative: str, data: bytes) -> IndexLine:
    """What the index is to say of a file, by its header."""
    fields = header_of(data).fields
    stem = posixpath.basename(relative)[:-3]
    return IndexLine(fields.get("name", "").strip() or stem, relative, fields.get("description", "").strip())
