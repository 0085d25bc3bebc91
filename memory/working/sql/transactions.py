"""Transactions on an engine or on a caller's session, with the tables in place."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession
from sqlalchemy.pool import StaticPool

from agent_core.errors import StorageError
from memory.working.sql.engine import file_of, where
from memory.working.sql.failure import storage_errors
from memory.working.sql.tables import ensure_tables

_locks: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()


class Transactions(Protocol):
    """Where a store gets its transactions."""

    lock: asyncio.Lock

    def begin(self) -> Any:
        """An async context with an `AsyncConnection`: committed at the end, undone when something is raised."""

    def reading(self) -> Any:
        """The same for what only reads, which need not be committed."""


class EngineTransactions:
    """Each transaction on a connection of its own from the engine's pool."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._where = where(engine.url)
        self._file = file_of(engine.url)
        self._identity: tuple[int, int] | None = None
        self._ready = False
        # An engine for `:memory:` has one connection for all, on which transactions must not mix.
        self.lock = _shared_lock(engine.sync_engine) if isinstance(engine.pool, StaticPool) else asyncio.Lock()

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A transaction."""
        async with self.reading() as connection:
            yield connection
            await connection.commit()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is undone at its end."""
        try:
            with storage_errors(self._where):
                await self._prepare()
                async with self._engine.connect() as connection:
                    yield connection
        except StorageError:
            # Whatever happened may have happened to the tables.
            self._ready = False
            raise

    async def _prepare(self) -> None:
        if self._identity is not None and self._file is not None:
            await self._check_file(self._file)
        if not self._ready:
            if self._file is not None:
                await asyncio.to_thread(_open_once, self._file)
            async with self._engine.connect() as connection:
                await ensure_tables(connection, self._where)
                await connection.commit()
            self._identity = _identity(self._file) if self._file is not None else None
            self._ready = True

    async def _check_file(self, file: os.PathLike[str]) -> None:
        """SQLite goes on writing to a file that was deleted, without a word; what it writes there is lost."""
        identity = _identity(file)
        if identity is None:
            raise StorageError(f"{self._where} is gone: put it back, or start again with another one")
        if identity != self._identity:
            await self._engine.dispose()
            self._ready = False


class SessionTransactions:
    """Inside the transaction of a session, if it has one; it is the caller's then, who commits or undoes it.

    Each call is a savepoint in it. On a session without a transaction each call is one, committed at its end.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._where = where(session.get_bind().engine.url)
        self._ready = False
        self.lock = _shared_lock(session.sync_session)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, or a savepoint in the caller's."""
        is_callers = self._session.in_transaction()
        try:
            with storage_errors(self._where):
                async with self._savepoint() if is_callers else self._transaction() as connection:
                    if not self._ready:
                        await ensure_tables(connection, self._where)
                    yield connection
        except StorageError:
            self._ready = False
            raise
        # Tables that were made in the caller's transaction go when he undoes it.
        self._ready = self._ready or not is_callers

    reading = begin

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        async with self._session.begin():
            yield await self._session.connection()

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[AsyncConnection]:
        connection = await self._session.connection()
        if connection.dialect.name == "sqlite":
            raw = await connection.get_raw_connection()
            if raw.driver_connection is not None and not raw.driver_connection.in_transaction:
                # The driver begins only before it writes; a savepoint outside a transaction would commit by itself.
                await connection.exec_driver_sql("BEGIN")
        async with connection.begin_nested():
            yield connection


def _shared_lock(owner: object) -> asyncio.Lock:
    return _locks.setdefault(owner, asyncio.Lock())


def _open_once(file: os.PathLike[str]) -> None:
    """Fail here if the file cannot be opened: aiosqlite would leave a thread behind that may outlive the event loop."""
    sqlite3.connect(file).close()


def _identity(file: os.PathLike[str]) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino
