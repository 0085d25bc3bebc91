from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_core.errors import ToolError
from agent_core.tool import CallContext, Edit, Read

pytestmark = pytest.mark.usefixtures("call")


async def edit(path: Path, old: str, new: str, **arguments: bool) -> str:
    return await Edit().call(file_path=str(path), old_string=old, new_string=new, **arguments)


async def read(path: Path, **arguments: int) -> str:
    return await Read().call(file_path=str(path), **arguments)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text("# Tea\nlikes oolong\nlikes it hot\n")
    return path


async def test_text_is_replaced_and_the_diff_set(note: Path, call: CallContext) -> None:
    await read(note)
    assert await edit(note, "oolong", "pu'er") == f"Edited {note} at line 2."
    assert note.read_text() == "# Tea\nlikes pu'er\nlikes it hot\n"
    assert call.diff == f"--- {note}\n+++ {note}\n@@ -1,3 +1,3 @@\n # Tea\n-likes oolong\n+likes pu'er\n likes it hot"
    assert os.listdir(note.parent) == ["note.md"]


async def test_a_second_edit_needs_no_second_read(note: Path) -> None:
    await read(note)
    await edit(note, "oolong", "oolong\nand pu'er")
    await edit(note, "oolong\nand pu'er\nlikes it", "green\nlikes it very")
    assert note.read_text() == "# Tea\nlikes green\nlikes it very hot\n"


async def test_the_file_must_have_been_read_in_its_present_version(note: Path) -> None:
    with pytest.raises(ToolError, match="has not been read: Read it first"):
        await edit(note, "oolong", "green")
    await read(note)
    note.write_text(note.read_text() + "more\n")
    with pytest.raises(ToolError, match="has changed since"):
        await edit(note, "oolong", "green")
    await read(note)
    await edit(note, "oolong", "green")


async def test_only_what_was_shown_can_be_edited(note: Path) -> None:
    """Reading one line does not unlock the file."""
    await read(note, offset=1, limit=1)
    with pytest.raises(ToolError, match="is at line 2, which Read has not shown"):
        await edit(note, "oolong", "green")
    with pytest.raises(ToolError, match="not shown"):
        await edit(note, "# Tea\nlikes", "# Tea\nloves")
    await edit(note, "Tea", "Green tea\nof all kinds")
    await edit(note, "of all kinds", "of some kinds")
    with pytest.raises(ToolError, match="not shown"):
        await edit(note, "likes", "loves", replace_all=True)
    await read(note, offset=3)
    await edit(note, "likes", "loves", replace_all=True)
    assert note.read_text() == "# Green tea\nof some kinds\nloves oolong\nloves it hot\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("black", "green", "old_string is not in the file"),
        ("likes", "loves", r"in the file 2 times, at lines 2, 3: add text"),
        ("likes   oolong", "x", "line 2 has it with other white space"),
        ("     2\tlikes oolong", "x", "leave out the line numbers"),
        ("oolong", "oolong", "are the same: nothing was changed"),
        ("oolong\n", "oolong\r\n", "are the same: nothing was changed"),
        ("", "x", "old_string is empty"),
    ],
)
async def test_an_edit_that_does_nothing_is_an_error_and_touches_nothing(
    note: Path, old: str, new: str, message: str, call: CallContext
) -> None:
    """C17: the file and its time are unchanged."""
    await read(note)
    before, content = note.stat(), note.read_bytes()
    with pytest.raises(ToolError, match=message):
        await edit(note, old, new)
    assert (note.stat().st_mtime_ns, note.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert (note.read_bytes(), call.diff) == (content, "")


async def test_a_missing_file_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"there is no file .*: use Write to make it"):
        await edit(tmp_path / "no" / "such", "a", "b")
    assert os.listdir(tmp_path) == []


async def test_a_file_deleted_since_it_was_read(note: Path) -> None:
    await read(note)
    note.unlink()
    with pytest.raises(ToolError, match="there is no file"):
        await edit(note, "oolong", "green")


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nB", b"a\r\nB\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\r\nx\r\nb", b"a\r\nx\r\nb\r\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc", "B\nC", b"a\r\nB\nC\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nb\nX\nd\n", b"a\r\nb\nX\r\nd\n"),
        (b"a\r\nb\n", "b", "b\nc", b"a\r\nb\nc\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"one\n\xe9t\xe9\ntwo\n", "two", "zw\xf6lf", b"one\n\xe9t\xe9\nzw\xc3\xb6lf\n"),
        (b"\xef\xbb\xbfone\ntwo", "one", "ONE", b"\xef\xbb\xbfONE\ntwo"),
        (b"a\r\n\r\n\r\nb\r\n", "a\n\n\nb", "a\nb", b"a\r\nb\r\n"),
        (b"tail \xe4\xb8", "tail", "TAIL", b"TAIL \xe4\xb8"),
        (b"price $1 \\1 (a|b)*", "$1 \\1 (a|b)*", "\\g<0>", b"price \\g<0>"),
        (b"path C:\\data", "C:\\data", r"C:\data\uface\ubeef1.md", b"path C:\\data\\uface\\ubeef1.md"),
        (b"x\ny\n", "y\n", "", b"x\n"),
        (b"all", "all", "", b""),
    ],
)
async def test_every_byte_outside_of_the_change_is_kept(
    tmp_path: Path, data: bytes, old: str, new: str, after: bytes
) -> None:
    """F20, F22, F26: line ends of both kinds, a byte order mark, bytes that are not UTF-8, text like patterns."""
    path = tmp_path / "f"
    path.write_bytes(data)
    await read(path)
    await edit(path, old, new)
    assert path.read_bytes() == after


async def test_replacement_marks_cannot_be_matched_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9 noir")
    assert "caf� noir" in await read(tmp_path / "f")
    with pytest.raises(ToolError, match="bytes that are not UTF-8, so leave it out"):
        await edit(tmp_path / "f", "caf� noir", "tea")


async def test_replace_all(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("aaa\naaa")
    await read(tmp_path / "f")
    with pytest.raises(ToolError, match="4 times"):
        await edit(tmp_path / "f", "aa", "b")
    assert await edit(tmp_path / "f", "aa", "b", replace_all=True) == f"Edited {tmp_path / 'f'} at lines 1, 2."
    assert (tmp_path / "f").read_text() == "ba\nba"


async def test_replacing_cannot_blow_a_file_up(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 30_000)
    await read(tmp_path / "f", limit=1)
    with pytest.raises(ToolError, match="would add more than 16 MiB"):
        await edit(tmp_path / "f", "a", "b" * 1000, replace_all=True)
    assert (tmp_path / "f").read_text() == "a" * 30_000


async def test_a_file_of_blanks_shown_is_known_after_it_was_emptied(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    await read(tmp_path / "f")
    await edit(tmp_path / "f", "x", "")
    with pytest.raises(ToolError, match="not in the file"):
        await edit(tmp_path / "f", "x", "y")


async def test_the_preview_is_the_diff_and_needs_no_read(note: Path) -> None:
    arguments = {"file_path": str(note), "old_string": "oolong", "new_string": "green"}
    assert "-likes oolong\n+likes green" in await Edit().preview(arguments)
    assert "oolong" in note.read_text()
    assert await Edit().preview({**arguments, "old_string": "black"}) == ""
    assert await Edit().preview({**arguments, "file_path": str(note) + ".no"}) == ""
    assert await Edit().preview({}) == ""
