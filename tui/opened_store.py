"""The store of `--memory`, opened for what is done to sessions in it from beside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agent_core.errors import StorageError

if TYPE_CHECKING:
    from memory.working.store import Names
    from memory.working.stored_memory import StoredMemory


@asynccontextmanager
async def opened_store(url: str, session_id: str = "", user_id: str = "") -> AsyncIterator[StoredMemory]:
    """One session of a store; raises `StorageError` where there cannot be such a store."""
    from memory.working.open import open_memory

    try:
        memory = open_memory(url, session_id, user_id)
    except ValueError as error:
        raise StorageError(str(error)) from error
    async with memory:
        yield memory


async def all_names(url: str) -> list[Names]:
    """Every session in a store, whoever's it is; raises `StorageError` where it cannot be reached."""
    async with opened_store(url) as memory:
        return await memory.names()
