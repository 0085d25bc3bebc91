"""From a URL to an engine that waits for locks and loses nothing that was committed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import ArgumentError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent_core.errors import StorageError
from agent_core.text import first_line

LOCK_TIMEOUT = 10
"""Seconds for which a write waits for another one."""
CONNECT_TIMEOUT = 5

_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}


def open_engine(address: str) -> AsyncEngine:
    """An engine for `sqlite:///file`, `sqlite://` (in memory), `postgresql://…` or a URL with a driver of its own.

    Raises:
        ValueError: the address is no such URL, or names a driver that cannot be used here.
    """
    try:
        url = make_url(address)
        url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
        if url.get_backend_name() == "sqlite":
            return _sqlite(url)
        if url.get_backend_name() == "postgresql":
            return _postgresql(url)
    except (ArgumentError, InvalidRequestError) as error:
        raise ValueError(f"not the URL of a database that can be used: {error}") from error
    raise ValueError(f"SQLite and PostgreSQL can hold a working memory, {url.get_backend_name()} cannot")


def where(url: URL) -> str:
    """The place of a store in words for people, without a password."""
    if url.get_backend_name() == "sqlite":
        return f"The memory file {url.database}" if url.database else "The memory database"
    secret = {name: "***" for name in url.query if "password" in name}
    return f"The memory database {url.update_query_dict(secret).render_as_string(hide_password=True)}"


def file_of(url: URL) -> Path | None:
    """The file of an SQLite database; None for any other."""
    name = url.database if url.get_backend_name() == "sqlite" else None
    return None if not name or name == ":memory:" or name.startswith("file:") else Path(name)


def _postgresql(url: URL) -> AsyncEngine:
    options: dict[str, Any] = {"pool_pre_ping": True}
    if url.drivername == "postgresql+asyncpg":
        url = _with_ssl(url)
        settings = {"lock_timeout": f"{LOCK_TIMEOUT}s"}
        options["connect_args"] = {"timeout": CONNECT_TIMEOUT, "server_settings": settings}
    engine = create_async_engine(url, **options)
    event.listen(engine.sync_engine, "do_connect", partial(_connect, where(url)))
    return engine


def _with_ssl(url: URL) -> URL:
    """`sslmode`, as every provider of PostgreSQL writes it, in the word of the driver."""
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    return url.set(query=query)


def _connect(place: str, dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
    try:
        return dialect.connect(*arguments, **options)
    except (TypeError, ValueError) as error:
        # What stands behind the ? of an address goes to the driver as it is.
        raise StorageError(
            f"{place} cannot be opened with the options of its address: {first_line(str(error))}"
        ) from error


def _sqlite(url: URL) -> AsyncEngine:
    file = file_of(url)
    if file is not None:
        url = url.set(database=str(file.expanduser().absolute()))
    engine = create_async_engine(url, connect_args={"timeout": LOCK_TIMEOUT})
    event.listen(engine.sync_engine, "connect", _flush_every_commit)
    return engine


def _flush_every_commit(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute("PRAGMA synchronous=FULL")
    except BaseException:
        # A connection that fails here reaches no pool, which would close it.
        connection.close()
        raise
    cursor.close()
