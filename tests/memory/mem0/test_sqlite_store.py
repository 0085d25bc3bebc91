from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import StorageError
from memory.mem0 import sqlite_file
from memory.mem0.sqlite_file import drop_vectors, made_with, set_aside_if_damaged
from memory.mem0.sqlite_store import MATCH, SqliteStoreConfig, SqliteVectorStore, StoredMemory
from tests.fake_server.vectors import vector
from tests.locked_file import locked

DIMENSIONS = 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteVectorStore]:
    with closing(open_store(path)) as store:
        yield store


def open_store(
    path: Path, collection: str = "mem0", model: str = "e", dimensions: int = DIMENSIONS
) -> SqliteVectorStore:
    return SqliteVectorStore(str(path), collection, model, dimensions)


def put(store: SqliteVectorStore, *texts: str, user: str = "alice", **more: Any) -> None:
    payloads = [{"data": text, "user_id": user, **more} for text in texts]
    store.insert([vector(text) for text in texts], payloads, [f"{user}:{text}" for text in texts])


def find(store: SqliteVectorStore, question: str, user: str = "alice", top_k: int = 5, **filters: Any) -> list[str]:
    found = store.search(question, vector(question), top_k, {"user_id": user, **filters})
    return [one.payload["data"] for one in found]


def texts(rows: tuple[Sequence[StoredMemory]]) -> list[str]:
    return [row.payload["data"] for row in rows[0]]


def test_it_is_all_of_mem0s_interface(store: SqliteVectorStore) -> None:
    from mem0.vector_stores.base import VectorStoreBase

    assert VectorStoreBase.__abstractmethods__ <= set(dir(store))
    public = {name for name in vars(VectorStoreBase) if not name.startswith("_")}
    assert public <= set(dir(store))


def test_what_is_stored_is_found_by_words_and_by_meaning(store: SqliteVectorStore) -> None:
    put(store, "I live in Hangzhou", "My dog is called Rex", "Tea is better than coffee")
    (best, *_) = store.search("Where do I live?", vector("Hangzhou"), 5, {"user_id": "alice"})
    assert best.id == "alice:I live in Hangzhou"
    assert best.score == 1.0
    assert best.payload[MATCH]["why"].startswith("shares live")
    assert find(store, "Rex") == ["My dog is called Rex"] or find(store, "Rex")[0] == "My dog is called Rex"


def test_a_hit_by_words_alone_is_not_dropped(store: SqliteVectorStore) -> None:
    put(store, *(f"memory number {number} about nothing" for number in range(300)), "The password of the wifi is heron")
    found = store.search("wifi", vector("memory number about nothing"), 5, {"user_id": "alice"})
    assert found[0].payload["data"] == "The password of the wifi is heron"


@pytest.mark.parametrize("question", ["我住在哪里？", "杭州", "住在杭州吗"])
def test_chinese_is_found_by_its_words(path: Path, question: str) -> None:
    with closing(SqliteVectorStore(str(path), "mem0")) as store:
        put(store, "用户住在杭州", "用户喜欢喝绿茶", "用户的狗叫旺财")
        found = store.search(question, [], 5, {"user_id": "alice"})
        assert found[0].payload["data"] == "用户住在杭州"


def test_users_agents_and_runs_are_kept_apart(store: SqliteVectorStore) -> None:
    put(store, "tea for alice")
    put(store, "tea for bob", user="bob")
    put(store, "tea for the helper", agent_id="helper", run_id="r1")
    assert sorted(find(store, "tea")) == ["tea for alice", "tea for the helper"]
    assert find(store, "tea", user="bob") == ["tea for bob"]
    assert find(store, "tea", agent_id="helper") == ["tea for the helper"]
    assert find(store, "tea", agent_id="helper", run_id="r2") == []
    assert find(store, "tea", user="carol") == []
    everybody = store.search("tea", vector("tea"), 5, {"agent_id": "helper"})
    assert [row.payload["data"] for row in everybody] == ["tea for the helper"]
    assert len(store.search("tea", vector("tea"), 5)) == 3


