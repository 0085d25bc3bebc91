"""`JournalFile`: the lines of a journal on disk, read when they have changed and replaced as a whole."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from agent_core.tool.backend import BackendBase
from agent_core.tool.in_thread import in_thread
from agent_core.tool.local_backend import LocalBackend
from agent_core.tool.local_files import folder_of
from memory.agentic.folder_paths import split
from memory.agentic.journal_entry import Fold, JournalEntry, entry_line, fold_lines

FILE_NAME = "journal.jsonl"


class JournalFile:
    """The file `journal.jsonl` of a folder of its own, which is made with the first line.

    All methods may raise `OSError`.

    Args:
        backend: where the folder is.
    """

    def __init__(self, backend: BackendBase) -> None:
        self._backend = backend
        self._fold = Fold()
        self._version: tuple[str, str] | None = None

    async def read(self, place: str) -> Fold:
        """What the lines of the journal in the folder `place` say; read only when they have changed."""
        path = f"{place}/{FILE_NAME}"
        info = await self._backend.stat(path)
        version = path, info.version if info else ""
        if version != self._version:
            data = await self._bytes(path) if info else b""
            self._fold = await asyncio.to_thread(fold_lines, data.splitlines())
            self._version = version
        return self._fold

    async def append(self, place: str, lines: bytes) -> None:
        """Add lines. Whoever does so holds the lock."""
        path = f"{place}/{FILE_NAME}"
        before = await self._bytes(path)
        # A line that was torn costs only itself.
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        await self._backend.write_file(path, before + gap + lines, follow=False)

    async def replace(self, place: str, entries: Iterable[JournalEntry]) -> None:
        """Make these all the entries that there are. Whoever does so holds the lock."""
        await self._backend.write_file(f"{place}/{FILE_NAME}", b"".join(map(entry_line, entries)), follow=False)

    @asynccontextmanager
    async def lock(self, place: str) -> AsyncIterator[None]:
        """Keep all other programs away from the journal."""
        async with AsyncExitStack() as stack:
            await self._make(place)
            await stack.enter_async_context(self._backend.lock(f"{place}/{FILE_NAME}"))
            yield

    async def _bytes(self, path: str) -> bytes:
        try:
            return await self._backend.read_file(path, follow=False)
        except FileNotFoundError:
            return b""

    async def _make(self, place: str) -> None:
        """Make the folder, private to this user, and tell Git to leave it alone."""
        if await self._backend.stat(place) is not None:
            return
        above, _ = split(place)
        if isinstance(self._backend, LocalBackend):
            for folder in (above, place):
                await in_thread(_make_private, folder)
        ignored = f"{above}/.gitignore"
        if await self._backend.stat(ignored) is None:
            await self._backend.write_file(ignored, b"*\n", follow=False)


def _make_private(path: str) -> None:
    """Make a folder that is nobody else's; through no link. It may be there already."""
    with folder_of(path, create=True) as (folder, before), suppress(FileExistsError):
        os.mkdir(before + split(path)[1], 0o700, dir_fd=folder)
