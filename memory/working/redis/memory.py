"""`RedisMemory`: working memory in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.working.checks import check_name
from memory.working.extras import needs
from memory.working.stored_memory import StoredMemory

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool


class RedisMemory(StoredMemory):
    """Keeps one user's session in Redis, beside those of others. An add costs the same at any size.

    Every call is one script, which Redis runs whole or not at all. A connection that breaks during a call is not tried
    again, since nobody can tell whether the call was carried out; the next `refresh` can. Redis must not evict single
    keys (`maxmemory-policy noeviction`, its default): a session is six of them.

    Args:
        session_id: whose messages; any text.
        user_id: whose session; any text.
        host, port, db, password: where the server is, unless there is a pool.
        connection_pool: a pool of the caller's, which he closes; it may decode what it receives or not.
        key_prefix: put before every key as it is.
        key_ttl: seconds after the last write until the session expires as a whole; None for never.

    Raises:
        TypeError: an id or the prefix is not a str; the value is named.
        ValueError: `key_ttl` is not a positive whole number.
        ImportError: redis is not installed; the message says how to install it.
    """

    def __init__(
        self,
        session_id: str = "default_session",
        user_id: str = "default_user",
        host: str = "localhost",
        port: int = 6379,
        db: int = 0,
        password: str | None = None,
        connection_pool: ConnectionPool | None = None,
        key_prefix: str = "",
        key_ttl: int | None = None,
    ) -> None:
        with needs("redis"):
            from memory.working.redis.connecting import open_client, where
            from memory.working.redis.scripts import Scripts, keys_of
            from memory.working.redis.store import RedisStore
        if key_ttl is not None and (not isinstance(key_ttl, int) or isinstance(key_ttl, bool) or key_ttl < 1):
            raise ValueError(f"key_ttl must be a positive whole number of seconds or None, not {key_ttl!r}")
        names = check_name(user_id, "user_id"), check_name(session_id, "session_id")
        keys = keys_of(check_name(key_prefix, "key_prefix"), *names)
        client = open_client(connection_pool, host=host, port=port, db=db, password=password)
        super().__init__(RedisStore(Scripts(client, keys, key_ttl), where(client)))
        self._client = client
        self._own_pool = client.connection_pool if connection_pool is None else None

    @classmethod
    def from_url(
        cls,
        url: str,
        session_id: str = "default_session",
        user_id: str = "default_user",
        key_prefix: str = "",
        key_ttl: int | None = None,
    ) -> RedisMemory:
        """One with connections of its own, which `aclose` closes.

        Args:
            url: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or `unix:///path/of/socket`.

        Raises:
            ValueError: it is no such URL.
        """
        with needs("redis"):
            from memory.working.redis.connecting import open_pool
        pool = open_pool(url)
        memory = cls(session_id, user_id, connection_pool=pool, key_prefix=key_prefix, key_ttl=key_ttl)
        memory._own_pool = pool
        return memory

    async def leave_nothing_deleted(self) -> None:
        """Have Redis write its files anew, where it has any; it goes on with that by itself."""
        from memory.working.redis.connecting import rewrite_files

        await rewrite_files(self._client)

    async def aclose(self) -> None:
        """Close the connections, unless the caller gave the pool."""
        if self._own_pool is not None:
            await self._own_pool.disconnect()
