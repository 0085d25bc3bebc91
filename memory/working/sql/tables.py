"""The tables of working memory in a database, and how they come to be."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateIndex, CreateTable

from agent_core.errors import StorageError

VERSION = 1

_metadata = MetaData()

scope = Table(
    "mnemoscope_scope",
    _metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    Column("summary", Text, nullable=False),
    Column("next_serial", BigInteger, nullable=False),
    UniqueConstraint("user_id", "session_id"),
)
"""One row per user and session. Whoever writes to a session holds its row locked, so that order is definite."""

message = Table(
    "mnemoscope_message",
    _metadata,
    Column("scope_id", Integer, primary_key=True, autoincrement=False),
    Column("serial", BigInteger, primary_key=True, autoincrement=False),
    Column("msg_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("mnemoscope_message_by_id", "scope_id", "msg_id"),
)
"""Serial numbers only grow within a session, are never used again, and give the order."""

mark = Table(
    "mnemoscope_mark",
    _metadata,
    Column("scope_id", Integer, primary_key=True, autoincrement=False),
    Column("serial", BigInteger, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("mark", Text, nullable=False),
    Index("mnemoscope_mark_by_name", "scope_id", "mark", "serial"),
    sqlite_with_rowid=False,
)
"""The marks of the messages; `ordinal` is the order in which one message got them."""

schema = Table("mnemoscope_schema", _metadata, Column("version", Integer, primary_key=True, autoincrement=False))
"""One row. It is written last, so that a creation that broke off is simply done again."""

_CREATION_LOCK = 0x6D6E656D6F


async def ensure_tables(connection: AsyncConnection, where: str) -> None:
    """Make the tables where there are none.

    Raises:
        StorageError: they are of another version; nothing has been changed.
    """
    version = await _version(connection)
    if version is None:
        await _create(connection)
        version = await _version(connection)
    if version != VERSION:
        raise StorageError(
            f"{where} was written by another version of Mnemoscope (schema {version}, this one knows {VERSION}): "
            "use that version, or name another store"
        )


async def _version(connection: AsyncConnection) -> int | None:
    if not await connection.run_sync(_has_schema):
        return None
    version: int | None = await connection.scalar(select(schema.c.version).order_by(schema.c.version.desc()).limit(1))
    return version


def _has_schema(connection: Connection) -> bool:
    return inspect(connection).has_table(schema.name)


async def _create(connection: AsyncConnection) -> None:
    if connection.dialect.name == "postgresql":
        # There, two that create the same table at once disturb each other, IF NOT EXISTS or not.
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})
    else:
        await _write_ahead(connection)
    for table in (scope, message, mark, schema):
        await connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            await connection.execute(CreateIndex(index, if_not_exists=True))
    # Only where there is none yet: another version may have been quicker.
    await connection.execute(
        text(
            f"INSERT INTO {schema.name} (version) SELECT {VERSION} WHERE NOT EXISTS (SELECT version FROM {schema.name})"
        )
    )


async def _write_ahead(connection: AsyncConnection) -> None:
    """Let a new SQLite file be read while it is written. It stays correct where that cannot be had."""
    raw = await connection.get_raw_connection()
    if raw.driver_connection is None or raw.driver_connection.in_transaction:
        return
    try:
        await connection.execute(text("PRAGMA journal_mode=WAL"))
    except DBAPIError:
        return