def test_filters_on_what_is_stored_with_a_memory_work_in_search_and_listing(store: SqliteVectorStore) -> None:
    put(store, "green tea", year=2025)
    put(store, "black tea", year=2026)
    assert find(store, "tea", year={"gte": 2026}) == ["black tea"]
    assert texts(store.list({"user_id": "alice", "$not": [{"year": 2026}]})) == ["green tea"]
    assert texts(store.list({"user_id": "*"})) == ["black tea", "green tea"]


def test_a_listing_is_newest_first_and_as_long_as_wanted(store: SqliteVectorStore) -> None:
    put(store, *(f"fact {number}" for number in range(50)))
    assert texts(store.list({"user_id": "alice"}, 2)) == ["fact 49", "fact 48"]
    assert len(texts(store.list({"user_id": "alice"}))) == 50
    assert texts(store.list({"user_id": "bob"})) == []


def test_a_memory_is_changed_read_and_deleted(store: SqliteVectorStore) -> None:
    put(store, "I live in Oslo", "I like tea")
    store.update("alice:I live in Oslo", payload={"data": "I live in Rome", "user_id": "alice", MATCH: "not stored"})
    row = store.get("alice:I live in Oslo")
    assert row == StoredMemory("alice:I live in Oslo", {"data": "I live in Rome", "user_id": "alice"})
    assert find(store, "Rome")[0] == "I live in Rome"
    assert "I live in Oslo" not in find(store, "Oslo")
    store.update("alice:I live in Oslo", vector=vector("something else"))
    store.delete("alice:I live in Oslo")
    store.delete("alice:I live in Oslo")
    assert store.get("alice:I live in Oslo") is None
    assert find(store, "Rome") == ["I like tea"]
    with pytest.raises(ValueError, match="no memory of the id"):
        store.update("alice:I live in Oslo", payload={})


def test_what_was_deleted_is_not_brought_back_by_a_late_change(store: SqliteVectorStore) -> None:
    with pytest.raises(ValueError, match="gone"):
        store.update("gone", vector("x"), {"data": "x", "user_id": "alice"})
    assert store.col_info()["count"] == 0


def test_collections_in_one_file_do_not_mix(path: Path, store: SqliteVectorStore) -> None:
    with closing(open_store(path, "mem0_entities")) as entities:
        put(store, "tea")
        put(entities, "tea", "coffee")
        assert sorted(store.list_cols()) == ["mem0", "mem0_entities"]
        assert (store.col_info()["count"], entities.col_info()["count"]) == (1, 2)
        entities.reset()
        assert (store.col_info()["count"], entities.col_info()["count"]) == (1, 0)
        assert entities.search_batch(["a", "b"], [vector("a"), vector("b")]) == [[], []]


@pytest.mark.parametrize("bad", [[1.0] * 63, [0.0] * 64, [float("nan")] * 64, [float("inf")] * 64])
def test_what_is_no_vector_of_this_store_is_refused_and_nothing_stored(
    store: SqliteVectorStore, bad: list[float]
) -> None:
    with pytest.raises(ValueError, match="vector"):
        store.insert([vector("good"), bad], [{"data": "good"}, {"data": "bad"}], ["1", "2"])
    assert store.col_info()["count"] == 0


def test_text_that_utf8_refuses_is_stored_all_the_same(store: SqliteVectorStore) -> None:
    store.insert([vector("emoji")], [{"data": "half \ud83d emoji", "user_id": "alice"}], ["1"])
    assert find(store, "emoji") == ["half \ufffd emoji"]


