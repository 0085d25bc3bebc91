from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.mem0.outbox import MOST_TRIES, Message, Outbox

SAID: list[Message] = [{"role": "user", "content": "I live in Hangzhou \ud83d"}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "outbox.db"


@pytest.fixture
def outbox(path: Path) -> Outbox:
    return Outbox(path, "store", "alice")


def test_without_anything_to_keep_there_is_no_file(outbox: Outbox, path: Path) -> None:
    assert outbox.take() == []
    assert outbox.count() == 0
    assert outbox.purge() == 0
    assert not path.exists()


def test_what_is_put_in_is_taken_out_once(outbox: Outbox, path: Path) -> None:
    outbox.put(SAID, "helper", "no luck")
    outbox.put(SAID, "", "again")
    first, second = outbox.take()
    assert (first.agent, first.messages, first.tries) == (
        "helper",
        [{"role": "user", "content": "I live in Hangzhou \ufffd"}],
        1,
    )
    assert second.number > first.number
    assert Outbox(path, "store", "alice").take() == []
    assert outbox.count() == 2
    outbox.settle(first.number)
    outbox.settle(second.number, "no luck again")
    (again,) = outbox.take()
    assert (again.number, again.tries) == (second.number, 2)


def test_other_memories_and_users_do_not_see_it(outbox: Outbox, path: Path) -> None:
    outbox.put(SAID, "", "x")
    for other in (Outbox(path, "other", "alice"), Outbox(path, "store", "bob")):
        assert other.take() == []
        assert other.purge() == 0
    assert outbox.count() == 1


def test_what_never_works_is_not_tried_for_ever(outbox: Outbox) -> None:
    outbox.put(SAID, "", "x")
    for _ in range(MOST_TRIES - 1):
        (waiting,) = outbox.take()
        outbox.settle(waiting.number, "no")
    assert outbox.take() == []
    assert outbox.count() == 1


def test_what_a_program_took_and_died_with_is_taken_again(outbox: Outbox, path: Path) -> None:
    outbox.put(SAID, "", "x")
    assert len(outbox.take()) == 1
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE outbox SET taken = ?", (time.time() - 3600,))
    assert len(outbox.take()) == 1


def test_purging_leaves_nothing_in_the_file(outbox: Outbox, path: Path) -> None:
    outbox.put(SAID, "", "x")
    assert b"Hangzhou" in path.read_bytes()
    assert outbox.purge() == 1
    assert b"Hangzhou" not in path.read_bytes()


def test_a_place_where_nothing_can_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be kept"):
        Outbox(tmp_path / "file" / "outbox.db", "s", "u").put(SAID, "", "x")


def test_what_is_being_written_waits_for_its_end_or_for_the_death_of_its_program(outbox: Outbox, path: Path) -> None:
    first, second = outbox.begin(SAID, "helper"), outbox.begin(SAID, "")
    assert outbox.take() == []
    outbox.settle(first)
    outbox.settle(second, "no luck")
    (waiting,) = outbox.take()
    assert (waiting.number, waiting.tries) == (second, 1)


@pytest.mark.parametrize("damage", [b"no database " * 400, b"SQLite format 3\0" + b"\xff" * 4_000])
def test_a_damaged_file_is_put_aside_and_stands_in_nobodys_way(outbox: Outbox, path: Path, damage: bytes) -> None:
    outbox.put(SAID, "", "x")
    path.write_bytes(damage)
    assert outbox.purge() == 0
    outbox.put(SAID, "", "x")
    assert outbox.count() == 1
    assert [file.read_bytes() for file in path.parent.glob("outbox.db.bad-*")] == [damage]
