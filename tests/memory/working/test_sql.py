"""`SQLAlchemyMemory`: its file, its errors, its transactions."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from agent_core.change import MemoryChange, Snapshot
from agent_core.errors import StorageError
from agent_core.message import UserMsg
from memory import SQLAlchemyMemory
from memory.working.open import open_memory
from memory.working.sql import engine as engine_module
from tests.databases import postgresql_url
from tests.locked_file import locked_elsewhere

ONE, TWO, THREE = (UserMsg("u", text, id=text) for text in ("1", "2", "3"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def memory(file: Path) -> AsyncIterator[SQLAlchemyMemory]:
    async with SQLAlchemyMemory.from_url(f"sqlite:///{file}") as memory:
        yield memory


@pytest.fixture(params=["sqlite", "postgresql"])
async def engine(request: pytest.FixtureRequest, file: Path) -> AsyncIterator[AsyncEngine]:
    """An engine as a caller makes it."""
    address = f"sqlite+aiosqlite:///{file}" if request.param == "sqlite" else postgresql_url()
    engine = create_async_engine(address)
    yield engine
    await engine.dispose()


@asynccontextmanager
async def impatient(file: Path) -> AsyncIterator[SQLAlchemyMemory]:
    """A memory on an engine that does not wait for locks."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{file}", connect_args={"timeout": 0.05})
    yield SQLAlchemyMemory(engine)
    await engine.dispose()


async def test_a_write_waits_for_another_process_and_the_program_stays_alive(
    memory: SQLAlchemyMemory, file: Path
) -> None:
    """P06."""
    await memory.add(ONE)
    async with locked_elsewhere(file) as other:
        adding = asyncio.create_task(memory.add(TWO))
        done, _ = await asyncio.wait([adding], timeout=2)
        assert not done
        assert other.stdin is not None
        other.stdin.write(b"\n")
        await adding
    assert await memory.get_memory() == [ONE, TWO]


async def test_after_the_limit_a_lock_is_an_error_for_people(file: Path) -> None:
    """P06."""
    async with impatient(file) as memory:
        await memory.add(ONE)
        async with locked_elsewhere(file):
            with pytest.raises(StorageError, match=r"memory\.db is locked by another program") as caught:
                await memory.add(TWO)
            assert caught.value.__cause__ is not None
            assert await memory.get_memory() == [ONE]
        await memory.add(TWO)
        assert await memory.get_memory() == [ONE, TWO]


async def test_reading_goes_on_while_another_process_writes(memory: SQLAlchemyMemory, file: Path) -> None:
    await memory.add(ONE)
    async with locked_elsewhere(file):
        assert await memory.get_memory() == [ONE]
        assert await memory.size() == 1


async def test_reading_leaves_no_transaction_open(memory: SQLAlchemyMemory, file: Path) -> None:
    await memory.add(ONE, marks="a")
    await memory.get_memory(mark="a")
    await memory.entries()
    await memory.size()
    await memory.refresh()
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("COMMIT")
        # No reader stands in the way of taking the whole log over into the file.
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


async def test_commits_survive_a_power_cut(memory: SQLAlchemyMemory, file: Path) -> None:
    """The log is flushed at every commit; the file says by itself that it has one."""
    await memory.add(ONE)
    async with memory._store._transactions.begin() as connection:  # type: ignore[attr-defined]
        assert await connection.scalar(text("PRAGMA synchronous")) == 2
        assert await connection.scalar(text("PRAGMA journal_mode")) == "wal"
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_store_that_may_only_be_read(memory: SQLAlchemyMemory, file: Path) -> None:
    """P13."""
    await memory.add(ONE, marks="a")
    await memory.update_compressed_summary("S")
    async with open_memory(f"sqlite:///file:{file}?mode=ro&uri=true") as reader:
        assert [msg.content for msg in await reader.get_memory(mark="a")] == ["S", "1"]
        with pytest.raises(StorageError, match="read-only"):
            await reader.add(TWO)
        assert await reader.size() == 1