def test_another_model_is_told_with_both_numbers_and_nothing_is_changed(path: Path) -> None:
    """D05: the vectors' length differs after a change of the model."""
    with closing(open_store(path, dimensions=DIMENSIONS)) as store:
        put(store, "tea")
    before = path.read_bytes()
    for model, dimensions in (("big", 1536), ("other", DIMENSIONS)):
        with pytest.raises(StorageError, match=rf"e \({DIMENSIONS} dimensions\).*{model} \({dimensions}.*reindex"):
            open_store(path, model=model, dimensions=dimensions)
    assert path.read_bytes() == before
    with closing(open_store(path)) as store:
        assert find(store, "tea") == ["tea"]


def test_a_store_without_vectors_takes_any_model(path: Path) -> None:
    open_store(path, model="first", dimensions=3).close()
    with closing(SqliteVectorStore(str(path), "mem0")) as words_only:
        words_only.insert([[]], [{"data": "tea", "user_id": "alice"}], ["1"])
        assert words_only.without_vector(10) == [("1", "tea")]
    with closing(open_store(path)) as store:
        assert find(store, "tea") == ["tea"]
        assert store.count_without_vector() == 1
        store.set_vectors({"1": vector("tea"), "gone": vector("x")})
        assert store.count_without_vector() == 0
        assert store.col_info()["model"] == "e"


def test_by_words_alone_vectors_are_neither_kept_nor_needed(path: Path, store: SqliteVectorStore) -> None:
    put(store, "green tea", "black coffee")
    with closing(SqliteVectorStore(str(path), "mem0")) as words_only:
        assert [row.payload["data"] for row in words_only.search("tea", vector("coffee"), 5, {"user_id": "alice"})] == [
            "green tea"
        ]
        words_only.insert([vector("x")], [{"data": "tea again", "user_id": "alice"}], ["2"])
    assert store.count_without_vector() == 1


def test_vectors_can_be_dropped_for_another_model_and_others_notice(path: Path, store: SqliteVectorStore) -> None:
    from memory.mem0.sqlite_file import MadeWith

    put(store, "tea", "coffee")
    assert find(store, "tea")[0] == "tea"
    drop_vectors(path, MadeWith("new", 3))
    with pytest.raises(StorageError, match=r"new \(3"):
        find(store, "tea")
    with closing(open_store(path, model="new", dimensions=3)) as again:
        assert again.count_without_vector() == 2
        assert texts(again.list()) == ["coffee", "tea"]
        again.set_vectors({"alice:tea": [1, 0, 0], "alice:coffee": [0, 1, 0]})
        assert [row.payload["data"] for row in again.search("", [0, 1, 0], 1)] == ["coffee"]


def test_a_damaged_file_is_set_aside_and_a_sound_one_left_alone(path: Path) -> None:
    open_store(path).close()
    assert set_aside_if_damaged(path) == ""
    assert set_aside_if_damaged(path.with_name("absent.db")) == ""
    path.write_bytes(b"SQLite format 3\0 but not really" * 200)
    notice = set_aside_if_damaged(path)
    (aside,) = path.parent.glob("memory.db.bad-*")
    assert aside.name in notice
    assert not path.exists()
    with closing(open_store(path)) as store:
        put(store, "tea")


def test_a_file_whose_pages_are_damaged_is_set_aside(path: Path) -> None:
    with closing(open_store(path)) as store:
        put(store, *(f"fact {number} " + "x" * 500 for number in range(100)))
        store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[8192:40960] = b"\xff" * (40960 - 8192)
    path.write_bytes(data)
    assert "damaged" in set_aside_if_damaged(path)


def test_a_newer_layout_is_refused_with_the_way_out(path: Path) -> None:
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="newer version"):
        open_store(path)


def test_a_place_where_nothing_can_be_stored_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be opened"):
        open_store(tmp_path / "file" / "memory.db")


