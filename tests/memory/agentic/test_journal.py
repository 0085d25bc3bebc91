"""The history of a memory: it survives restarts, damage, kills and other programs, and is bounded."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.agentic.folder import MemoryFolder
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import JournalEntry
from memory.agentic.retention import Retention
from memory.agentic.writer import MemoryWriter
from tests.memory.agentic.books import (
    TEA,
    FailingBackend,
    actions,
    be_killed,
    book_in,
    finish,
    journal_file,
    look,
    run_program,
    tree,
)
from tests.memory.agentic.folders import folder_in, put


async def test_every_change_is_told_with_what_was_there_before_and_after(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.edit("tea.md", "new")
    again = book_in(tmp_path)
    edited, created = await again.history("tea.md")
    assert actions([created, edited]) == [("create", "user", "tea.md"), ("edit", "user", "tea.md")]
    assert await again.journal.content(created.before) is None
    assert await again.journal.content(edited.before) == TEA.encode()
    assert await again.journal.content(edited.after) == b"new"
    assert await again.diff(edited) != ""
    assert (created.after, edited.before_size, edited.after_size) == (edited.before, len(TEA), 3)


async def test_the_history_follows_a_file_to_its_earlier_names_and_no_further(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create("one", "a.md")
    await book.rename("a.md", "b.md")
    await book.create("another", "a.md")
    assert [entry.action for entry in await book.history("b.md")] == ["rename", "create"]
    assert [entry.action for entry in await book.history("a.md")][:1] == ["create"]


async def test_an_entry_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    entry = (await book.create(TEA)).entries[0]
    assert await book.journal.entry(entry.id[:12]) == entry
    for wrong in ("", "zz"):
        with pytest.raises(StorageError):
            await book.journal.entry(wrong)


async def test_nobody_else_may_look_into_it_and_git_leaves_it_alone(tmp_path: Path) -> None:
    await book_in(tmp_path).create(TEA)
    for folder in (tmp_path / ".mnemoscope", tmp_path / ".mnemoscope/Memory"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (tmp_path / ".mnemoscope/.gitignore").read_text() == "*\n"


async def test_nothing_is_made_before_the_first_change(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    assert (await book.history(), await book.memories(), await book.lint()) == ([], [], [])
    await look(book)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "damage",
    [
        b'{"id": "x", "at"',
        b"\0\0\0\0\n" * 400,
        b"[1, 2]\n",
        b'"text"\n',
        b"\xff\xfe\n",
        b"[" * 100_000,
        b'{"id":' * 100_000,
    ],
    ids=lambda damage: damage[:8].decode(errors="replace"),
)
async def test_damaged_lines_cost_only_themselves(tmp_path: Path, damage: bytes) -> None:
    """P01, P02: what is written behind a torn line is read again."""
    await book_in(tmp_path).create("a", "a.md")
    with journal_file(tmp_path).open("ab") as file:
        file.write(damage)
    await book_in(tmp_path).create("b", "b.md")
    book = book_in(tmp_path)
    assert [entry.path for entry in await book.journal.entries()] == ["a.md", "MEMORY.md", "b.md", "MEMORY.md"]
    assert await book.journal.damaged() >= 1


async def test_a_name_that_is_not_utf8_comes_back_as_it_was(tmp_path: Path) -> None:
    """F22, for names."""
    name = os.fsdecode(b"caf\xe9.md")
    path = put(tmp_path, name, "old")
    book = book_in(tmp_path)
    watch = await look(book)
    path.write_text("new")
    await look(book, watch)
    (entry,) = await book_in(tmp_path).history()
    assert entry.path == name
    await book.undo(entry.id)
    assert path.read_text() == "old"


async def test_listeners_hear_once_of_every_change_whoever_made_it(tmp_path: Path) -> None:
    heard: list[str] = []

    async def hear(entries: list[JournalEntry]) -> None:
        heard.extend(entry.path for entry in entries)

    await book_in(tmp_path).create("earlier", "earlier.md")
    book = book_in(tmp_path)
    await book.journal.entries()
    book.journal.listeners.append(hear)
    await book.create("mine", "mine.md")
    assert heard == ["mine.md", "MEMORY.md"]
    await book_in(tmp_path).create("theirs", "theirs.md")
    await book.journal.entries()
    await book.journal.entries()
    assert heard == ["mine.md", "MEMORY.md", "theirs.md", "MEMORY.md"]


async def test_what_is_older_than_the_limit_is_dropped_with_its_contents(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    journal = Journal(folder, Retention(entries=8))
    writer = MemoryWriter(folder, journal)
    await writer.create("a.md", b"text 0")
    for number in range(1, 31):
        await writer.edit("a.md", f"text {number}")
    entries = await journal.entries()
    assert 8 <= len(entries) <= 10
    assert await journal.content(entries[-1].before) == b"text 29"
    assert await journal.content(entries[0].before) is not None
    kept = [await journal.content(digest) for entry in entries for digest in entry.digests]
    assert None not in kept
    held = sum(path.stat().st_size for path in (tmp_path / ".mnemoscope/Memory/contents").iterdir())
    assert held < 30 * 200


def test_retention_counts_each_content_once() -> None:
    entries = [
        JournalEntry(id=str(n), at=n, path="a", action="edit", origin="user", before=str(n), after=str(n + 1),
                     before_size=10, after_size=10)
        for n in range(10)
    ]  # fmt: skip
    assert [entry.id for entry in Retention(size=30).kept(entries)] == ["8", "9"]
    assert not Retention(size=110).is_passed_by(entries)
    assert Retention(size=50).is_passed_by(entries)


async def test_a_damaged_content_is_told_as_lost_and_kept_aside(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    entry = (await book.create("one", "a.md")).entries[0]
    (blob,) = (tmp_path / f".mnemoscope/Memory/contents/{entry.after[:2]}.zip",)
    blob.write_bytes(b"PK\3\4 no zip")
    assert await book.journal.content(entry.after) is None
    assert await book.diff(entry) == ""
    await book.delete("a.md")
    assert blob.with_name(blob.name + ".damaged").read_bytes() == b"PK\3\4 no zip"


async def test_a_program_that_is_killed_after_writing_is_still_named_as_the_author(tmp_path: Path) -> None:
    """The entry is on disk before the file is."""
    program = run_program(
        """
        class Killed(FailingBackend):
            async def write_file(self, path, data, *, follow=True):
                await super().write_file(path, data, follow=follow)
                if path.endswith("Memory/a.md"):
                    os.kill(os.getpid(), signal.SIGKILL)
        await book_in(workdir, Killed()).create("text", "a.md")
        """,
        tmp_path,
    )
    be_killed(program)
    assert tree(tmp_path) == {"a.md": b"text"}
    book = book_in(tmp_path)
    await look(book, await look(book))
    (entry,) = await book.history("a.md")
    assert (entry.action, entry.origin) == ("create", "user")
    await book.undo(entry.id)
    assert "a.md" not in tree(tmp_path)


async def test_a_program_that_is_killed_before_writing_leaves_no_change_in_the_history(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create("text", "a.md")
    await look(book)
    program = run_program(
        """
        class Killed(FailingBackend):
            async def write_file(self, path, data, *, follow=True):
                if path.endswith("Memory/a.md"):
                    os.kill(os.getpid(), signal.SIGKILL)
                await super().write_file(path, data, follow=follow)
        await book_in(workdir, Killed()).edit("a.md", "new")
        """,
        tmp_path,
    )
    be_killed(program)
    again = book_in(tmp_path)
    assert len(await again.history("a.md")) == 2
    await look(again)
    assert [entry.action for entry in await again.history("a.md")] == ["create"]
    assert (await again.edit("a.md", "later")).entries


async def test_the_lock_of_a_killed_program_is_free(tmp_path: Path) -> None:
    program = run_program(
        """
        async with book_in(workdir).journal.changing():
            print("held", flush=True)
            await asyncio.sleep(60)
        """,
        tmp_path,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "held\n"
    program.kill()
    program.communicate()
    await book_in(tmp_path).create("a", "a.md")


async def test_a_journal_that_cannot_be_read_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / ".mnemoscope/Memory/journal.jsonl").mkdir(parents=True)
    with pytest.raises(StorageError, match="history of the memory cannot be"):
        await book_in(tmp_path).create("a", "a.md")
    assert tree(tmp_path) == {}


async def test_a_journal_folder_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """X03."""
    (tmp_path / "outside").mkdir()
    (tmp_path / ".mnemoscope").symlink_to("outside")
    with pytest.raises(StorageError):
        await book_in(tmp_path).create("a", "a.md")
    assert os.listdir(tmp_path / "outside") == []


async def test_two_memory_folders_in_one_place_have_two_histories(tmp_path: Path) -> None:
    backend = FailingBackend()
    for name in ("One", "Two"):
        folder = MemoryFolder(tmp_path, name, backend)
        await MemoryWriter(folder, Journal(folder)).create("a.md", name.encode())
    assert sorted(path.name for path in (tmp_path / ".mnemoscope").iterdir()) == [".gitignore", "One", "Two"]


async def test_another_program_may_look_while_this_one_writes(tmp_path: Path) -> None:
    reader = run_program(
        """
        count = 0
        while count < 40:
            book = book_in(workdir)
            count = len(await book.history())
            assert await book.journal.damaged() == 0
        """,
        tmp_path,
    )
    book = book_in(tmp_path)
    for number in range(20):
        await book.create(f"text {number}", f"{number}.md")
    finish(reader)
