"""Deleting a memory for good: out of its folder, its history, the sessions that tell of it and what was typed."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from agent_core.errors import StorageError
from memory.agentic.book import MemoryBook
from memory.agentic.folder_paths import path_in
from memory.agentic.purge import Purged
from tui.config import Settings
from tui.session_erasure import Erased, SessionErasure
from tui.store_erasure import StoreErased, StoreErasure
from tui.views.figures import plural


class Gone(NamedTuple):
    """What was deleted for good: the memory by its path, what its folder held of it, what was told of it elsewhere.

    `stored` is None where there is no memory store.
    """

    path: str
    purged: Purged
    erased: Erased
    stored: StoreErased | None

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each place, and what was deleted there."""
        names = [name for name in self.purged.paths if name != self.path]
        called = f", also as {', '.join(names)}" if names else ""
        history = f"{plural(self.purged.entries, 'change')} and {plural(self.purged.contents, 'content')} of it{called}"
        told = f"{plural(self.erased.passages, 'passage')} of {', '.join(self.erased.sessions)}"
        return [
            ("history", history),
            ("sessions", told if self.erased.sessions else "none tells of it"),
            *([("store", str(self.stored))] if self.stored is not None else []),
            ("prompts", f"{plural(self.erased.prompts, 'line')} of those that were typed"),
        ]


class ForGood:
    """A deletion that is ready to be carried out.

    Attributes:
        path: the memory, from its folder.
        changes: how many its history has.
        sessions: the sessions that tell of it.
        stored_sessions: how many in the memory store do.
        tells_here: whether the one that this program has open is among them; close it first.
    """

    def __init__(
        self, book: MemoryBook, path: str, changes: int, erasure: SessionErasure, store: StoreErasure | None
    ) -> None:
        self.path = path
        self.changes = changes
        self.sessions = erasure.sessions
        self.stored_sessions = store.sessions if store else 0
        self.tells_here = erasure.tells_here
        self._book = book
        self._erasure = erasure
        self._store = store

    async def carry_out(self) -> Gone:
        """Delete it.

        Sessions and store first: as long as the memory is there, what they have of it can be found again.

        Raises:
            StorageError: something could not be deleted; doing it again goes on where it stopped.
        """
        erased = await self._erased()
        stored = await self._clear_store()
        return Gone(self.path, await self._book.purge(self.path), erased, stored)

    async def _clear_store(self) -> StoreErased | None:
        try:
            return await self._store.carry_out() if self._store else None
        except StorageError as error:
            again = "Delete it for good once more: the memory store (--memory) and the history still tell of it."
            raise StorageError(f"{error} {again}") from error

    async def _erased(self) -> Erased:
        """Clear the sessions; on a full disk the file goes first, where it can still be known what it held."""
        try:
            return await asyncio.to_thread(self._erasure.carry_out)
        except StorageError as error:
            if not _is_for_want_of_room(error) or not await self._book.make_room(self.path):
                raise StorageError(f"{error} The memory is still there.") from error
        try:
            return await asyncio.to_thread(self._erasure.carry_out)
        except StorageError as error:
            again = "Make more room and delete it for good once more: sessions and history still tell of it."
            raise StorageError(f"{self.path} is deleted. {error} {again}") from error


def _is_for_want_of_room(error: StorageError) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in (errno.ENOSPC, errno.EDQUOT)


@asynccontextmanager
async def deleting_for_good(
    book: MemoryBook, path: str, settings: Settings, here: Path | None = None
) -> AsyncIterator[ForGood]:
    """Find all that tells of a memory, which may be gone already, and keep it from being opened meanwhile.

    Args:
        book: the memory folder.
        path: the memory, from there.
        settings: say where sessions, prompts and the memory store are.
        here: the file of the session that this program has open.

    Raises:
        StorageError: one of the sessions is open elsewhere, or something cannot be read, or the memory store not be
            reached; nothing has been changed.
    """
    trail = await book.trail(path)
    root = await book.folder.root()
    files = frozenset(path_in(root, name) for name in trail.paths)
    prompts = settings.data_dir / "history.jsonl" if settings.data_dir else None
    with SessionErasure(settings.sessions_dir, prompts, trail, files, here) as erasure:
        await asyncio.to_thread(erasure.prepare)
        store = StoreErasure(settings.memory, settings.user, erasure) if settings.memory else None
        if store:
            await store.prepare()
        yield ForGood(book, path, len(await book.history(path)), erasure, store)
