"""`SQLAlchemyMemory`: working memory in SQLite or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.working.checks import check_name
from memory.working.extras import needs
from memory.working.stored_memory import StoredMemory

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession


class SQLAlchemyMemory(StoredMemory):
    """Keeps one user's session in a database, beside those of others; tables are made when first needed.

    On an engine each call is a transaction on a connection of its own. On a session that has a transaction in progress
    each call is a savepoint in it: the caller commits, or rolls back, of which the listeners hear with the next call.
    On a session that has none each call is committed at once.

    Args:
        engine_or_session: an `AsyncEngine` or `AsyncSession` for SQLite or PostgreSQL, which the caller closes.
        session_id: `default_session` when None.
        user_id: `default_user` when None.

    Raises:
        ValueError: it is something else; the value is named.
        TypeError: an id is not a str.
        ImportError: SQLAlchemy is not installed; the message says how to install it.
    """

    def __init__(
        self,
        engine_or_session: AsyncEngine | AsyncSession,
        session_id: str | None = None,
        user_id: str | None = None,
    ) -> None:
        with needs("sql"):
            from memory.working.sql.store import SqlStore, transactions_on
        user = check_name("default_user" if user_id is None else user_id, "user_id")
        session = check_name("default_session" if session_id is None else session_id, "session_id")
        super().__init__(SqlStore(transactions_on(engine_or_session), user, session))
        self._engine: AsyncEngine | None = None

    @classmethod
    def from_url(cls, url: str, session_id: str | None = None, user_id: str | None = None) -> SQLAlchemyMemory:
        """One with an engine of its own, which `aclose` closes. A write waits up to 10 seconds for another one.

        Args:
            url: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` for one that ends with the process, or
                `postgresql://user@host/database`; a driver other than aiosqlite and asyncpg may be named.

        Raises:
            ValueError: it is no such URL.
        """
        with needs("sql"):
            from memory.working.sql.engine import open_engine

            engine = open_engine(url)
        memory = cls(engine, session_id, user_id)
        memory._engine = engine
        return memory

    async def leave_nothing_deleted(self) -> None:
        """Have the database's files written anew, where the connections are this memory's own."""
        if self._engine is not None:
            from memory.working.sql.vacuum import vacuum

            await vacuum(self._engine)

    async def aclose(self) -> None:
        """Close the connections, unless the caller gave the engine or session."""
        if self._engine is not None:
            await self._engine.dispose()
