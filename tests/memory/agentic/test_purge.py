"""Deleted for good: no file of the memory or of its history holds a word of it."""

from __future__ import annotations

import base64
import io
import os
import random
import zipfile
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.agentic.blobs import LARGEST
from memory.agentic.purge import Purged
from tests.memory.agentic.books import TEA, FullDisk, book_in, index_of, look, tree
from tests.memory.agentic.folders import put
from tests.memory.agentic.test_recording import agent_in, memory_of, write

WORD = b"oolong"


def holding(workdir: Path, word: bytes) -> list[str]:
    """The files that hold a word, those inside ZIP files too."""
    found = []
    for path in workdir.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = b"".join(archive.read(name) for name in archive.namelist())
        if word in data:
            found.append(path.name)
    return found


async def test_nothing_of_it_is_left(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    watch = await look(book)
    await book.create("kept", "kept.md")
    await book.create(TEA)
    await look(book, watch)
    await book.edit("tea.md", TEA + "More about oolong.\n")
    await book.rename("tea.md", "drink.md")
    await look(book, watch)
    assert holding(tmp_path, WORD)
    purged = await book.purge("drink.md")
    assert (purged.paths, purged.entries) == (("drink.md", "tea.md"), 3)
    assert purged.contents >= 3
    assert holding(tmp_path, WORD) == []
    assert tree(tmp_path) == {"kept.md": b"kept", "MEMORY.md": b"- [kept](kept.md)\n"}
    assert await book.history("drink.md") == []
    await look(book, watch)
    await look(book_in(tmp_path))
    assert {entry.path for entry in await book_in(tmp_path).history()} == {"kept.md", "MEMORY.md"}


@pytest.mark.parametrize("is_taken", [False, True])
async def test_nothing_is_left_of_a_memory_that_nobody_has_looked_at_since_it_was_renamed(
    tmp_path: Path, is_taken: bool
) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await look(book)
    await book.rename("tea.md", "drink.md")
    if is_taken:
        await book.create("coffee", "tea.md")
    await book.purge("drink.md")
    assert holding(tmp_path, WORD) == []
    await look(book_in(tmp_path))
    left = {"tea.md", "MEMORY.md"} if is_taken else {"MEMORY.md"}
    assert {entry.path for entry in await book_in(tmp_path).history()} == left
    assert holding(tmp_path, WORD) == []


async def test_what_was_there_before_the_history_is_gone_too(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA)
    book = book_in(tmp_path)
    await look(book)
    assert (await book.purge("tea.md")).entries == 0
    assert holding(tmp_path, WORD) == []


async def test_a_memory_that_was_deleted_already_is_purged_from_the_history(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.delete("tea.md")
    assert holding(tmp_path, WORD)
    assert (await book.purge("tea.md")).entries == 2
    assert holding(tmp_path, WORD) == []


async def test_another_memory_keeps_its_history_and_what_both_held(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    first = (await book.create("same text", "a.md")).entries[0]
    await book.create("same text", "b.md")
    await book.edit("b.md", "other")
    await book.purge("b.md")
    assert await book.journal.content(first.after) == b"same text"
    assert [entry.path for entry in await book.history("a.md")] == ["a.md"]


async def test_a_new_memory_under_an_earlier_name_stays(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.rename("tea.md", "drink.md")
    await book.create("green", "tea.md")
    await book.purge("drink.md")
    assert tree(tmp_path) == {"tea.md": b"green", "MEMORY.md": b"- [tea](tea.md)\n"}
    assert [entry.action for entry in await book.history("tea.md")] == ["create"]
    assert index_of(tmp_path) == "- [tea](tea.md)\n"


async def test_who_else_may_tell_of_it_is_told(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, [write(tmp_path, "tea.md", TEA)], "done")
    memory_of(agent).recording.session_id = "s1"
    await agent.reply("remember")
    heard: list[Purged] = []

    async def hear(purged: Purged) -> None:
        heard.append(purged)

    book = memory_of(agent).book
    book.purge_listeners.append(hear)
    purged = await book.purge("tea.md")
    assert heard == [purged]
    assert (purged.session_ids, purged.call_ids, len(purged.reply_ids), len(purged.msg_ids)) == (
        ("s1",),
        ("call-1",),
        1,
        1,
    )


async def test_the_index_is_not_purged(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "x")
    with pytest.raises(StorageError, match="is the index"):
        await book_in(tmp_path).purge("MEMORY.md")
    assert tree(tmp_path) == {"MEMORY.md": b"x"}


def noise(size: int) -> str:
    """Text that does not get smaller by being packed."""
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


async def test_a_full_disk_keeps_nobody_from_deleting_for_good(tmp_path: Path) -> None:
    """P12: the file and what is kept of it make the room that the rest needs."""
    await book_in(tmp_path).create("kept", "kept.md")
    await book_in(tmp_path).create(f"oolong\n{noise(3000)}", "tea.md")
    book = book_in(tmp_path, FullDisk(tmp_path, room=0))
    with pytest.raises(StorageError, match="No space left"):
        await book.delete("tea.md")
    assert (await book.purge("tea.md")).entries == 1
    assert holding(tmp_path, WORD) == []
    assert tree(tmp_path) == {"kept.md": b"kept", "MEMORY.md": b"- [kept](kept.md)\n"}


async def test_where_even_that_is_not_room_enough_the_file_is_gone_and_the_rest_later(tmp_path: Path) -> None:
    await book_in(tmp_path).create("kept", "kept.md")
    await book_in(tmp_path).create("oolong", "tea.md")
    disk = FullDisk(tmp_path, room=0)
    book = book_in(tmp_path, disk)
    with pytest.raises(StorageError, match=r"tea.md is deleted, and not yet all .*once more.*No space left"):
        await book.purge("tea.md")
    assert sorted(tree(tmp_path)) == ["MEMORY.md", "kept.md"]
    disk.size += 10_000
    path = await book_in(tmp_path).find_gone("tea")
    assert path == "tea.md"
    await book.purge(path)
    assert (holding(tmp_path, WORD), index_of(tmp_path)) == ([], "- [kept](kept.md)\n")


async def test_room_is_made_by_a_file_only_if_the_history_has_what_it_holds(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    put(tmp_path, "new.md", "nobody has looked at it")
    assert not await book.make_room("new.md")
    assert await book.make_room("tea.md")
    assert sorted(tree(tmp_path)) == ["MEMORY.md", "new.md"]
    assert (await book.trail("tea.md")).texts == (TEA,)


@pytest.mark.parametrize("kind", ["large", "fifo"])
async def test_what_cannot_be_read_can_be_deleted_for_good(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, "MEMORY.md", "- [odd](odd.md)\n").with_name("odd.md")
    if kind == "large":
        path.write_bytes(b"oolong\n" * (LARGEST // 7 + 1))
    else:
        os.mkfifo(path)
    book = book_in(tmp_path)
    await look(book)
    with pytest.raises(StorageError):
        await book.delete("odd.md")
    await book.purge("odd.md")
    assert tree(tmp_path) == {"MEMORY.md": b""}
