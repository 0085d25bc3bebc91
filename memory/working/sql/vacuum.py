"""Writing a database's files anew, so that nothing can be read from them that was deleted."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from agent_core.errors import StorageError
from memory.working.sql.engine import where
from memory.working.sql.failure import storage_errors
from memory.working.sql.tables import mark, message, scope

_TABLES = ", ".join(table.name for table in (scope, message, mark))


async def vacuum(engine: AsyncEngine) -> None:
    """Rewrite an SQLite file, or the tables in PostgreSQL, which nobody can read meanwhile.

    Raises:
        StorageError: that could not be done; what was deleted may be on free pages still.
    """
    place = where(engine.url)
    with storage_errors(place):
        async with engine.connect() as plain:
            connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
            if connection.dialect.name == "sqlite":
                await _vacuum_file(connection, place)
            else:
                await connection.execute(text(f"VACUUM (FULL) {_TABLES}"))


async def _vacuum_file(connection: AsyncConnection, place: str) -> None:
    await connection.execute(text("VACUUM"))
    # The log beside the file holds old pages too.
    is_busy, *_ = (await connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))).one()
    if is_busy:
        raise StorageError(f"{place} is being read by another program: close that, and do this again")
