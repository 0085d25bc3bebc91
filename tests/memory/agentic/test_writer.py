"""Changing a memory by hand: atomic, recorded, with the index in step; in all else the files keep their bytes."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.book import MemoryBook
from memory.agentic.memory_disk import MemoryConflict
from memory.agentic.portability import collect_folder
from tests.memory.agentic.books import (
    TEA,
    TEA_LINE,
    BareBackend,
    FailingBackend,
    book_in,
    finish,
    index_of,
    look,
    run_program,
    tree,
)
from tests.memory.agentic.folders import put


async def test_a_memory_is_made_with_its_line_in_the_index(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    written = await book.create(TEA)
    assert (written.path, [entry.path for entry in written.entries]) == ("tea.md", ["tea.md", "MEMORY.md"])
    assert tree(tmp_path) == {"tea.md": TEA.encode(), "MEMORY.md": TEA_LINE.encode()}


async def test_two_memories_of_the_same_name_get_two_files_and_a_hint(tmp_path: Path) -> None:
    """L12: nothing is removed or merged by itself."""
    book = book_in(tmp_path)
    await book.create(TEA)
    second = await book.create(TEA)
    assert second.path == "tea_2.md"
    assert await book.twins(second.path) == ["tea.md"]
    assert sorted(tree(tmp_path)) == ["MEMORY.md", "tea.md", "tea_2.md"]


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/x.md", "a/../../x.md", ".hidden.md", "MEMORY.md", "memory.md", "sub/MEMORY.md", "con.md",
             "a\0.md", "a\n.md", "", "a?.md", "x/.git/config", "dot./a.md", "~/a.md"],
)  # fmt: skip
async def test_a_name_that_no_memory_can_have_is_refused_and_nothing_is_made(tmp_path: Path, path: str) -> None:
    with pytest.raises(StorageError):
        await book_in(tmp_path).create(TEA, path)
    assert os.listdir(tmp_path) == []


async def test_a_memory_that_exists_is_not_made_again(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", "mine")
    with pytest.raises(MemoryConflict, match="exists already"):
        await book_in(tmp_path).create(TEA, "tea")
    assert tree(tmp_path) == {"tea.md": b"mine"}


async def test_an_edit_keeps_what_was_not_edited(tmp_path: Path) -> None:
    """F01, F26: byte order mark and line ends."""
    path = put(tmp_path, "tea.md", b"\xef\xbb\xbf---\r\nname: Tea\r\n---\r\none\ntwo\r\n")
    book = book_in(tmp_path)
    shown = await book.show("tea")
    await book.edit(shown.path, shown.text.replace("two", "2\n3"), shown.data)
    assert path.read_bytes() == b"\xef\xbb\xbf---\r\nname: Tea\r\n---\r\none\n2\r\n3\r\n"


async def test_an_edit_of_what_has_changed_since_is_refused_with_the_difference(tmp_path: Path) -> None:
    path = put(tmp_path, "tea.md", "one\ntwo\n")
    book = book_in(tmp_path)
    shown = await book.show("tea.md")
    path.write_bytes(b"one\nother\n")
    with pytest.raises(MemoryConflict, match="has changed since") as conflict:
        await book.edit("tea.md", "mine", shown.data)
    assert "-two\n+other" in conflict.value.diff
    assert path.read_bytes() == b"one\nother\n"
    path.unlink()
    with pytest.raises(MemoryConflict, match="is gone"):
        await book.delete("tea.md", shown.data)


async def test_an_edit_that_changes_nothing_is_no_change(tmp_path: Path) -> None:
    """C17: the file is not written, and the history has no entry."""
    path = put(tmp_path, "tea.md", "one\n")
    before = path.stat()
    written = await book_in(tmp_path).edit("tea.md", "one\n")
    assert written.entries == ()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert await book_in(tmp_path).history() == []


async def test_a_changed_header_is_told_by_the_index_where_the_index_told_it(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    put(tmp_path, "MEMORY.md", f"# Mine\n{TEA_LINE}- [My words](tea.md) — of my own\n")
    await book.set_fields("tea.md", {"name": "Green tea", "description": "likes sencha"})
    assert tree(tmp_path) == {
        "tea.md": TEA.replace("Tea", "Green tea").replace("likes oolong", "likes sencha", 1).encode(),
        "MEMORY.md": "# Mine\n- [Green tea](tea.md) — likes sencha\n- [My words](tea.md) — of my own\n".encode(),
    }


async def test_the_type_of_a_nested_header_is_changed_where_it_is(tmp_path: Path) -> None:
    """The form of another program stays."""
    path = put(tmp_path, "a.md", "---\nname: a\nmetadata:\n  type: user\n---\n")
    await book_in(tmp_path).set_fields("a.md", {"type": "project"})
    assert path.read_text() == "---\nname: a\nmetadata:\n  type: project\n---\n"


async def test_a_file_without_a_header_gets_one_when_a_field_is_set(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "body")
    await book_in(tmp_path).set_fields("a.md", {"description": "x"})
    assert path.read_text() == "---\ndescription: x\n---\nbody"


async def test_a_broken_header_is_refused_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "---\nname: x\nbody")
    with pytest.raises(StorageError, match=r"a\.md: the header has no end"):
        await book_in(tmp_path).pin("a.md")
    assert path.read_text() == "---\nname: x\nbody"


async def test_all_links_follow_a_renamed_memory(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    put(tmp_path, "the brief.md", "me [self](<the brief.md>), [other](sub/o.md)")
    put(tmp_path, "sub/o.md", b"\r\nsee [b](../the%20brief.md#x) and [[the brief]] caf\xe9")
    put(tmp_path, "free.md", "no link to the brief.md")
    put(tmp_path, "MEMORY.md", "- [B](the brief.md) — b\r\n- [O](sub/o.md)\n")
    before = tree(tmp_path)
    assert await book.renamed_with("the brief.md", "sub/new brief") == ("sub/new brief.md", "MEMORY.md", "sub/o.md")
    assert tree(tmp_path) == before
    await book.rename("the brief.md", "sub/new brief")
    assert tree(tmp_path) == {
        "sub/new brief.md": b"me [self](<new brief.md>), [other](o.md)",
        "sub/o.md": b"\r\nsee [b](new%20brief.md#x) and [[new brief]] caf\xe9",
        "free.md": b"no link to the brief.md",
        "MEMORY.md": "- [B](sub/new%20brief.md) — b\r\n- [O](sub/o.md)\n".encode(),
    }


async def test_a_rename_onto_another_memory_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "a")
    put(tmp_path, "b.md", "b")
    with pytest.raises(MemoryConflict, match="exists already"):
        await book_in(tmp_path).rename("a.md", "b.md")
    assert tree(tmp_path) == {"a.md": b"a", "b.md": b"b"}


async def test_a_deleted_memory_leaves_the_index(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.create("just text", "other.md")
    await book.delete("tea.md")
    assert tree(tmp_path) == {"other.md": b"just text", "MEMORY.md": b"- [other](other.md)\n"}


async def test_a_disabled_memory_is_out_of_index_and_recall_until_it_is_enabled(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    put(tmp_path, "MEMORY.md", "- [My words](tea.md) — of my own\n  and more\n")
    await book.disable("tea.md")
    (card,) = await book.memories()
    assert (card.file.is_disabled, card.file.is_readable, index_of(tmp_path)) == (True, False, "")
    put(tmp_path, "MEMORY.md", "- [Later](later.md)\n")
    await book.disable("tea.md", False)
    assert tree(tmp_path)["tea.md"] == TEA.encode()
    assert index_of(tmp_path) == "- [Later](later.md)\n- [My words](tea.md) — of my own\n  and more\n"


async def test_enabling_what_somebody_disabled_by_hand_makes_a_line(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA.replace("type: user", "disabled: yes"))
    await book_in(tmp_path).disable("tea.md", False)
    assert index_of(tmp_path) == TEA_LINE


async def test_pinning_changes_one_line_of_the_header(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.pin("tea.md")
    assert tree(tmp_path)["tea.md"] == TEA.replace("type: user\n", "type: user\npinned: true\n").encode()
    assert (await book.memories())[0].file.is_pinned
    await book.pin("tea.md", False)
    assert tree(tmp_path)["tea.md"] == TEA.encode()


async def test_nothing_outside_the_folder_is_read_or_written(tmp_path: Path) -> None:
    """X01, X03: dangling links, links to folders, names that climb."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    put(tmp_path, "a.md", "a")
    (tmp_path / "Memory/dir").symlink_to("../outside")
    (tmp_path / "Memory/dangling.md").symlink_to(outside / "new.md")
    book = book_in(tmp_path)
    for path in ("dir/secret.md", "dangling.md", "../outside/secret.md", str(outside / "secret.md")):
        with pytest.raises(StorageError):
            await book.edit(path, "x")
        with pytest.raises(StorageError):
            await book.create("x", path)
        with pytest.raises(StorageError):
            await book.rename("a.md", path)
        if path != "dangling.md":
            with pytest.raises(StorageError):
                await book.delete(path)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"secret.md": "secret"}