async def test_a_full_disk_harms_nothing_that_is_stored(file: Path) -> None:
    """P12."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{file}")
    event.listen(engine.sync_engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count=30"))
    memory = SQLAlchemyMemory(engine)
    await memory.add(ONE, marks="a")
    with pytest.raises(StorageError, match="disk is full"):
        await memory.add([TWO, UserMsg("u", "x" * 200_000)], marks="b")
    assert await memory.entries() == [(ONE, ("a",))]
    assert await memory.get_memory(mark="b") == []
    await memory.add(TWO, marks="b")
    assert await memory.get_memory() == [ONE, TWO]
    await engine.dispose()


async def test_a_file_that_went_away_is_missed_and_taken_up_when_it_is_back(
    memory: SQLAlchemyMemory, file: Path, tmp_path: Path
) -> None:
    """SQLite itself would go on writing to a file that nobody can find again."""
    await memory.add(ONE)
    away = tmp_path / "away"
    away.mkdir()
    parts = [part.name for part in tmp_path.iterdir() if part.name.startswith(file.name)]
    for part in parts:
        os.rename(tmp_path / part, away / part)
    for call in (memory.add(TWO), memory.get_memory(), memory.refresh()):
        with pytest.raises(StorageError, match=r"memory\.db is gone"):
            await call
    assert not file.exists()
    for part in parts:
        os.rename(away / part, tmp_path / part)
    await memory.add(TWO)
    assert await memory.get_memory() == [ONE, TWO]


async def test_a_file_that_was_exchanged_is_read_anew(memory: SQLAlchemyMemory, file: Path, tmp_path: Path) -> None:
    await memory.add(ONE)
    copy = tmp_path / "copy.db"
    async with SQLAlchemyMemory.from_url(f"sqlite:///{copy}") as other:
        await other.add(TWO)
    told: list[MemoryChange] = []
    memory.subscribe(told.append)
    os.replace(copy, file)
    for leftover in ("-wal", "-shm"):
        Path(f"{file}{leftover}").unlink(missing_ok=True)
    assert await memory.refresh()
    assert [type(change) for change in told] == [Snapshot]
    assert await memory.get_memory() == [TWO]


async def test_a_folder_that_does_not_exist_is_named_and_not_made(tmp_path: Path) -> None:
    async with SQLAlchemyMemory.from_url(f"sqlite:///{tmp_path / 'none' / 'memory.db'}") as memory:
        with pytest.raises(StorageError, match=r"none.memory\.db cannot be opened: check that its folder exists"):
            await memory.add(ONE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"this is no database, but a letter\n" * 200, b"\0" * 9000], ids=["text", "zeros"])
async def test_a_file_of_another_kind_is_refused_and_left_alone(
    memory: SQLAlchemyMemory, file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with pytest.raises(StorageError, match=r"memory\.db "):
        await memory.add(ONE)
    assert file.read_bytes() == content


async def test_tables_that_someone_dropped_are_an_error_and_made_anew(memory: SQLAlchemyMemory, file: Path) -> None:
    await memory.add(ONE)
    with closing(sqlite3.connect(file)) as other:
        for table in ("scope", "message", "mark", "schema"):
            other.execute(f"DROP TABLE mnemoscope_{table}")
    with pytest.raises(StorageError, match="no such table"):
        await memory.add(TWO)
    await memory.add(TWO)
    assert await memory.get_memory() == [TWO]


async def test_a_schema_of_another_version_is_refused_with_the_way_out(memory: SQLAlchemyMemory, file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE mnemoscope_schema (version INTEGER)")
        other.execute("INSERT INTO mnemoscope_schema VALUES (2)")
        other.commit()
    for call in (memory.get_memory(), memory.add(ONE), memory.clear()):
        with pytest.raises(StorageError, match=r"schema 2, this one knows 1\): use that version, or name another"):
            await call
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mnemoscope_schema",)]


async def test_a_creation_that_broke_off_is_completed(memory: SQLAlchemyMemory, file: Path) -> None:
    async with SQLAlchemyMemory.from_url(f"sqlite:///{file}") as other:
        await other.size()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE mnemoscope_mark")
        connection.execute("DELETE FROM mnemoscope_schema")
        connection.commit()
    await memory.add(ONE, marks="a")
    assert await memory.get_memory(mark="a") == [ONE]


@pytest.mark.parametrize("value", [None, 5, "sqlite:///x.db", object])
def test_anything_but_an_engine_or_a_session_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match="AsyncEngine or an AsyncSession is needed, not"):
        SQLAlchemyMemory(value)


async def test_ids_of_another_type_are_named(engine: AsyncEngine) -> None:
    with pytest.raises(TypeError, match="session_id must be a str, not 5"):
        SQLAlchemyMemory(engine, session_id=5)  # type: ignore[arg-type]


async def test_a_session_without_an_engine_is_named() -> None:
    with pytest.raises(ValueError, match="bound to an engine is needed"):
        SQLAlchemyMemory(AsyncSession())


@pytest.mark.parametrize("url", ["nonsense", "", "memory.db", "mongodb://x", "mysql+aiomysql://h/d"])
def test_an_address_of_no_store_is_named(url: str) -> None:
    for make in (open_memory, SQLAlchemyMemory.from_url):
        with pytest.raises(ValueError, match="not"):
            make(url)


@pytest.mark.parametrize("url", ["sqlite+pysqlite:///x.db", "postgresql+nonsense://h/d", "postgresql://h:port/d"])
def test_a_driver_that_cannot_be_used_is_an_error_about_the_address(url: str) -> None:
    with pytest.raises(ValueError, match=r"asyncio|nonsense|port"):
        open_memory(url)


def test_addresses_are_taken_as_people_write_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    drivers = {
        "sqlite:///here.db": "sqlite+aiosqlite",
        "sqlite:///~/here.db": "sqlite+aiosqlite",
        "sqlite+aiosqlite:///here.db": "sqlite+aiosqlite",
        "postgresql://u@h/d": "postgresql+asyncpg",
        "postgres://u@h/d": "postgresql+asyncpg",
    }
    for url, driver in drivers.items():
        engine = engine_module.open_engine(url)
        assert engine.url.drivername == driver
        if driver == "sqlite+aiosqlite":
            assert engine.url.database == str(tmp_path / "here.db")


def test_a_password_is_not_shown() -> None:
    for address in ("postgresql://u:secret@h/d", "postgresql://u@h/d?password=secret&passfile=x"):
        url = engine_module.open_engine(address).url
        assert "secret" not in engine_module.where(url)
        assert "secret" in url.render_as_string(hide_password=False)
    with pytest.raises(ValueError, match="not at 'postgresqq'") as caught:
        open_memory("postgresqq://u:secret@h/d")
    assert "secret" not in str(caught.value)


async def test_a_database_in_the_process_is_shared_by_all_on_one_engine() -> None:
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    one, two = SQLAlchemyMemory(engine, user_id="one"), SQLAlchemyMemory(engine, user_id="two")
    adds = (memory.add(UserMsg("u", str(number))) for number in range(25) for memory in (one, two))
    reads = (memory.get_memory() for _ in range(25) for memory in (one, two))
    await asyncio.gather(*adds, *reads)
    assert [await one.size(), await two.size()] == [25, 25]
    assert await SQLAlchemyMemory(engine, user_id="one").size() == 25
    await engine.dispose()


async def test_an_engine_of_the_callers_stays_open(engine: AsyncEngine) -> None:
    async with SQLAlchemyMemory(engine, user_id=os.urandom(8).hex()) as memory:
        await memory.add(ONE)
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT 1")) == 1


@pytest.fixture
def scope() -> dict[str, str]:
    return {"user_id": os.urandom(8).hex(), "session_id": "s"}


async def test_in_a_callers_transaction_nothing_is_committed_until_he_does(
    engine: AsyncEngine, scope: dict[str, str]
) -> None:
    other = SQLAlchemyMemory(engine, **scope)
    await other.size()
    async with AsyncSession(engine) as session:
        await session.execute(text("SELECT 1"))
        memory = SQLAlchemyMemory(session, **scope)
        await memory.add([ONE, TWO], marks="a")
        await memory.delete(["2"])
        assert await memory.get_memory() == [ONE]
        assert session.in_transaction()
        assert await other.get_memory() == []
        await session.commit()
        assert await other.get_memory() == [ONE]


async def test_what_the_caller_rolls_back_is_gone_and_told(engine: AsyncEngine, scope: dict[str, str]) -> None:
    await SQLAlchemyMemory(engine, **scope).add(ONE)
    async with AsyncSession(engine) as session:
        await session.execute(text("SELECT 1"))
        memory = SQLAlchemyMemory(session, **scope)
        await memory.entries()
        told: list[MemoryChange] = []
        memory.subscribe(told.append)
        await memory.add(TWO)
        await session.rollback()
        assert await memory.refresh()
        assert isinstance(told[-1], Snapshot)
        assert [entry.msg for entry in told[-1].entries] == [ONE]


async def test_a_call_that_fails_leaves_the_callers_transaction_whole(
    engine: AsyncEngine, scope: dict[str, str]
) -> None:
    async with AsyncSession(engine) as session:
        memory = SQLAlchemyMemory(session, **scope)
        await memory.add(ONE)
        async with session.begin():
            await memory.add(TWO)
            await session.execute(text("DROP TABLE mnemoscope_mark"))
            with pytest.raises(StorageError):
                await memory.add(THREE, marks="a")
            assert await memory.size() == 2
            await session.rollback()
        assert await memory.get_memory() == [ONE]


async def test_on_a_session_without_a_transaction_each_call_is_one(engine: AsyncEngine, scope: dict[str, str]) -> None:
    async with AsyncSession(engine) as session:
        memory = SQLAlchemyMemory(session, **scope)
        assert await memory.size() == 0
        assert not session.in_transaction()
        await asyncio.gather(*(memory.add(UserMsg("u", str(number))) for number in range(10)))
        assert not session.in_transaction()
        assert await SQLAlchemyMemory(engine, **scope).size() == 10
        await memory.get_memory()
        assert not session.in_transaction()


async def test_tables_made_in_a_transaction_that_was_rolled_back_are_made_again(file: Path) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{file}")
    async with AsyncSession(engine) as session:
        memory = SQLAlchemyMemory(session)
        await session.execute(text("SELECT 1"))
        await memory.add(ONE)
        await session.rollback()
        await memory.add(TWO)
        assert await memory.get_memory() == [TWO]
    await engine.dispose()


async def test_postgresql_waits_for_a_lock_too(scope: dict[str, str]) -> None:
    """P06."""
    async with SQLAlchemyMemory.from_url(postgresql_url(), **scope) as memory:
        await memory.add(ONE)
        engine = create_async_engine(postgresql_url())
        async with engine.begin() as connection:
            lock = text("SELECT * FROM mnemoscope_scope WHERE user_id = :user FOR UPDATE")
            await connection.execute(lock, {"user": scope["user_id"]})
            adding = asyncio.create_task(memory.add(TWO))
            done, _ = await asyncio.wait([adding], timeout=0.5)
            assert not done
            assert await SQLAlchemyMemory(engine, **scope).get_memory() == [ONE]
        await adding
        assert await memory.get_memory() == [ONE, TWO]
        await engine.dispose()


async def test_postgresql_names_a_lock_that_is_held_too_long(
    scope: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "LOCK_TIMEOUT", 0.1)
    async with SQLAlchemyMemory.from_url(postgresql_url(), **scope) as memory:
        await memory.add(ONE)
        engine = create_async_engine(postgresql_url())
        async with engine.begin() as connection:
            await connection.execute(text("LOCK TABLE mnemoscope_scope IN EXCLUSIVE MODE"))
            with pytest.raises(StorageError, match="is locked by another program"):
                await memory.add(TWO)
        await memory.add(TWO)
        assert await memory.size() == 2
        await engine.dispose()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"database": "nowhere"}, "does not exist: create it first"),
        ({"username": "nobody"}, "refused the login"),
        ({"query": {"host": "/nowhere"}}, "cannot be reached"),
        ({"query": {"connect_timeout": "5"}}, "options of its address: .*unexpected .* 'connect_timeout'"),
        ({"query": {"statement_cache_size": "many"}}, "cannot be opened with the options of its address"),
        ({"query": {}, "host": "127.0.0.1", "port": 1}, "cannot be reached"),
    ],
)
async def test_a_postgresql_that_cannot_be_used_is_named(change: dict[str, Any], words: str) -> None:
    url = make_url(postgresql_url()).set(**change).render_as_string(hide_password=False)
    async with SQLAlchemyMemory.from_url(url) as memory:
        with pytest.raises(StorageError, match=words) as caught:
            await memory.add(ONE)
        assert "\n" not in str(caught.value)


async def test_postgresql_takes_the_sslmode_that_providers_write(scope: dict[str, str]) -> None:
    url = make_url(postgresql_url())
    for mode, driver in (("disable", {}), ("prefer", {}), ("allow", {"drivername": "postgresql"})):
        address = url.set(**driver).update_query_dict({"sslmode": mode}).render_as_string(hide_password=False)
        async with SQLAlchemyMemory.from_url(address, **scope) as memory:
            await memory.add(ONE)
            assert await memory.size() == 1


async def test_reading_leaves_no_transaction_open_in_postgresql(scope: dict[str, str]) -> None:
    engine = create_async_engine(postgresql_url())
    async with SQLAlchemyMemory.from_url(postgresql_url(), **scope) as memory, engine.connect() as connection:
        await memory.add(ONE)
        await memory.entries()
        await memory.refresh()
        idle = text("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
        assert await connection.scalar(idle) == 0
    await engine.dispose()
