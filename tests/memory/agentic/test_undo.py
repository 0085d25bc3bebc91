"""Taking changes back: refused when the file has changed since, and itself a change that can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.agentic.memory_disk import MemoryConflict
from tests.memory.agentic.books import TEA, TEA_LINE, FailingBackend, book_in, index_of, look, tree
from tests.memory.agentic.folders import put


async def test_an_edit_is_undone_and_done_again(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"\xef\xbb\xbfone\r\n")
    book = book_in(tmp_path)
    edit = (await book.edit("a.md", "two\n")).entries[0]
    undone = (await book.undo(edit.id)).entries[0]
    assert tree(tmp_path) == {"a.md": b"\xef\xbb\xbfone\r\n"}
    assert (undone.action, undone.undoes, undone.before, undone.after) == ("undo", edit.id, edit.after, edit.before)
    again = (await book_in(tmp_path).undo(undone.id)).entries[0]
    assert tree(tmp_path) == {"a.md": b"\xef\xbb\xbftwo\r\n"}
    await book.undo(again.id)
    assert tree(tmp_path) == {"a.md": b"\xef\xbb\xbfone\r\n"}


@pytest.mark.parametrize("change", ["create", "delete", "rename", "disable", "pin", "fields"])
async def test_every_kind_of_change_is_undone_and_done_again(tmp_path: Path, change: str) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "MEMORY.md", "# Mine\r\n")
    put(tmp_path, "other.md", "see [tea](tea.md)")
    if change != "create":
        await book.create(TEA, "tea.md")
    before = tree(tmp_path)
    made = {
        "create": lambda: book.create(TEA, "tea.md"),
        "delete": lambda: book.delete("tea.md"),
        "rename": lambda: book.rename("tea.md", "sub/green tea.md"),
        "disable": lambda: book.disable("tea.md"),
        "pin": lambda: book.pin("tea.md"),
        "fields": lambda: book.set_fields("tea.md", {"name": "Green"}),
    }
    entry = (await made[change]()).entries[0]
    after = tree(tmp_path)
    assert after != before
    undone = await book.undo(entry.id)
    assert (tree(tmp_path), undone.left) == (before, ())
    again = await book.undo(undone.entries[0].id)
    assert tree(tmp_path) == after
    await book.undo(again.entries[0].id)
    assert tree(tmp_path) == before


async def test_an_undo_is_refused_when_the_file_has_changed_since(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    edit = (await book.edit(put(tmp_path, "a.md", "one\n").as_posix(), "two\n")).entries[0]
    put(tmp_path, "a.md", "two\nand more\n")
    with pytest.raises(MemoryConflict, match="has changed since") as conflict:
        await book.undo(edit.id)
    assert "+and more" in conflict.value.diff
    assert "-two" not in conflict.value.diff
    assert tree(tmp_path) == {"a.md": b"two\nand more\n"}
    assert len(await book.history()) == 1


async def test_a_deletion_is_not_undone_over_a_new_file(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "a.md", "one")
    deletion = (await book.delete("a.md")).entries[0]
    put(tmp_path, "a.md", "another")
    with pytest.raises(MemoryConflict):
        await book.undo(deletion.id)
    assert tree(tmp_path) == {"a.md": b"another"}


async def test_a_rename_is_not_undone_onto_another_file(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "a.md", "one")
    rename = (await book.rename("a.md", "b.md")).entries[0]
    put(tmp_path, "a.md", "another")
    with pytest.raises(MemoryConflict, match="exists already"):
        await book.undo(rename.id)
    assert tree(tmp_path) == {"a.md": b"another", "b.md": b"one"}


async def test_other_lines_of_the_index_stay(tmp_path: Path) -> None:
    """One memory is undone while the index has gone on."""
    book = book_in(tmp_path)
    tea = (await book.create(TEA)).entries[0]
    await book.create("text", "other.md")
    assert (await book.undo(tea.id)).left == ()
    assert tree(tmp_path) == {"other.md": b"text", "MEMORY.md": b"- [other](other.md)\n"}


async def test_a_line_in_words_of_ones_own_goes_with_the_memory_it_leads_to(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    tea = (await book.create(TEA)).entries[0]
    put(tmp_path, "MEMORY.md", "- [Mine](tea.md) — my words\n- [o](other.md)\n")
    assert (await book.undo(tea.id)).left == ()
    assert index_of(tmp_path) == "- [o](other.md)\n"


async def test_what_cannot_be_taken_back_elsewhere_is_said(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "a.md", "a")
    put(tmp_path, "o.md", "one\nsee [a](a.md)\n")
    rename = (await book.rename("a.md", "b.md")).entries[0]
    put(tmp_path, "o.md", "one\nlook at [a](b.md)\n")
    assert (await book.undo(rename.id)).left == ("o.md",)
    assert tree(tmp_path) == {"a.md": b"a", "o.md": b"one\nlook at [a](b.md)\n"}


async def test_what_came_from_outside_is_undone_too(tmp_path: Path) -> None:
    """X08."""
    path = put(tmp_path, "a.md", "there before\n")
    book = book_in(tmp_path)
    watch = await look(book)
    path.write_text("edited elsewhere\n")
    await look(book, watch)
    edit = (await book.history("a.md"))[0]
    await book.undo(edit.id)
    assert tree(tmp_path) == {"a.md": b"there before\n"}
    path.unlink()
    await look(book, watch)
    deletion = (await book.history("a.md"))[0]
    assert (deletion.action, deletion.origin) == ("delete", "outside")
    await book.undo(deletion.id)
    assert tree(tmp_path) == {"a.md": b"there before\n"}


async def test_what_is_not_kept_any_more_is_said(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "a.md", "one")
    edit = (await book.edit("a.md", "two")).entries[0]
    for blob in (tmp_path / ".mnemoscope/Memory/contents").iterdir():
        blob.unlink()
    with pytest.raises(StorageError, match="not kept any more"):
        await book.undo(edit.id)
    assert tree(tmp_path) == {"a.md": b"two"}


async def test_an_undo_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    """P12."""
    book = book_in(tmp_path)
    tea = (await book.create(TEA)).entries[0]
    full = book_in(tmp_path, FailingBackend(lambda path: path.endswith("MEMORY.md")))
    with pytest.raises(StorageError, match="No space left"):
        await full.undo(tea.id)
    assert tree(tmp_path) == {"tea.md": TEA.encode(), "MEMORY.md": TEA_LINE.encode()}
    assert len(await book.history("tea.md")) == 1


async def test_the_index_itself_is_undone_as_strictly_as_any_file(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "MEMORY.md", "one\n")
    edit = (await book.edit("MEMORY.md", "two\n")).entries[0]
    put(tmp_path, "MEMORY.md", "two\nthree\n")
    with pytest.raises(MemoryConflict):
        await book.undo(edit.id)
    put(tmp_path, "MEMORY.md", "two\n")
    await book.undo(edit.id)
    assert index_of(tmp_path) == "one\n"