async def test_a_link_inside_the_folder_is_followed_to_its_file(tmp_path: Path) -> None:
    """X03."""
    put(tmp_path, "sub/real.md", "a")
    (tmp_path / "Memory/alias.md").symlink_to("sub/real.md")
    written = await book_in(tmp_path).edit("alias.md", "b")
    assert written.path == "sub/real.md"
    assert (tmp_path / "Memory/alias.md").is_symlink()
    assert (tmp_path / "Memory/sub/real.md").read_text() == "b"


@pytest.mark.parametrize("target", ["sub/real.md", "missing.md", "../outside/theirs.md", "../outside", "link.md"])
async def test_deleting_a_link_removes_the_link_and_its_line_and_nothing_that_it_leads_to(
    tmp_path: Path, target: str
) -> None:
    """X03: links inside, outside, to a folder, to nothing and in a circle."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/theirs.md").write_text("theirs")
    put(tmp_path, "sub/real.md", "a")
    put(tmp_path, "MEMORY.md", "- [Real](sub/real.md)\n- [Link](link.md)\n")
    (tmp_path / "Memory/link.md").symlink_to(target)
    assert (await book_in(tmp_path).delete("link.md")).path == "link.md"
    assert not os.path.lexists(tmp_path / "Memory/link.md")
    assert tree(tmp_path) == {"sub/real.md": b"a", "MEMORY.md": b"- [Real](sub/real.md)\n"}
    assert (tmp_path / "outside/theirs.md").read_text() == "theirs"


class SwappingBackend(LocalBackend):
    """Puts a link in the place of a file's folder, just before the file is written or deleted."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        self.target = target

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        self._swap(path)
        await super().write_file(path, data, follow=follow)

    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        self._swap(path)
        await super().delete_file(path, follow=follow)

    def _swap(self, path: str) -> None:
        if path.startswith(f"{self.folder}/"):
            self.folder.rename(self.folder.with_name("moved"))
            self.folder.symlink_to(self.target)