def test_nobody_else_may_read_it(path: Path, store: SqliteVectorStore) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_purged_user_is_nowhere_in_the_file_and_others_are(path: Path, store: SqliteVectorStore) -> None:
    put(store, "the secret word is zanzibar")
    put(store, "bob likes tea", user="bob")
    with closing(open_store(path, "mem0_entities")) as entities:
        put(entities, "zanzibar")
    find(store, "zanzibar")
    mine, others, is_rewritten = sqlite_file.purge(path, "alice")
    store.forget("alice")
    assert (len(mine), len(others), is_rewritten) == (2, 1, True)
    assert find(store, "zanzibar") == []
    assert find(store, "tea", user="bob") == ["bob likes tea"]
    for file in path.parent.iterdir():
        assert b"zanzibar" not in file.read_bytes()


async def test_a_locked_file_is_waited_for_and_can_be_read_meanwhile(path: Path, store: SqliteVectorStore) -> None:
    """P06: another process holds a write transaction; the save waits, then succeeds."""
    put(store, "tea")
    with locked(path):
        saving = asyncio.create_task(asyncio.to_thread(put, store, "coffee"))
        while not store._write_lock.locked():
            await asyncio.sleep(0)
        assert await asyncio.to_thread(find, store, "tea") == ["tea"]
        assert not saving.done()
    await saving
    assert sorted(texts(store.list())) == ["coffee", "tea"]


async def test_closing_leaves_a_write_that_is_still_at_work_its_connection(path: Path) -> None:
    """P06: closed under a thread that waits for a lock, it took the whole process down."""
    store = open_store(path)
    put(store, "tea")
    with locked(path):
        saving = asyncio.create_task(asyncio.to_thread(put, store, "coffee"))
        while not store._write_lock.locked():
            await asyncio.sleep(0)
        store.close()
    await saving
    for connection in (store._writer, store._reader):
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    with closing(open_store(path)) as again:
        assert sorted(texts(again.list())) == ["coffee", "tea"]


def test_many_threads_lose_nothing(store: SqliteVectorStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(10):
                put(store, f"thread {number} step {step}")
                assert find(store, f"thread {number} step {step}", top_k=100)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(texts(store.list())) == 80


_OTHER_PROCESS = """
import sys
from memory.mem0.sqlite_store import SqliteVectorStore
from tests.fake_server.vectors import vector
store = SqliteVectorStore(sys.argv[1], "mem0", "e", 64)
for number in range(30):
    text = f"fact f{number} of process p{sys.argv[2]}"
    store.insert([vector(text)], [{"data": text, "user_id": "alice"}], [text])
    assert store.search(text, vector(text), 5, {"user_id": "alice"})[0].payload["data"] == text
store.close()
"""


def test_several_processes_write_and_search_one_new_file_at_once(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _OTHER_PROCESS, str(path), str(number)], stderr=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    assert [process.communicate()[1] for process in processes] == [""] * 3
    with closing(open_store(path)) as store:
        assert len(texts(store.list())) == 90
        put(store, "one more")
        assert find(store, "one more")[0] == "one more"


def test_what_another_process_does_is_seen(path: Path, store: SqliteVectorStore) -> None:
    put(store, "tea")
    assert find(store, "tea") == ["tea"]
    with closing(open_store(path)) as other:
        put(other, "green tea")
        assert sorted(find(store, "tea")) == ["green tea", "tea"]
        other.delete("alice:tea")
        assert find(store, "tea") == ["green tea"]
    with closing(sqlite3.connect(path)) as connection:
        assert made_with(connection).dimensions == DIMENSIONS


def test_many_users_take_turns_in_memory(store: SqliteVectorStore) -> None:
    for number in range(40):
        put(store, f"tea of {number}", user=f"user{number}")
    assert [find(store, "tea", user=f"user{number}") for number in range(40)] == [[f"tea of {n}"] for n in range(40)]


def test_its_settings_are_handed_about_as_mem0_does(path: Path) -> None:
    config = SqliteStoreConfig(str(path), model="e", embedding_model_dims=64)
    with closing(SqliteVectorStore(**config.model_dump())) as store:
        assert store.collection_name == "mem0"
