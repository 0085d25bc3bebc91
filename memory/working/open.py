"""From a URL, as the command line takes it, to a working memory."""

from __future__ import annotations

from agent_core.errors import StorageError
from memory.working.redis.memory import RedisMemory
from memory.working.sql.memory import SQLAlchemyMemory
from memory.working.stored_memory import StoredMemory


def open_memory(url: str, session_id: str = "default_session", user_id: str = "default_user") -> StoredMemory:
    """The memory of one user's session at `sqlite:///…`, `postgresql://…` or `redis://…`. Nothing is connected yet.

    Raises:
        ValueError: it is no such URL.
        StorageError: a package that it needs is not installed.
    """
    scheme = url.partition("://")[0].partition("+")[0]
    try:
        if scheme in ("redis", "rediss", "unix"):
            return RedisMemory.from_url(url, session_id, user_id)
        if scheme in ("sqlite", "postgresql", "postgres"):
            return SQLAlchemyMemory.from_url(url, session_id, user_id)
    except ImportError as error:
        raise StorageError(f"{url.partition('://')[0]} cannot be opened: {error}") from error
    raise ValueError(f"a memory is at sqlite:///…, postgresql://… or redis://…, not at {scheme or url!r}")
