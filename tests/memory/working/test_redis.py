"""`RedisMemory`: its keys, its errors, what it costs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from redis.asyncio import ConnectionPool, Redis

from agent_core.change import MemoryChange, Snapshot
from agent_core.errors import StorageError
from agent_core.message import UserMsg
from memory import RedisMemory
from tests.databases import RedisServer, redis_url

ONE, TWO, THREE = (UserMsg("u", text, id=text) for text in ("1", "2", "3"))
PARTS = ("order", "bodies", "heads", "ids", "by_mark", "state")


@pytest.fixture
async def client() -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url(), decode_responses=True) as client:
        yield client


@pytest.fixture
async def memory(user: str) -> AsyncIterator[RedisMemory]:
    async with RedisMemory.from_url(redis_url(), "s", user) as memory:
        yield memory


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A server that a test may stop and fill."""
    with RedisServer() as server:
        yield server


async def keys_of(client: Redis, user: str) -> set[str]:
    return {key async for key in client.scan_iter(f"*{user}*")}


async def test_a_session_is_these_keys_and_no_others(client: Redis, user: str) -> None:
    async with RedisMemory.from_url(redis_url(), "a:b", f"{user}:%", key_prefix="app:") as memory:
        await memory.add([ONE, TWO], marks=["x", "y:z"])
        await memory.update_compressed_summary("S")
        names = f"{user}{quote(':%')}:{quote('a:b')}"
        assert await keys_of(client, user) == {f"app:mnemoscope:{names}:{part}" for part in PARTS}
        await memory.clear()
        assert await keys_of(client, user) == {f"app:mnemoscope:{names}:state"}


async def test_reading_and_what_changes_nothing_make_no_key(memory: RedisMemory, client: Redis, user: str) -> None:
    await memory.get_memory(mark="a")
    await memory.delete(["1"])
    await memory.clear()
    await memory.update_compressed_summary("")
    await memory.refresh()
    assert await keys_of(client, user) == set()


async def test_a_session_expires_as_a_whole_some_time_after_the_last_write(client: Redis, user: str) -> None:
    """Each write gives every key the same time to live, those that it makes too; other keys keep theirs."""
    await client.set(f"{user}:not ours", "x")
    async with RedisMemory.from_url(redis_url(), "s", user, key_ttl=500) as memory:
        await memory.add(ONE, marks="a")
        ours = await keys_of(client, user) - {f"{user}:not ours"}
        assert len(ours) == len(PARTS)
        calls: list[Any] = [memory.add(TWO), memory.update_messages_mark("b"), memory.update_compressed_summary("S")]
        for call in calls:
            for key in ours:
                await client.expire(key, 5)
            await call
            deadlines = {await client.pexpiretime(key) for key in ours}
            assert len(deadlines) == 1
            assert 400 < await client.ttl(next(iter(ours))) <= 500
    assert await client.ttl(f"{user}:not ours") == -1
    async with RedisMemory.from_url(redis_url(), "s", user) as memory:
        assert await memory.size() == 2


async def test_without_a_time_to_live_nothing_expires(memory: RedisMemory, client: Redis, user: str) -> None:
    await memory.add(ONE, marks="a")
    assert {await client.ttl(key) for key in await keys_of(client, user)} == {-1}


async def test_a_session_that_expired_is_empty_and_told(memory: RedisMemory, client: Redis, user: str) -> None:
    await memory.add([ONE, TWO], marks="a")
    await memory.update_compressed_summary("S")
    told: list[MemoryChange] = []
    memory.subscribe(told.append)
    for key in await keys_of(client, user):
        await client.pexpireat(key, 1)
    assert await memory.refresh()
    assert told == [Snapshot((), "")]
    await memory.add(THREE)
    assert await memory.get_memory() == [THREE]
    assert not await memory.refresh()


@pytest.mark.parametrize("ttl", [0, -1, 1.5, "60", True])
def test_a_time_to_live_that_is_none_is_named(ttl: Any) -> None:
    with pytest.raises(ValueError, match="key_ttl must be a positive whole number"):
        RedisMemory(key_ttl=ttl)


