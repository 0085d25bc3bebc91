"""Which memory somebody means, which change was the newest, and what a deletion for good would forget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from tests.memory.agentic.books import TEA, book_in
from tests.memory.agentic.folders import put


async def test_the_exact_name_comes_before_a_beginning(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", "---\nname: Drinks\n---\n")
    put(tmp_path, "teapot.md", "---\nname: Tea things\n---\n")
    book = book_in(tmp_path)
    for name, path in (("tea", "tea.md"), ("TEA", "tea.md"), ("drinks", "tea.md"), ("tea t", "teapot.md")):
        assert await book.find(name) == path
    with pytest.raises(StorageError, match=r"There is no memory drimks\. Near to it: tea\.md\."):
        await book.find("drimks")


async def test_a_memory_is_meant_before_a_file_beside_it_that_is_none(tmp_path: Path) -> None:
    put(tmp_path, "tea", b"\0")
    put(tmp_path, "tea.md", TEA)
    put(tmp_path, "list.txt", "milk")
    book = book_in(tmp_path)
    assert [await book.find(name) for name in ("tea", "tea.md", "list.txt")] == ["tea.md", "tea.md", "list.txt"]
    await book.delete(await book.find("tea"))
    assert await book.find_gone("tea") == "tea.md"


async def test_names_that_look_the_same_are_the_same(tmp_path: Path) -> None:
    put(tmp_path, "cafe\u0301 menu.md", "---\nname: Where  to eat\n---\n")
    book = book_in(tmp_path)
    for name in ("caf\u00e9 menu", "CAF\u00c9 MENU.md", "caf\u00e9", "where to eat", " Where  to"):
        assert await book.find(name) == "cafe\u0301 menu.md"


async def test_what_several_begin_with_is_told_with_a_few_of_them(tmp_path: Path) -> None:
    for number in range(9):
        put(tmp_path, f"note_{number}.md", f"{number}")
    with pytest.raises(
        StorageError, match=r"note may be any of (note_\d\.md, ){4}note_\d\.md and 4 more: give the path"
    ):
        await book_in(tmp_path).find("note")


async def test_a_name_that_is_not_utf8_is_found_as_it_is_listed(tmp_path: Path) -> None:
    """F22, for names."""
    put(tmp_path, os.fsdecode(b"caf\xe9.md"), "coffee")
    book = book_in(tmp_path)
    (card,) = await book.memories()
    assert (await book.show(card.file.relative)).text == "coffee"
    await book.pin(await book.find("caf"))
    assert [card.file.is_pinned for card in await book.memories()] == [True]


@pytest.mark.parametrize("name", ["", " ", "\0", "\ud83d", "../x", "/", "sub/b", "x" * 5000])
async def test_names_of_nothing_are_one_line(tmp_path: Path, name: str) -> None:
    put(tmp_path, "sub/a.md", "a")
    with pytest.raises(StorageError) as told:
        await book_in(tmp_path).find(name)
    assert "\n" not in str(told.value)


async def test_the_newest_change_is_that_which_still_counts(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    assert await book.newest() is None
    created = (await book.create(TEA)).entries[0]
    edited = (await book.edit("tea.md", TEA + "more")).entries[0]
    assert await book.newest() == edited
    undone = (await book.undo(edited.id)).entries[0]
    assert await book.newest() == created
    await book.undo(undone.id)
    assert await book.newest("tea.md") == edited


async def test_a_trail_knows_all_names_and_all_that_was_held(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.edit("tea.md", TEA + "More about oolong.\n")
    await book.rename("tea.md", "drink.md")
    trail = await book.trail("drink.md")
    assert trail.paths == ("drink.md", "tea.md")
    assert set(trail.texts) == {TEA, TEA + "More about oolong.\n"}
    await book.delete("drink.md")
    assert set((await book.trail("drink.md")).texts) == set(trail.texts)
