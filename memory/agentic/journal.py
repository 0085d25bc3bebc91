"""`Journal`: the history of a memory folder, kept beside it, so that every change can be explained and undone.

Beside `Memory` lies `.mnemoscope/Memory` with `journal.jsonl` (one line of JSON for each change, see `JournalEntry`;
a line that repeats an id amends that entry) and `contents` (see `Blobs`). Nobody else on this machine may look into
it, and Git is told to leave it alone. The lines are replaced as a whole under a lock, so that two programs lose nothing
of each other and none is ever torn; a line that is damaged anyhow costs only itself. See `Retention` for how much is
kept. It may be kept elsewhere, in a folder of this machine, for a memory on a back end that lacks locks: there two
programs on different machines have a history each, and one on the back end may lose an entry when two of them change
the memory at the same moment.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from agent_core.errors import StorageError
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.blobs import Blobs
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import path_in, split
from memory.agentic.journal_entry import JournalEntry, contents, encode_line, entry_line
from memory.agentic.journal_file import JournalFile
from memory.agentic.retention import Retention
from memory.agentic.seen import Seen, load_seen

FOLDER_NAME = ".mnemoscope"
Listener = Callable[[Sequence[JournalEntry]], Awaitable[None]]
"""Told once of changes that were made, whoever made them, other programs included."""
_STALE = 600.0
"""Seconds after which a change that was about to be made no longer explains what a file holds."""


class Journal:
    """The history of one memory folder. Nothing is made on disk before the first change.

    Everything may raise `StorageError`: the journal cannot be read or written. The methods that change it are called
    within `changing`.

    Args:
        folder: the memory folder.
        retention: how much is kept.
        clock: seconds since the epoch.
        kept_in: the folder of this machine that it is kept in; beside the memory folder when None.

    Attributes:
        backend: where the history is kept.
        listeners: see `Listener`.
    """

    def __init__(
        self,
        folder: MemoryFolder,
        retention: Retention | None = None,
        clock: Callable[[], float] = time.time,
        kept_in: str | None = None,
    ) -> None:
        self.folder = folder
        self.clock = clock
        self.backend = folder.backend if kept_in is None else LocalBackend()
        self.listeners: list[Listener] = []
        self._retention = retention or Retention()
        self._kept_in = kept_in
        self._file = JournalFile(self.backend)
        self._told: set[str] | None = None
        self._turn = asyncio.Lock()

    async def place(self) -> str:
        """The folder that the history is kept in."""
        if self._kept_in is not None:
            with told("read"):
                return await self.backend.resolve(self._kept_in)
        parent, name = split(await self.folder.root())
        return path_in(parent, f"{FOLDER_NAME}/{name}")

    async def entries(self) -> list[JournalEntry]:
        """All changes that were made, oldest first; listeners hear of those that are new."""
        entries = await self.settled()
        if self._told is None:
            self._told = {entry.id for entry in entries}
        news = [entry for entry in entries if entry.id not in self._told]
        self._told.update(entry.id for entry in news)
        for listener in tuple(self.listeners) if news else ():
            await listener(news)
        return entries

    async def settled(self) -> list[JournalEntry]:
        """As `entries`, without a word to the listeners."""
        return [entry for entry in await self._all() if not entry.is_void and not entry.is_pending]

    async def damaged(self) -> int:
        """How many lines of the journal cannot be read."""
        with told("read"):
            return (await self._file.read(await self.place())).damaged

    async def entry(self, entry_id: str) -> JournalEntry:
        """One change, by its id or the beginning of it.

        Raises:
            StorageError: there is no such change, or more than one.
        """
        found = [entry for entry in await self.entries() if entry_id and entry.id.startswith(entry_id)]
        if len(found) != 1:
            many = "more than one change has an id that begins with" if found else "there is no change"
            raise StorageError(f"In the history of the memory {many} {entry_id!r}.")
        return found[0]

    async def history(self, relative: str) -> list[JournalEntry]:
        """The changes of one file, newest first, those under earlier names included."""
        return history_of(relative, await self.entries())

    async def content(self, digest: str | None) -> bytes | None:
        """What a file held, by the digest in an entry; None when there was no file, or it is not kept any more."""
        with told("read"):
            return None if digest is None else await (await self._blobs()).get(digest)

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Be the only one, among all programs, that changes this memory and its history. Not reentrant.

        Raises:
            StorageError: also when somebody else did not let go of it in time.
        """
        async with self._turn, AsyncExitStack() as stack:
            with told("written"):
                await stack.enter_async_context(self._file.lock(await self.place()))
            if self._told is None:
                self._told = {entry.id for entry in await self.settled()}
            yield
            entries = await self._all()
            if self._retention.is_passed_by(entries):
                await self.keep_only(self._retention.kept(entries))
        await self.entries()

    async def record(self, entries: Iterable[JournalEntry], kept: Iterable[bytes | None] = ()) -> None:
        """Write entries down, and keep the contents that they speak of."""
        entries = list(entries)
        if not entries:
            return
        with told("written"):
            await (await self._blobs()).put(content for content in kept if content is not None)
            await self._file.append(await self.place(), b"".join(map(entry_line, entries)))

    async def keep(self, kept: Iterable[bytes]) -> None:
        """Keep contents that no entry speaks of yet."""
        with told("written"):
            await (await self._blobs()).put(kept)

    async def settle(self, entry_id: str, after: bytes | None, **more: str) -> None:
        """Say of an entry that was pending what the file holds now; `more` are fields that turned out otherwise."""
        fields = {"id": entry_id, "is_pending": False, **contents(after=after), **more}
        with told("written"):
            await (await self._blobs()).put([] if after is None else [after])
            await self._file.append(await self.place(), encode_line(fields))

    async def void(self, entry_ids: Iterable[str]) -> None:
        """Say of entries that their changes were not made after all."""
        lines = [encode_line({"id": entry_id, "is_void": True}) for entry_id in entry_ids]
        with told("written"):
            await self._file.append(await self.place(), b"".join(lines))

    async def keep_only(self, entries: Sequence[JournalEntry], *, without: Collection[str] = ()) -> int:
        """Drop all other entries, and the contents that nobody needs any more; how many contents those were.

        Args:
            entries: what stays.
            without: digests of contents that are dropped though an entry speaks of them.
        """
        seen = await self.seen()
        removed = await self.keep_contents(digests_of(entries) - set(without) | {one.digest for one in seen.values()})
        with told("written"):
            await self._file.replace(await self.place(), entries)
        return removed

    async def keep_contents(self, digests: Collection[str]) -> int:
        """Drop all other contents; how many those were. Where a disk is full, this makes room."""
        with told("written"):
            return await (await self._blobs()).keep_only(digests)

    async def seen(self) -> dict[str, Seen]:
        """What the files held when they were looked at last; empty when nobody has."""
        with told("read"):
            return await load_seen(self.backend, await self.place()) or {}

    async def pending(self, relative: str) -> JournalEntry | None:
        """The newest change of a file that was about to be made a short while ago."""
        now = self.clock()
        found = [entry for entry in await self._all() if entry.path == relative and entry.is_pending]
        return next((one for one in reversed(found) if not one.is_void and now - one.at < _STALE), None)

    async def _all(self) -> tuple[JournalEntry, ...]:
        with told("read"):
            return (await self._file.read(await self.place())).entries

    async def _blobs(self) -> Blobs:
        return Blobs(self.backend, f"{await self.place()}/contents")


def history_of(relative: str, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The changes of one file, newest first, those under earlier names included."""
    name, found = relative, []
    for entry in reversed(entries):
        if name in (entry.path, entry.from_path):
            found.append(entry)
        if entry.path == name and entry.from_path:
            name = entry.from_path
    return found


def digests_of(entries: Iterable[JournalEntry]) -> set[str]:
    """All contents that changes speak of."""
    return {digest for entry in entries for digest in entry.digests}


def known_contents(entries: Iterable[JournalEntry]) -> dict[str, str | None]:
    """What each file holds by its last change, as a digest; None for one that is gone."""
    known: dict[str, str | None] = {}
    for entry in entries:
        if entry.from_path:
            known[entry.from_path] = None
        known[entry.path] = entry.after
    return known


@contextmanager
def told(done: str) -> Iterator[None]:
    """Turn errors of the back end into one line for people."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"The history of the memory cannot be {done}: {error.strerror or error} ({error.filename or 'unknown'})."
        ) from error