@pytest.mark.parametrize(
    "change",
    [lambda book: book.delete("sub/a.md"), lambda book: book.edit("sub/a.md", "new")],
    ids=["delete", "edit"],
)
async def test_a_link_that_takes_the_place_of_the_folder_during_a_change_leads_nowhere(
    tmp_path: Path, change: Callable[[MemoryBook], Awaitable[object]]
) -> None:
    """X01: what is outside stays, though it has the name that was to be changed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("theirs")
    put(tmp_path, "sub/a.md", "mine")
    with pytest.raises(StorageError):
        await change(book_in(tmp_path, SwappingBackend(tmp_path / "Memory/sub", outside)))
    assert (tmp_path / "Memory/sub").is_symlink()
    assert (outside / "a.md").read_text() == "theirs"
    assert (tmp_path / "Memory/moved/a.md").read_text() == "mine"
    assert await book_in(tmp_path).history() == []


@pytest.mark.parametrize("failing", ["tea.md", "MEMORY.md", "journal.jsonl", ".zip"])
async def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, failing: str) -> None:
    """P12: the file, the index and the history."""
    await book_in(tmp_path).create("other", "other.md")
    before, history = tree(tmp_path), await book_in(tmp_path).history()
    backend = FailingBackend(lambda path: path.endswith(failing))
    with pytest.raises(StorageError, match="No space left"):
        await book_in(tmp_path, backend).create(TEA)
    assert tree(tmp_path) == before
    assert await book_in(tmp_path).history() == history


@pytest.mark.parametrize("failing", ["old.md", "new.md", "MEMORY.md", "other.md"])
async def test_a_rename_that_fails_half_way_is_taken_back(tmp_path: Path, failing: str) -> None:
    put(tmp_path, "old.md", "[o](other.md)")
    put(tmp_path, "other.md", "[x](old.md)")
    put(tmp_path, "MEMORY.md", "- [x](old.md)\n")
    before = tree(tmp_path)
    with pytest.raises(StorageError):
        await book_in(tmp_path, FailingBackend(lambda path: path.endswith(failing), errno.EIO)).rename(
            "old.md", "new.md"
        )
    assert tree(tmp_path) == before
    assert await book_in(tmp_path).history() == []


async def test_a_folder_that_is_read_only_is_said_to_be(tmp_path: Path) -> None:
    backend = FailingBackend(lambda path: "/Memory/" in path and ".mnemoscope" not in path, errno.EROFS)
    with pytest.raises(StorageError, match=r"tea\.md cannot be written: Read-only"):
        await book_in(tmp_path, backend).create(TEA)


async def test_a_folder_that_has_vanished_comes_back_with_the_next_memory(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    (tmp_path / "Memory").rename(tmp_path / "away")
    with pytest.raises(StorageError, match="There is no memory"):
        await book.edit("tea.md", "x")
    await book.create("new", "new.md")
    assert tree(tmp_path) == {"new.md": b"new", "MEMORY.md": b"- [new](new.md)\n"}


@pytest.mark.parametrize("index", [b"PNG\0", b"- [A](a.md)\n" + b"\0" * 4096, "- [茶](茶.md)".encode("utf-16")])
async def test_an_index_that_is_no_text_is_not_touched(tmp_path: Path, index: bytes) -> None:
    """F25, P01."""
    put(tmp_path, "MEMORY.md", index)
    put(tmp_path, "orphan.md", "of which no line tells")
    put(tmp_path / "other", "tea.md", TEA)
    before, book = tree(tmp_path), book_in(tmp_path)
    for change in (
        book.create(TEA),
        book.edit("MEMORY.md", "", seen=index),
        book.mend(await book.lint()),
        book.import_((await collect_folder(tmp_path / "other")).bundle),
    ):
        with pytest.raises(StorageError, match=r"not text|binary"):
            await change
    assert tree(tmp_path) == before


async def test_two_programs_lose_nothing_of_each_other(tmp_path: Path) -> None:
    """P08, P10: a hundred memories, a hundred lines, a hundred entries, and nothing left over."""
    source = """
    book = book_in(workdir)
    for number in range(50):
        await book.create(f"text {number}", f"{arguments[0]}{number}.md")
    """
    for program in [run_program(source, tmp_path, name) for name in "ab"]:
        finish(program)
    names = {f"{name}{number}.md" for name in "ab" for number in range(50)}
    assert set(tree(tmp_path)) == names | {"MEMORY.md"}
    assert sorted(index_of(tmp_path).splitlines()) == sorted(f"- [{name[:-3]}]({name})" for name in names)
    entries = await book_in(tmp_path).journal.entries()
    assert {entry.path for entry in entries if entry.path != "MEMORY.md"} == names
    assert len(entries) == 200
    assert sorted(os.listdir(tmp_path / ".mnemoscope/Memory")) == ["contents", "journal.jsonl"]


async def test_a_back_end_without_locks_compares_before_it_writes(tmp_path: Path) -> None:
    """What another program has written meanwhile is not overwritten."""
    path = put(tmp_path, "a.md", "one")

    class Racing(FailingBackend):
        def lock(self, path: str) -> object:
            if path.endswith("a.md"):
                (tmp_path / "Memory/a.md").write_bytes(b"theirs")
            return super(FailingBackend, self).lock(path)

    with pytest.raises(MemoryConflict):
        await book_in(tmp_path, Racing()).edit("a.md", "mine")
    assert path.read_bytes() == b"theirs"
    assert await book_in(tmp_path).history() == []


async def test_the_index_can_be_edited_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "index\n")
    book = book_in(tmp_path)
    for change in (book.delete, book.pin, book.disable):
        with pytest.raises(StorageError, match="is the index"):
            await change("MEMORY.md")
    with pytest.raises(StorageError, match="is the index"):
        await book.rename("MEMORY.md", "a.md")
    await book.edit("MEMORY.md", "index\nmore\n")
    assert tree(tmp_path) == {"MEMORY.md": b"index\nmore\n"}


async def test_everything_works_through_a_back_end_that_guarantees_little() -> None:
    """No locks, no links, no folders, no atomic replacement."""
    backend = BareBackend()
    book = MemoryBook.open("/far", backend=backend)
    watch = await look(book)
    created = await book.create(TEA)
    await look(book, watch)
    await book.rename("tea.md", "sub/drink.md")
    await book.disable("sub/drink.md")
    await book.disable("sub/drink.md", False)
    await book.undo((await book.history("sub/drink.md"))[0].id)
    assert "disabled: true" in backend.files["/far/Memory/sub/drink.md"].decode()
    backend.files["/far/Memory/new.md"] = b"theirs"
    backend._versions["/far/Memory/new.md"] = 1
    await look(book, watch)
    assert (await book.history("new.md"))[0].origin == "outside"
    with pytest.raises(MemoryConflict):
        await book.undo(created.entries[0].id)
    copy = MemoryBook.open("/copy", backend=backend)
    await copy.import_((await book.export()).data)
    await book.purge("sub/drink.md")
    memories = {path: data for path, data in backend.files.items() if "/.mnemoscope/" not in path}
    assert sorted(memories) == [
        "/copy/Memory/MEMORY.md", "/copy/Memory/new.md", "/copy/Memory/sub/drink.md",
        "/far/Memory/MEMORY.md", "/far/Memory/new.md",
    ]  # fmt: skip
