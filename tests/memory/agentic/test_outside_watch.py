"""What other programs do to the memory folder is noticed by the next look, without reading what is unchanged."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.outside_watch import OutsideWatch
from tests.memory.agentic.books import TEA, FailingBackend, actions, book_in, look, tree
from tests.memory.agentic.folders import CountingBackend, put


async def test_what_is_there_at_the_first_look_is_taken_as_it_is(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "a")
    put(tmp_path, "MEMORY.md", "- [a](a.md)\n")
    book = book_in(tmp_path)
    await look(book)
    assert await book.history() == []
    assert await book.origin_of("a.md") == "outside"


async def test_edits_new_files_and_deletions_are_told_with_their_contents(tmp_path: Path) -> None:
    """X08."""
    put(tmp_path, "a.md", "a")
    put(tmp_path, "b.md", "b")
    put(tmp_path, "MEMORY.md", "- [a](a.md)\n")
    book = book_in(tmp_path)
    watch = await look(book)
    put(tmp_path, "a.md", "edited")
    put(tmp_path, "sub/new.md", "new")
    put(tmp_path, "MEMORY.md", "")
    (tmp_path / "Memory/b.md").unlink()
    await look(book, watch)
    entries = sorted(await book.journal.entries(), key=lambda entry: entry.path)
    assert actions(entries) == [
        ("edit", "outside", "MEMORY.md"),
        ("edit", "outside", "a.md"),
        ("delete", "outside", "b.md"),
        ("create", "outside", "sub/new.md"),
    ]
    contents = [(await book.journal.content(e.before), await book.journal.content(e.after)) for e in entries]
    assert contents == [(b"- [a](a.md)\n", b""), (b"a", b"edited"), (b"b", None), (None, b"new")]
    await look(book, watch)
    assert len(await book.journal.entries()) == 4


async def test_what_changed_while_no_program_ran_is_noticed_by_the_next_one(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "a")
    await look(book_in(tmp_path))
    path.write_text("edited")
    book = book_in(tmp_path)
    await look(book)
    (entry,) = await book.history("a.md")
    assert (entry.action, entry.origin, await book.journal.content(entry.before)) == ("edit", "outside", b"a")


class Interrupted(LocalBackend):
    """Has what is in `happenings` happen just before it reads a memory."""

    def __init__(self) -> None:
        self.happenings: list[Callable[[], Awaitable[None]]] = []

    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        while path.endswith(".md") and self.happenings:
            await self.happenings.pop()()
        return await super().read_file(path, limit=limit, follow=follow)


async def test_of_two_first_looks_the_quicker_one_counts(tmp_path: Path) -> None:
    """The slower one has listed the file as it was, and reads it as it is after the change that it has to tell."""
    put(tmp_path, "a.md", "a")
    backend = Interrupted()
    book = book_in(tmp_path, backend)
    watch, scan = OutsideWatch(book.folder, book.journal), await book.folder.scan()

    async def edit_after_the_quicker_look() -> None:
        await look(book_in(tmp_path))
        put(tmp_path, "a.md", "edited")

    backend.happenings.append(edit_after_the_quicker_look)
    await watch.look(scan)
    await look(book, watch)
    (entry,) = await book.history("a.md")
    assert (entry.action, entry.origin, await book.journal.content(entry.before)) == ("edit", "outside", b"a")


async def test_an_edit_of_a_file_that_could_not_be_looked_at_twice_is_told_by_the_next_look(tmp_path: Path) -> None:
    class Flaky(CountingBackend):
        """Loses the connection once a file has been read."""

        is_lost = False

        async def stat(self, path: str):
            if self.is_lost and path.endswith("a.md") and "a.md" in self.reads:
                raise ConnectionResetError(104, "Connection reset by peer", path)
            return await super().stat(path)

    path = put(tmp_path, "a.md", "a")
    backend = Flaky()
    book = book_in(tmp_path, backend)
    watch = await look(book)
    path.write_text("edited")
    await book.folder.scan()
    backend.reads.clear()
    backend.is_lost = True
    await look(book, watch)
    assert await book.journal.entries() == []
    backend.is_lost = False
    await look(book, watch)
    assert actions(await book.journal.entries()) == [("edit", "outside", "a.md")]


async def test_only_files_of_another_version_are_read(tmp_path: Path) -> None:
    for number in range(20):
        put(tmp_path, f"{number}.md", f"text {number}")
    put(tmp_path, "MEMORY.md", "index")
    await look(book_in(tmp_path))
    backend = CountingBackend()
    book = book_in(tmp_path, backend)
    await book.folder.scan()
    backend.reads.clear()
    watch = await look(book)
    assert backend.reads == ["seen.json"]
    put(tmp_path, "7.md", "edited")
    await book.folder.scan()
    backend.reads.clear()
    await look(book, watch)
    assert backend.reads.count("7.md") == 1
    assert not [name for name in backend.reads if name.endswith(".md") and name != "7.md"]


async def test_a_file_that_was_only_touched_has_not_changed(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "a")
    book = book_in(tmp_path)
    watch = await look(book)
    os.utime(path, (1, 1))
    await look(book, watch)
    assert await book.history() == []


async def test_what_this_program_or_another_one_like_it_wrote_is_not_from_outside(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "")
    book = book_in(tmp_path)
    watch = await look(book)
    await book.create(TEA)
    await book_in(tmp_path).edit("tea.md", "theirs")
    await look(book, watch)
    await look(book_in(tmp_path))
    assert {entry.origin for entry in await book.journal.entries()} == {"user"}


async def test_a_file_moved_by_another_program_is_a_rename(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "text")
    book = book_in(tmp_path)
    watch = await look(book)
    path.write_text("edited")
    await look(book, watch)
    path.rename(tmp_path / "Memory/b.md")
    await look(book, watch)
    assert actions(await book.history("b.md")) == [("rename", "outside", "b.md"), ("edit", "outside", "a.md")]
    await book.undo((await book.history("b.md"))[0].id)
    assert tree(tmp_path) == {"a.md": b"edited"}


async def test_a_folder_that_vanishes_and_comes_back_has_not_changed(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "a")
    book = book_in(tmp_path)
    watch = await look(book)
    (tmp_path / "Memory").rename(tmp_path / "away")
    await look(book, watch)
    (tmp_path / "away").rename(tmp_path / "Memory")
    await look(book, watch)
    assert await book.history() == []


async def test_a_folder_that_cannot_be_listed_has_lost_nothing(tmp_path: Path) -> None:
    class Refusing(FailingBackend):
        is_refusing = False

        async def list_dir(self, path: str) -> list:
            if self.is_refusing and path.endswith("sub"):
                raise PermissionError(13, "Permission denied", path)
            return list(await super().list_dir(path))

    put(tmp_path, "sub/a.md", "a")
    put(tmp_path, "b.md", "b")
    backend = Refusing()
    book = book_in(tmp_path, backend)
    watch = await look(book)
    backend.is_refusing = True
    await look(book, watch)
    assert await book.history() == []


async def test_links_that_lead_outside_are_not_read(tmp_path: Path) -> None:
    """X03."""
    put(tmp_path, "a.md", "a")
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "Memory/out.md").symlink_to("../secret.md")
    (tmp_path / "Memory/MEMORY.md").symlink_to("../secret.md")
    backend = CountingBackend()
    await look(book_in(tmp_path, backend))
    assert "secret.md" not in backend.reads


async def test_a_history_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    """P12."""
    path = put(tmp_path, "a.md", "a")
    backend = FailingBackend()
    book = book_in(tmp_path, backend)
    watch = await look(book)
    path.write_text("edited")
    backend.refuses = lambda path: ".mnemoscope" in path
    with pytest.raises(StorageError, match="No space left"):
        await look(book, watch)
    backend.refuses = lambda path: False
    await look(book, watch)
    assert actions(await book.history()) == [("edit", "outside", "a.md")]


@pytest.mark.parametrize("damaged", ['{"a.md": 1', "[" * 100_000, "{}[]", "\0" * 100], ids=range(4))
async def test_a_damaged_record_of_what_was_seen_begins_anew(tmp_path: Path, damaged: str) -> None:
    path = put(tmp_path, "a.md", "a")
    book = book_in(tmp_path)
    await look(book)
    (tmp_path / ".mnemoscope/Memory/seen.json").write_text(damaged)
    path.write_text("edited while the record was damaged")
    watch = await look(book_in(tmp_path))
    path.write_text("edited")
    await look(book, watch)
    assert actions(await book.history()) == [("edit", "outside", "a.md")]


async def test_what_cannot_be_watched_costs_only_itself(tmp_path: Path) -> None:
    """F23: a file too large to be kept, one that vanishes under the look."""
    put(tmp_path, "a.md", "a")
    with (tmp_path / "Memory/huge.md").open("wb") as file:
        file.truncate(64 << 20)
    book = book_in(tmp_path)
    watch = OutsideWatch(book.folder, book.journal)
    scan = await book.folder.scan()
    (tmp_path / "Memory/a.md").unlink()
    await watch.look(scan)
    put(tmp_path, "b.md", "b")
    await look(book, watch)
    assert [entry.path for entry in await book.journal.entries()] == ["b.md"]


async def test_how_large_a_file_was_before_others_changed_it_is_known(tmp_path: Path) -> None:
    put(tmp_path, "old.md", "12345")
    book = book_in(tmp_path)
    watch = await look(book)
    await book.create("1234567", "tea.md")
    (tmp_path / "Memory/old.md").write_text("1")
    (tmp_path / "Memory/tea.md").write_text("12")
    await look(book, watch)
    (tmp_path / "Memory/tea.md").unlink()
    await look(book, watch)
    sizes = {(entry.path, entry.action): entry for entry in await book.history() if entry.origin == "outside"}
    assert {what: (entry.before_size, entry.after_size) for what, entry in sizes.items()} == {
        ("old.md", "edit"): (5, 1), ("tea.md", "edit"): (7, 2), ("tea.md", "delete"): (2, 0),
    }  # fmt: skip
