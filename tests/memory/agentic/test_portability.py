"""Memory folders in one file, and folders of other programs, which open as they are."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from pathlib import Path
from typing import Literal

import pytest

from agent_core.errors import StorageError
from tests.memory.agentic.books import TEA, TEA_LINE, FailingBackend, actions, book_in, index_of, tree
from tests.memory.agentic.folders import put

FORMS: list[Literal["zip", "json"]] = ["zip", "json"]


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("form", FORMS)
async def test_an_export_brings_every_byte_and_the_age_of_every_memory(
    tmp_path: Path, form: Literal["zip", "json"]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    put(old, "tea.md", b"\xef\xbb\xbf" + TEA.encode().replace(b"\n", b"\r\n"))
    put(old, "sub/甲 乙.md", b"caf\xe9")
    put(old, "pic.png", b"\x89PNG\0")
    put(old, "MEMORY.md", TEA_LINE)
    put(old, ".hidden.md", "hidden")
    os.utime(old / "Memory/tea.md", (1_700_000_000, 1_700_000_000))
    exported = await book_in(old).export(form)
    imported = await book_in(new).import_(exported.data)
    assert (exported.left_out, imported.refused, imported.kept) == ({}, {}, ())
    assert tree(new) == tree(old)
    assert (new / "Memory/tea.md").stat().st_mtime == 1_700_000_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("moment", [-2e9, 0, 4.4e9, 1e10])
async def test_a_memory_of_any_age_can_be_taken_along(
    tmp_path: Path, form: Literal["zip", "json"], moment: float
) -> None:
    """P: a clock that was wrong; ZIP files know the years 1980 to 2107 only."""
    os.utime(put(tmp_path / "old", "tea.md", TEA), (moment, moment))
    imported = await book_in(tmp_path / "new").import_((await book_in(tmp_path / "old").export(form)).data)
    assert (imported.created, imported.refused) == (("tea.md",), {})


@pytest.mark.parametrize("moment", ["1e999", "1e300", "NaN", "-1e999"])
async def test_a_time_that_no_disk_takes_costs_the_time_alone(tmp_path: Path, moment: str) -> None:
    data = '{"mnemoscope_export": 1, "files": {"tea.md": {"text": "oolong", "modified": MOMENT}}}'
    book = book_in(tmp_path)
    imported = await book.import_(data.replace("MOMENT", moment).encode())
    assert imported.created == ("tea.md",)
    assert (await book.show("tea")).text == "oolong"


async def test_an_import_overwrites_nothing_unless_it_is_told_to(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for name, text in {"same.md": "same", "other.md": "theirs", "fresh.md": "fresh"}.items():
        put(old, name, text)
    put(old, "MEMORY.md", "- [Fresh](fresh.md) — new\n- [Other](other.md) — o\n")
    put(new, "same.md", "same")
    put(new, "other.md", "mine")
    put(new, "MEMORY.md", "# Mine\n- [Other](other.md) — in my words\n")
    data = (await book_in(old).export()).data
    imported = await book_in(new).import_(data)
    assert (imported.created, imported.same, imported.kept) == (("fresh.md",), ("same.md",), ("other.md",))
    assert tree(new)["other.md"] == b"mine"
    assert index_of(new) == "# Mine\n- [Other](other.md) — in my words\n- [Fresh](fresh.md) — new\n"
    assert (await book_in(new).import_(data, overwrite=True)).replaced == ("other.md",)
    assert tree(new)["other.md"] == b"theirs"
    assert index_of(new).startswith("# Mine\n- [Other](other.md) — in my words\n")


@pytest.mark.parametrize("form", FORMS)
async def test_the_history_comes_along_when_it_is_asked_for(tmp_path: Path, form: Literal["zip", "json"]) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    book = book_in(old)
    await book.create(TEA)
    await book.edit("tea.md", "new")
    data = (await book.export(form, with_history=True)).data
    copy = book_in(new)
    await copy.import_(data, with_history=True)
    history = await copy.history("tea.md")
    assert actions(history) == [
        ("import", "outside", "tea.md"),
        ("edit", "user", "tea.md"),
        ("create", "user", "tea.md"),
    ]
    assert await copy.origin_of("tea.md") == "user"
    assert await copy.journal.content(history[1].before) == TEA.encode()
    stranger = book_in(tmp_path / "stranger")
    await stranger.import_(data)
    assert actions(await stranger.history("tea.md")) == [("import", "outside", "tea.md")]
    assert await stranger.origin_of("tea.md") == "outside"


async def test_an_import_is_undone_as_a_whole(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for name in ("a.md", "b.md"):
        put(old, name, name)
    put(new, "mine.md", "mine")
    put(new, "MEMORY.md", "- [mine](mine.md)\n")
    before = tree(new)
    book = book_in(new)
    imported = await book.import_((await book_in(old).export()).data)
    assert (await book.undo(imported.entries[0].id)).left == ()
    assert tree(new) == before


async def test_undoing_an_import_removes_the_folders_that_it_made_and_no_others(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for name in ("made/deep/a.md", "empty/b.md", "shared/c.md", "made too/d.md"):
        put(old, name, name)
    (new / "Memory/empty").mkdir(parents=True)
    book = book_in(new)
    imported = await book.import_((await book_in(old).export()).data)
    put(new, "shared/mine.md", "mine")
    await book.undo(imported.entries[0].id)
    folders = [path.name for path in sorted((new / "Memory").rglob("*")) if path.is_dir()]
    assert folders == ["empty", "shared"]
    assert tree(new) == {"shared/mine.md": b"mine"}


async def test_undoing_a_rename_removes_the_folder_that_it_made(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA, "tea.md")
    renamed = await book.rename("tea.md", "drinks/tea.md")
    await book.undo(renamed.entries[0].id)
    assert not (tmp_path / "Memory/drinks").exists()


async def test_an_import_that_fails_changes_nothing(tmp_path: Path) -> None:
    """P12."""
    data = zipped({"a.md": b"a", "b.md": b"b"})
    backend = FailingBackend(lambda path: path.endswith("b.md"))
    with pytest.raises(StorageError, match="No space left"):
        await book_in(tmp_path, backend).import_(data)
    assert tree(tmp_path) == {}


async def test_a_zipped_folder_of_any_program_is_taken_in(tmp_path: Path) -> None:
    data = zipped({"memory/": b"", "memory/a.md": b"a", "memory/sub/b.md": b"b", "__MACOSX/memory/a.md": b"x",
                   "memory/.DS_Store": b"x"})  # fmt: skip
    imported = await book_in(tmp_path).import_(data)
    assert imported.created == ("a.md", "sub/b.md")
    assert tree(tmp_path) == {"a.md": b"a", "sub/b.md": b"b", "MEMORY.md": b"- [a](a.md)\n- [b](sub/b.md)\n"}


async def test_a_name_in_another_normal_form_is_the_same_name(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "- [mine](mine.md)\n")
    data = zipped({"cafe\u0301.md": b"a", "MEMORY.md": "- [Café](cafe\u0301.md) — x\n".encode()})
    assert (await book_in(tmp_path).import_(data)).created == ("caf\u00e9.md",)
    assert index_of(tmp_path) == "- [mine](mine.md)\n- [Café](caf\u00e9.md) — x\n"


async def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    """X03: no name in an archive reaches outside."""
    (tmp_path / "outside").mkdir()
    put(tmp_path, "there.md", "x")
    (tmp_path / "Memory/link").symlink_to("../outside")
    names = ["../up.md", "/abs.md", "a/../../up.md", "link/in.md", "con.md", "bad:name.md", "good.md"]
    manifest = {"mnemoscope_export": 1, "files": {name: {"text": "x"} for name in names}}
    imported = await book_in(tmp_path).import_(json.dumps(manifest).encode())
    assert imported.created == ("good.md",)
    assert sorted(imported.refused) == sorted(names[:-1])
    assert os.listdir(tmp_path / "outside") == []
    assert not (tmp_path / "up.md").exists()


async def test_what_an_archive_cannot_bring_is_named_and_costs_nobody_else(tmp_path: Path) -> None:
    """X01, X03: names that lead elsewhere, links, names that exclude each other, one that is there twice."""
    put(tmp_path, "taken.md", "mine")
    (tmp_path / "Memory/folder.md").mkdir()
    link = zipfile.ZipInfo("top/link.md")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    bad: dict[str | zipfile.ZipInfo, bytes] = {
        "../evil.md": b"x", "/abs.md": b"x", "top/x\\w.md": b"x", "top/../../q.md": b"x", "top/a.md/b.md": b"x",
        "top/taken.md/c.md": b"x", "top/folder.md": b"x", "top/cafe\u0301.md": b"x", link: b"/etc/passwd",
    }  # fmt: skip
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {"top/a.md": b"a", "top/caf\u00e9.md": b"c", **bad}.items():
            archive.writestr(name, data)
    imported = await book_in(tmp_path).import_(buffer.getvalue())
    assert (imported.kept, imported.same, imported.replaced) == ((), (), ())
    assert len(imported.created) == 2
    assert len(imported.refused) == len(bad)
    assert all(reason and "\n" not in reason for reason in imported.refused.values())
    assert sorted(tree(tmp_path)) == ["MEMORY.md", "a.md", "caf\u00e9.md", "taken.md"]
    assert not (tmp_path / "evil.md").exists()


@pytest.mark.parametrize(
    "data",
    [b"", b"text", b"{}", b"[]", b'{"mnemoscope_export": 1}', b"PK\3\4broken", b"\xff\xfe", b"[" * 100_000,
     b'{"mnemoscope_export": 1, "files": {"a.md": {"base64": "%%%"}}}', zipped({"a.txt": b"x"}),
     b'{"mnemoscope_export": 99, "files": {}}'],
    ids=range(11),
)  # fmt: skip
async def test_what_is_no_export_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StorageError) as refused:
        await book_in(tmp_path).import_(data)
    assert "\n" not in str(refused.value)
    assert os.listdir(tmp_path) == []


async def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.md", b"\0" * (17 << 20))
        archive.writestr("good.md", b"x")
    imported = await book_in(tmp_path).import_(buffer.getvalue())
    assert imported.created == ("good.md",)
    assert imported.refused == {"bomb.md": "it is larger than 16 MiB"}


async def test_a_folder_as_agentscope_writes_it_opens_as_it_is(tmp_path: Path) -> None:
    put(
        tmp_path,
        "user_profile.md",
        "---\nname: User profile\ndescription: who the user is\ntype: user\n---\n\nAna, Lisbon.\n",
    )
    put(
        tmp_path,
        "feedback_style.md",
        '---\nname: "Style"\ndescription: "short: answers"\ntype: feedback\n---\nShort.\n',
    )
    put(
        tmp_path,
        "MEMORY.md",
        "- [User profile](user_profile.md) — who the user is\n- [Style](feedback_style.md) — short\n",
    )
    before = tree(tmp_path)
    book = book_in(tmp_path)
    cards = {card.file.name: (card.file.type, card.file.description, card.is_linked) for card in await book.memories()}
    assert cards == {
        "User profile": ("user", "who the user is", True),
        "Style": ("feedback", "short: answers", True),
    }
    assert await book.lint() == []
    assert tree(tmp_path) == before
    await book.set_fields("feedback_style.md", {"description": "long: answers"})
    assert tree(tmp_path)["feedback_style.md"] == before["feedback_style.md"].replace(b"short: ", b"long: ")


async def test_a_folder_as_claude_code_writes_it_opens_as_it_is(tmp_path: Path) -> None:
    """A nested type, a time stamp, links between memories by name."""
    put(
        tmp_path, "deploy-process.md",
        "---\nname: deploy-process\ndescription: how releases are made\nmetadata:\n  node_type: memory\n"
        "  type: project\n  modified: 2026-05-01T10:00:00Z\n---\n\nReleases on Tuesday; see [[code-style]].\n",
    )  # fmt: skip
    put(
        tmp_path,
        "code-style.md",
        "---\nname: code-style\ndescription: tabs\nmetadata:\n  type: feedback\n---\n\nTabs.\n",
    )
    put(
        tmp_path,
        "MEMORY.md",
        "# Memory index\n\n- [Deploy](deploy-process.md) — Tuesday\n- [Style](code-style.md) — tabs\n",
    )
    book = book_in(tmp_path)
    assert {card.file.name: card.file.type for card in await book.memories()} == {
        "deploy-process": "project",
        "code-style": "feedback",
    }
    assert await book.lint() == []
    before = tree(tmp_path)["deploy-process.md"]
    await book.set_fields("deploy-process.md", {"type": "reference"})
    await book.rename("code-style.md", "style.md")
    after = before.replace(b"type: project", b"type: reference").replace(b"[[code-style]]", b"[[style]]")
    assert tree(tmp_path)["deploy-process.md"] == after
    assert "[Style](style.md)" in index_of(tmp_path)
