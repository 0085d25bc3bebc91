"""`MemoryWriter`: changes of a memory folder by hand, each atomic, recorded and with the index kept in step."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple, TypeVar

from agent_core.errors import StorageError
from agent_core.paths import one_line
from memory.agentic.blobs import LARGEST
from memory.agentic.folder import INDEX_NAME, MemoryFolder
from memory.agentic.folder_paths import relative_to
from memory.agentic.header_edit import set_fields
from memory.agentic.index_keeper import IndexKeeper
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import USER, Action, Author, JournalEntry
from memory.agentic.link_edit import point_elsewhere
from memory.agentic.memory_disk import MemoryConflict, MemoryDisk
from memory.agentic.memory_file import DISABLED, PINNED, header_of, is_binary, is_set
from memory.agentic.names import checked_name
from memory.agentic.text_edit import edited, with_text
from memory.agentic.transaction import Transaction

T = TypeVar("T")


class Written(NamedTuple):
    """What a change came to.

    Args:
        path: the file, from the memory folder; after a rename its new name.
        entries: of the journal, the one about this file first; none when there was nothing to change.
    """

    path: str
    entries: tuple[JournalEntry, ...]


class MemoryWriter:
    """Changes the files of one memory folder.

    Every change is all or nothing, waits for other programs, and is recorded so that it can be undone; what cannot be
    recorded is not done. Paths are given from the memory folder or whole. `seen` is what the caller knows the file to
    hold; where it holds something else by now, nothing is written. Everything may raise `StorageError`, and
    `MemoryConflict` with the difference.

    Args:
        folder: the memory folder; it is made with the first file.
        journal: its history.

    Attributes:
        disk: its files.
        journal: its history.
        index: keeps MEMORY.md in step.
    """

    def __init__(self, folder: MemoryFolder, journal: Journal) -> None:
        self.disk = MemoryDisk(folder)
        self.index = IndexKeeper(folder, self.disk, journal)
        self._folder = folder
        self.journal = journal

    async def create(self, relative: str, data: bytes, *, by: Author = USER, action: Action = "create") -> Written:
        """Make a file, and a line in the index that leads to it.

        Args:
            relative: its path from the memory folder; `.md` is added where it is missing.
            data: what it holds.
            by: who does it.
            action: what it is called in the history.
        """
        relative = _plainly(relative, partial(checked_name, relative))
        async with self.transaction(action, by) as change:
            change.change(relative, None, data)
            if not is_set(header_of(data), DISABLED):
                await self.index.add(change, relative, data)
            return Written(relative, await change.carry_out())

    async def edit(self, path: str, text: str, *, seen: bytes | None = None, by: Author = USER) -> Written:
        """Have a file hold `text`, as an editor gave it back; see `with_text` for what of the file stays."""
        async with self.transaction("edit", by) as change:
            relative, before = await self._existing(path, seen)
            await self._change(change, relative, before, _plainly(relative, partial(with_text, before, text)))
            return Written(relative, await change.carry_out())

    async def set_fields(
        self, path: str, fields: Mapping[str, str | None], *, seen: bytes | None = None, by: Author = USER
    ) -> Written:
        """Set fields of a file's header, or with None remove them; all else in it stays. A missing header is made."""
        async with self.transaction("header", by) as change:
            relative, before = await self._existing(path, seen)
            await self._change(change, relative, before, _with_fields(relative, before, fields))
            return Written(relative, await change.carry_out())

    async def rename(self, path: str, new: str, *, by: Author = USER) -> Written:
        """Call a file otherwise, `new` being its path from the memory folder; all links to it go with it."""
        async with self.transaction("rename", by) as change:
            return Written(await self._plan_rename(change, path, new), await change.carry_out())

    async def renamed_with(self, path: str, new: str) -> tuple[str, ...]:
        """The files that `rename` would change, the renamed one first; nothing is changed yet."""
        change = Transaction(self.disk, self.journal, "rename", USER)
        await self._plan_rename(change, path, new)
        return tuple(entry.path for entry in change.entries)

    async def delete(self, path: str, *, seen: bytes | None = None, by: Author = USER) -> Written:
        """Remove a file, and what in the index leads to it. Of a link, the link is removed, which nothing can undo."""
        if (link := await self.disk.link(path)) is not None:
            return await self._delete_link(link, by)
        async with self.transaction("delete", by) as change:
            relative, before = await self._existing_topic(path, seen)
            change.change(relative, before, None)
            await self.index.remove(change, relative)
            return Written(relative, await change.carry_out())

    async def pin(self, path: str, pinned: bool = True, *, by: Author = USER) -> Written:
        """Have a memory be recalled before all others, or no more; `pinned: true` in its header says so."""
        async with self.transaction("pin" if pinned else "unpin", by) as change:
            relative, before = await self._existing_topic(path)
            change.change(relative, before, _with_fields(relative, before, {PINNED: "true" if pinned else None}))
            return Written(relative, await change.carry_out())

    async def disable(self, path: str, disabled: bool = True, *, by: Author = USER) -> Written:
        """Take a memory out of use without deleting it, or back into use.

        `disabled: true` in its header keeps it from being recalled, and its lines are taken out of the index.
        """
        async with self.transaction("disable" if disabled else "enable", by) as change:
            relative, before = await self._existing_topic(path)
            after = _with_fields(relative, before, {DISABLED: "true" if disabled else None})
            change.change(relative, before, after)
            if disabled:
                await self.index.remove(change, relative)
            elif after != before:
                await self.index.put_back(change, relative, after)
            return Written(relative, await change.carry_out())

    @asynccontextmanager
    async def transaction(self, action: Action, by: Author, *, undoes: str = "") -> AsyncIterator[Transaction]:
        """Put a change of several files together, with all other programs kept away."""
        async with self.journal.changing():
            yield Transaction(self.disk, self.journal, action, by, undoes)

    async def _delete_link(self, relative: str, by: Author) -> Written:
        async with self.transaction("delete", by) as change:
            await self.index.remove(change, relative)
            entries = await change.carry_out()
            await self.disk.remove_link(relative)
            return Written(relative, entries)

    async def _plan_rename(self, change: Transaction, path: str, new: str) -> str:
        """Put the change together; the new path, made fit."""
        new = _plainly(new, partial(checked_name, new))
        relative, before = await self._existing_topic(path)
        if new == relative:
            return new
        names = await self.index.names(relative)
        moved = partial(point_elsewhere, old=relative, new=new, names=names)
        own = partial(moved, base=posixpath.dirname(relative), new_base=posixpath.dirname(new))
        change.move(relative, new, before, edited(before, own))
        for other, data in await self._others_with_links(relative):
            change.change(other, data, edited(data, partial(moved, base=posixpath.dirname(other))))
        return new

    async def _existing_topic(self, path: str, seen: bytes | None = None) -> tuple[str, bytes]:
        relative, present = await self._existing(path, seen)
        if relative == INDEX_NAME:
            raise StorageError(f"{INDEX_NAME} is the index: it can be edited, and nothing else.")
        return relative, present

    async def _existing(self, path: str, seen: bytes | None = None) -> tuple[str, bytes]:
        relative = await self.disk.relative(path)
        present = await self.disk.read(relative)
        if seen is not None and present != seen:
            raise await MemoryConflict.about(relative, seen, present)
        if present is None:
            raise StorageError(f"There is no memory {one_line(relative)}.")
        return relative, present

    async def _change(self, change: Transaction, relative: str, before: bytes, after: bytes) -> None:
        change.change(relative, before, after)
        if relative != INDEX_NAME:
            await self.index.reword(change, relative, before, after)

    async def _others_with_links(self, relative: str) -> list[tuple[str, bytes]]:
        """The index and the memories, without one of them, that may have links."""
        root = await self._folder.root()
        files = [file for file in (await self._folder.scan()).files if file.is_text and file.size <= LARGEST]
        found = []
        for other in [INDEX_NAME, *(relative_to(root, file.path) for file in files)]:
            data = await self.disk.read(other) if other != relative else None
            if data is not None and not is_binary(data) and (b"](" in data or b"[[" in data):
                found.append((other, data))
        return found


def _with_fields(relative: str, data: bytes, fields: Mapping[str, str | None]) -> bytes:
    """Set fields under the names that the header has them by: some programs keep the type in a nested mapping."""
    there = header_of(data).fields
    is_nested = "type" not in there and "metadata.type" in there
    changes = {"metadata.type" if is_nested and name == "type" else name: value for name, value in fields.items()}
    make_header = any(value is not None for value in changes.values())
    return _plainly(relative, partial(set_fields, data, changes, make_header=make_header))


def _plainly(relative: str, work: Callable[[], T]) -> T:
    """What `work` gives; what it finds unfit is told with the name of the file."""
    try:
        return work()
    except ValueError as error:
        raise StorageError(f"{one_line(relative)}: {error}.") from error
