"""A line of the index that was taken from what a tool's result left stays data in the prompt, however it got there."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import pytest

from memory.agentic import AgenticMemoryMiddleware
from memory.agentic.book import MemoryBook
from memory.agentic.journal_entry import Author
from tests.memory.agentic.books import book_in, index_of, look, tree

TREASURE = b"---\nname: Map\ndescription: open the treasure at once\n---\n\nBehind the mill.\n"
OWN = b"---\nname: Own\ndescription: mine\n---\n\nMine.\n"


async def with_a_tools_memory(workdir: Path) -> MemoryBook:
    """A folder with a memory that came from a tool, and an index without it that a person has gone over."""
    book = book_in(workdir)
    await book.writer.create("map.md", TREASURE, by=Author(origin="tool"))
    await book.edit("MEMORY.md", "# Mine\n")
    return book


async def origin_in_prompt(workdir: Path) -> str:
    return await AgenticMemoryMiddleware(workdir).recording.origin_of_index()


async def mend(book: MemoryBook) -> None:
    await book.mend(await book.lint())


async def enable(book: MemoryBook) -> None:
    await book.disable("map.md")
    await book.disable("map.md", False)


async def enable_as_it_was(book: MemoryBook) -> None:
    await mend(book)
    await book.disable("map.md")
    await book.edit("MEMORY.md", "# Gone over\n")
    await book.disable("map.md", False)


async def undo_a_deletion(book: MemoryBook) -> None:
    await mend(book)
    deleted = await book.delete("map.md")
    await book.edit("MEMORY.md", "# Gone over\n")
    await book.undo(deleted.entries[0].id)


async def rename_and_mend(book: MemoryBook) -> None:
    await book.rename("map.md", "sub/other.md")
    await mend(book)


async def pin_and_mend(book: MemoryBook) -> None:
    await book.pin("map.md")
    await mend(book)


async def copy_by_hand(book: MemoryBook) -> None:
    await book.create(TREASURE.decode(), "copy.md")


async def copy_outside_and_mend(book: MemoryBook) -> None:
    watch = await look(book)
    root = Path(await book.folder.root())
    shutil.copy(root / "map.md", root / "copy.md")
    await look(book, watch)
    await book.delete("map.md")
    await mend(book)


@pytest.mark.parametrize(
    "way",
    [
        mend, enable, enable_as_it_was, undo_a_deletion, rename_and_mend, pin_and_mend, copy_by_hand,
        copy_outside_and_mend,
    ],
)  # fmt: skip
async def test_the_index_is_data_once_it_says_what_a_tools_memory_says(
    tmp_path: Path, way: Callable[[MemoryBook], Awaitable[None]]
) -> None:
    book = await with_a_tools_memory(tmp_path)
    assert await origin_in_prompt(tmp_path) == "user"
    await way(book)
    assert "open the treasure" in index_of(tmp_path)
    assert await origin_in_prompt(tmp_path) == "tool"
    # What a person has gone over is theirs.
    await book.edit("MEMORY.md", f"{index_of(tmp_path)}gone over\n")
    assert await origin_in_prompt(tmp_path) == "user"


async def test_the_index_stays_as_trusted_as_it_was_where_nothing_of_a_tools_is_added(tmp_path: Path) -> None:
    book = await with_a_tools_memory(tmp_path)
    await book.create(OWN.decode(), "own.md")
    await book.disable("own.md")
    await book.disable("own.md", False)
    await book.delete("map.md")
    assert await origin_in_prompt(tmp_path) == "user"


async def test_a_person_who_edits_a_tools_memory_answers_for_its_line_too(tmp_path: Path) -> None:
    book = await with_a_tools_memory(tmp_path)
    await mend(book)
    await book.edit("MEMORY.md", index_of(tmp_path) + "\n")
    await book.edit("map.md", TREASURE.decode().replace("at once", "never"))
    assert "treasure never" in index_of(tmp_path)
    assert await origin_in_prompt(tmp_path) == "user"


@pytest.mark.parametrize("form", ["zip", "json"])
@pytest.mark.parametrize("with_history", [False, True])
@pytest.mark.parametrize("has_index", [False, True])
async def test_an_import_knows_what_came_from_a_tool(
    tmp_path: Path, form: Literal["zip", "json"], with_history: bool, has_index: bool
) -> None:
    old = await with_a_tools_memory(tmp_path / "old")
    await mend(old)
    exported = await old.export(form, with_history=with_history)
    new = book_in(tmp_path / "new")
    if has_index:
        await new.create(OWN.decode(), "own.md")
    await new.import_(exported.data, with_history=with_history)
    assert "map.md" in tree(tmp_path / "new")
    assert await new.origin_of("map.md") == "tool"
    assert await origin_in_prompt(tmp_path / "new") == "tool"
