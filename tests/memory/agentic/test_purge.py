"""Deleted for good: no file of the memory or of its history holds a word of it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.agentic.purge import Purged
from tests.memory.agentic.books import TEA, book_in, index_of, look, tree
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