@pytest.mark.parametrize("argument", ["session_id", "user_id", "key_prefix"])
def test_names_of_another_type_are_named(argument: str) -> None:
    with pytest.raises(TypeError, match=f"{argument} must be a str, not 5"):
        RedisMemory(**{argument: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("decode", [True, False])
async def test_a_pool_of_the_callers_may_decode_or_not_and_stays_open(user: str, decode: bool) -> None:
    pool = ConnectionPool.from_url(redis_url(), decode_responses=decode)
    async with RedisMemory("s", user, connection_pool=pool) as memory:
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        await memory.add([ONE, UserMsg("名", "“é”, 中, 🙂")], marks=["ä", "b"])
        await memory.update_messages_mark("c", old_mark="ä")
        await memory.update_compressed_summary("总结")
        assert [(msg.name, marks) for msg, marks in await memory.entries()] == [("u", ("c", "b")), ("名", ("c", "b"))]
        await memory.delete(["1"])
        assert len(told) == 4
    async with Redis(connection_pool=pool) as client:
        assert await client.ping()
    await pool.disconnect()


async def test_host_port_and_db_lead_to_the_server(user: str) -> None:
    port = int(redis_url().rpartition(":")[2])
    async with RedisMemory("s", user, host="127.0.0.1", port=port, db=1) as memory:
        await memory.add(ONE)
        assert await memory.size() == 1
    async with RedisMemory("s", user, host="127.0.0.1", port=port) as memory:
        assert await memory.size() == 0


@pytest.mark.parametrize("options", ["nonsense=1", "protocol=9", "db=x", "socket_timeout=soon"])
def test_an_option_that_no_connection_takes_is_an_error_about_the_address(options: str) -> None:
    with pytest.raises(ValueError, match=r"nonsense|protocol|'db'|'socket_timeout'"):
        RedisMemory.from_url(f"redis://localhost?{options}")


async def test_an_add_costs_the_same_at_any_size(memory: RedisMemory, client: Redis) -> None:
    """Counted in commands that the server carries out, and in what they may touch."""

    async def commands_of_an_add() -> dict[str, int]:
        await client.config_resetstat()
        await memory.add(UserMsg("u", "x"), marks=["a", "b"])
        statistics = await client.info("commandstats")
        return {name: figures["calls"] for name, figures in statistics.items() if "config" not in name}

    await memory.add(ONE, marks="a")
    await commands_of_an_add()
    small = await commands_of_an_add()
    await memory.add([UserMsg("u", "x") for _ in range(5_000)], marks=["a", "b"])
    assert await commands_of_an_add() == small
    assert not set(small) & {"cmdstat_scan", "cmdstat_keys", "cmdstat_lrange", "cmdstat_zrange", "cmdstat_hgetall"}


async def test_a_server_that_is_not_there_is_named(user: str) -> None:
    async with RedisMemory("s", user, host="127.0.0.1", port=1) as memory:
        with pytest.raises(
            StorageError, match=r"Redis at 127\.0\.0\.1:1 cannot be reached .*: is the server running\?"
        ):
            await memory.add(ONE)


async def test_a_server_that_went_away_harms_nothing_and_is_used_when_it_is_back(
    server: RedisServer, user: str
) -> None:
    async with RedisMemory.from_url(server.url, "s", user) as memory:
        await memory.add(ONE, marks="a")
        server.stop()
        for call in (memory.add(TWO), memory.get_memory(), memory.refresh()):
            with pytest.raises(StorageError, match="is the server running"):
                await call
        server.start()
        await memory.add(TWO)
        assert await memory.entries() == [(ONE, ("a",)), (TWO, ())]


async def test_a_full_server_takes_nothing_of_what_it_cannot_take_whole(server: RedisServer, user: str) -> None:
    """P12."""
    async with RedisMemory.from_url(server.url, "s", user) as memory, Redis.from_url(server.url) as client:
        await memory.add(ONE, marks="a")
        await client.config_set("maxmemory", 1)
        for call in (memory.add([TWO, THREE], marks="b"), memory.update_compressed_summary("S")):
            with pytest.raises(StorageError, match="is full: raise its maxmemory"):
                await call
        assert await memory.entries() == [(ONE, ("a",))]
        await client.config_set("maxmemory", 0)
        await memory.add(TWO)
        assert await memory.get_memory() == [ONE, TWO]


async def test_a_replica_is_named(server: RedisServer, user: str) -> None:
    async with RedisMemory.from_url(server.url, "s", user) as memory, Redis.from_url(server.url) as client:
        await memory.add(ONE)
        await client.replicaof("127.0.0.1", "1")
        with pytest.raises(StorageError, match="is a replica, which cannot be written"):
            await memory.add(TWO)
        assert await memory.get_memory() == [ONE]


async def test_a_login_that_is_refused_is_named(server: RedisServer, user: str) -> None:
    async with Redis.from_url(server.url) as client:
        await client.config_set("requirepass", "right")
        for password in (None, "wrong"):
            async with RedisMemory("s", user, "127.0.0.1", server.port, password=password) as memory:
                with pytest.raises(StorageError, match="refused the login: check user") as caught:
                    await memory.add(ONE)
                assert "wrong" not in str(caught.value)
        async with RedisMemory("s", user, "127.0.0.1", server.port, password="right") as memory:
            await memory.add(ONE)


async def test_a_schema_of_another_version_is_refused_with_the_way_out(
    memory: RedisMemory, client: Redis, user: str
) -> None:
    await client.hset(f"mnemoscope:{user}:s:state", "schema", "2")
    for call in (memory.get_memory(), memory.add(ONE), memory.clear(), memory.refresh()):
        with pytest.raises(StorageError, match=r"schema 2, this one knows 1\): use that version, or name another"):
            await call
    assert await client.hgetall(f"mnemoscope:{user}:s:state") == {"schema": "2"}
    assert await keys_of(client, user) == {f"mnemoscope:{user}:s:state"}


async def test_scripts_that_the_server_forgot_are_sent_again(memory: RedisMemory, client: Redis) -> None:
    await memory.add(ONE)
    await client.script_flush()
    await memory.add(TWO)
    assert await memory.get_memory() == [ONE, TWO]


async def test_a_large_store_is_read_in_pieces(memory: RedisMemory) -> None:
    messages = [UserMsg("u", str(number)) for number in range(9_500)]
    await memory.add(messages, marks="a")
    assert await memory.get_memory() == messages
    assert await memory.get_memory(mark="a", exclude_mark="b") == messages
    assert await memory.update_messages_mark("b", old_mark="a") == 9_500
    assert await memory.delete_by_mark("b") == 9_500
