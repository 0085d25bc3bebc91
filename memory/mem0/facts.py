"""`Facts`: a user's memories by hand: what a pane and a command line do with them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from agent_core.errors import StorageError
from agent_core.event import FactChange
from agent_core.text import well_formed
from memory.mem0 import sqlite_file
from memory.mem0.adding import add_as_given
from memory.mem0.answers import Fact, Written, moment
from memory.mem0.filling import Progress, drop_vectors
from memory.mem0.forget import Purged, history_file, purge_history
from memory.mem0.outbox import Outbox
from memory.mem0.scope import Scope
from memory.mem0.sqlite_store import SqliteVectorStore
from memory.mem0.store import Mem0Store
from memory.mem0.writing import Writer


class Change(NamedTuple):
    """One thing that happened to a memory; a text is empty where there was none. `at` is in seconds since the epoch."""

    event: str
    before: str
    after: str
    at: float | None


class Facts:
    """The memories of one user, of all agents.

    Args:
        store: where they are.
        scope: whose they are.
        writer: what it is still writing is stopped before the user is forgotten.
        outbox: holds what could not be written.
    """

    def __init__(self, store: Mem0Store, scope: Scope, writer: Writer, outbox: Outbox) -> None:
        self._store = store
        self._scope = scope._replace(searches_agent=False)
        self._writer = writer
        self._outbox = outbox

    async def list(self) -> list[Fact]:
        """All memories, the newest first, superseded ones included.

        Raises:
            MnemoscopeError: they cannot be read.
        """
        facts = await self._store.all(self._scope)
        return sorted(facts, key=lambda fact: fact.said_at or 0.0, reverse=True)

    async def search(self, question: str, limit: int = 20) -> Sequence[Fact]:
        """The memories that fit a question best, with their scores, the best first.

        Raises:
            MnemoscopeError: the search failed.
        """
        return await self._store.search(question, self._scope, limit)

    async def get(self, memory_id: str) -> Fact:
        """One memory.

        Raises:
            StorageError: this user has no memory of that id.
            MnemoscopeError: it cannot be read.
        """
        fact = await self._store.get(memory_id)
        if fact is None or fact.user not in ("", self._scope.user):
            raise self._unknown(memory_id)
        return fact

    async def add(self, text: str) -> Written:
        """Store a text as it is, unless it is there already.

        Raises:
            ValueError: it is blank.
            MnemoscopeError: it could not be stored.
        """
        if not text.strip():
            raise ValueError("a memory must say something")
        return await add_as_given(self._store, [text], self._scope)

    async def update(self, memory_id: str, text: str) -> FactChange:
        """Give a memory another text.

        Raises:
            ValueError: it is blank.
            MnemoscopeError: there is no such memory, or it could not be changed.
        """
        text = well_formed(text).strip()
        if not text:
            raise ValueError("a memory must say something; delete it instead")
        await self.get(memory_id)
        await self._store.update(memory_id, text=text)
        return FactChange(memory_id, text, "updated")

    async def delete(self, memory_id: str) -> FactChange:
        """Delete a memory. Its history keeps what it said until the user is forgotten.

        Raises:
            MnemoscopeError: there is no such memory, or it could not be deleted.
        """
        fact = await self.get(memory_id)
        await self._store.delete(memory_id)
        return FactChange(memory_id, fact.text, "deleted")

    async def history(self, memory_id: str) -> Sequence[Change]:
        """What has happened to a memory, oldest first; also to one that is deleted.

        Raises:
            StorageError: it is another user's. Of one that is deleted nobody can tell whose it was.
            MnemoscopeError: it cannot be read.
        """
        fact = await self._store.get(memory_id)
        if fact is not None and fact.user not in ("", self._scope.user):
            raise self._unknown(memory_id)
        return [_change(row) for row in await self._store.history(memory_id)]

    async def forget(self) -> Purged:
        """Forget everything about this user: memories, their history, kept messages, what waits to be written.

        Raises:
            MnemoscopeError: something could not be deleted; what was deleted before stays deleted.
        """
        await self._writer.drain(0)
        waiting = await asyncio.to_thread(self._outbox.purge)
        mine = {fact.id for fact in await self._store.all(self._scope)}
        await self._store.delete_all(self._scope.user, mine)
        purged: Purged = await self._store.run(lambda: self._purge_files(mine, waiting))
        return purged

    def _purge_files(self, mine: set[str], waiting: int) -> Purged:
        """Purge mem0's history and the file of the default store, also where that is not in use any more. Blocks."""
        user, client, recipe = self._scope.user, self._store.client, self._store.recipe
        store = getattr(client, "vector_store", None)
        file = recipe.file if recipe is not None else None
        earlier, others, is_rewritten = sqlite_file.purge(file, user) if file is not None else (set(), set(), True)
        if isinstance(store, SqliteVectorStore):
            store.forget(user)
        else:
            others |= _ids_in(store)
        mine |= earlier
        path = history_file(client)
        history, messages, is_too = purge_history(path, user, mine, others) if path else (0, 0, True)
        left = [] if store is not None else ["What the service itself keeps, it alone can tell."]
        if not (is_rewritten and is_too):
            left.append("Another program is reading the facts: what it reads could not be overwritten; forget again.")
        return Purged(memories=len(mine), history=history, messages=messages, waiting=waiting, left=" ".join(left))

    def _unknown(self, memory_id: str) -> StorageError:
        return StorageError(f"{self._scope.user} has no memory of the id {memory_id!r}.")

    async def reindex(self, progress: Progress | None = None) -> int:
        """Have all memories of the default store embedded by the model that is in use now; how many that were.

        Args:
            progress: told how many are done, and of how many.

        Raises:
            StorageError: the store is not the default one, or there is no embedding model.
            MnemoscopeError: the model failed; the rest can be done later.
        """
        if self._store.recipe is None:
            raise StorageError("Only memories in the default store can be embedded anew; this one is somebody else's.")
        await self._store.aclose()
        await drop_vectors(self._store.recipe)
        return await self._store.embed_missing(progress)


def _ids_in(store: Any) -> set[str]:
    """The ids of all memories that a store holds, of every user."""
    if store is None:
        return set()
    listed = store.list(filters=None, top_k=1_000_000)
    rows = listed[0] if isinstance(listed, list | tuple) and listed and isinstance(listed[0], list | tuple) else listed
    return {str(row.id) for row in rows or ()}


def _change(row: dict[str, Any]) -> Change:
    at = moment(row.get("updated_at")) or moment(row.get("created_at"))
    before, after = (str(row.get(name) or "") for name in ("old_memory", "new_memory"))
    return Change(str(row.get("event") or "").lower(), before, after, at)
