"""Connections to Redis that give up in time and never send a call twice."""

from __future__ import annotations

from typing import Any

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from memory.working.redis.failure import storage_errors

_SECONDS_TO_CONNECT = 5
_SECONDS_TO_ANSWER = 30


def open_client(pool: ConnectionPool | None, **address: Any) -> Redis:
    """A client on the caller's pool, or on a new one for an address."""
    return Redis(connection_pool=ConnectionPool(**address, **_options()) if pool is None else pool)


def open_pool(url: str) -> ConnectionPool:
    """A pool for a URL.

    Raises:
        ValueError: it is no URL of a Redis, or has options that no connection takes.
    """
    pool: ConnectionPool = ConnectionPool.from_url(url, **_options())
    try:
        # Nothing is connected by this; without it the first call would find out.
        pool.connection_class(**pool.connection_kwargs)
    except (TypeError, RedisError) as error:
        raise ValueError(f"an option of the address cannot be used: {error}") from error
    return pool


def where(client: Redis) -> str:
    """The place of a store in words for people, without the password."""
    address = client.connection_pool.connection_kwargs
    place = address.get("path") or f"{address.get('host', 'localhost')}:{address.get('port', 6379)}"
    return f"The Redis at {place}"


async def rewrite_files(client: Redis) -> None:
    """Have the server write its files anew, so that they lose what was deleted; only those that it has.

    Raises:
        StorageError: it refuses.
    """
    with storage_errors(where(client)):
        info = await client.info("persistence")
        if info.get("aof_enabled") and not info.get("aof_rewrite_in_progress"):
            await client.bgrewriteaof()
        if info.get("rdb_saves") or info.get("rdb_last_load_keys_loaded"):
            await client.bgsave(schedule=True)


def _options() -> dict[str, Any]:
    return {
        "socket_connect_timeout": _SECONDS_TO_CONNECT,
        "socket_timeout": _SECONDS_TO_ANSWER,
        "retry": Retry(NoBackoff(), 0),
    }
