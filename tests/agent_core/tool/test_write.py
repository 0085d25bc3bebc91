from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agent_core.errors import ToolError
from agent_core.tool import CallContext, Read, Write

pytestmark = pytest.mark.usefixtures("call")


async def write(path: Path, content: str) -> str:
    return await Write().call(file_path=str(path), content=content)


async def read(path: Path, **arguments: int) -> str:
    return await Read().call(file_path=str(path), **arguments)


async def test_a_new_file_is_made_with_its_folders_and_a_diff(tmp_path: Path, call: CallContext) -> None:
    path = tmp_path / "Memory" / "tea.md"
    assert await write(path, "likes oolong\n") == f"Made {path}: 1 line, 13 bytes."
    assert path.read_bytes() == b"likes oolong\n"
    assert call.diff == f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+likes oolong"
    assert os.listdir(path.parent) == ["tea.md"]


@pytest.mark.parametrize("content", [r"C:\data\uface\ubeef1.md", "no newline", "", "a\r\nb\n", "\ttab ␛ \x1b[2J"])
async def test_content_of_a_new_file_is_kept_exactly(tmp_path: Path, content: str) -> None:
    """F20: characters that look like escapes are not escapes."""
    await write(tmp_path / "f", content)
    assert (tmp_path / "f").read_bytes() == content.encode()


async def test_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    """T20: what a model sends may be no Unicode."""
    await write(tmp_path / "f", "hi \ud83d")
    assert (tmp_path / "f").read_text() == "hi �"


async def test_an_existing_file_must_have_been_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(ToolError, match="has not been read: Read it first"):
        await write(path, "new")
    assert path.read_text() == "old"
    await read(path)
    assert await write(path, "new") == f"Replaced {path}: 1 line, 3 bytes."
    assert path.read_text() == "new"


async def test_a_file_changed_from_outside_must_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    await read(path)
    before = path.stat()
    path.write_text("OLD")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ToolError, match="has changed since it was read: Read it again"):
        await write(path, "new")
    assert path.read_text() == "OLD"


async def test_a_file_made_by_somebody_else_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    await write(tmp_path / "f", "mine")
    (tmp_path / "f").unlink()
    (tmp_path / "f").write_text("theirs")
    with pytest.raises(ToolError, match="has changed"):
        await write(tmp_path / "f", "mine again")


async def test_a_file_that_is_gone_can_be_written_anew(tmp_path: Path) -> None:
    await write(tmp_path / "f", "first")
    (tmp_path / "f").unlink()
    assert (await write(tmp_path / "f", "second")).startswith("Made")


async def test_having_read_a_part_is_not_enough_to_replace_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one\ntwo\nthree\n")
    await read(path, offset=2, limit=1)
    with pytest.raises(ToolError, match="only a part"):
        await write(path, "new")
    await read(path, offset=1, limit=1)
    await read(path, offset=3)
    await write(path, "new")


async def test_a_line_that_was_shown_cut_must_be_read_alone_first(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("中" * 3000)
    await read(path)
    with pytest.raises(ToolError, match="only a part"):
        await write(path, "new")
    await read(path, limit=1)
    await write(path, "new")


async def test_what_was_written_is_known_and_can_be_written_again(tmp_path: Path) -> None:
    for content in ("1", "2", "3"):
        await write(tmp_path / "f", content)
    assert (tmp_path / "f").read_text() == "3"


async def test_writing_what_is_there_already_is_an_error_and_touches_nothing(tmp_path: Path) -> None:
    """C17: a write that changes nothing is not a success."""
    await write(tmp_path / "f", "same")
    before = (tmp_path / "f").stat()
    with pytest.raises(ToolError, match="nothing was changed"):
        await write(tmp_path / "f", "same")
    after = (tmp_path / "f").stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nc\r\n", b"a\r\nc\r\n"),
        (b"a\r\nb\n", "a\nc\n", b"a\nc\n"),
        (b"\xef\xbb\xbfa\n", "c\n", b"\xef\xbb\xbfc\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffc\n", b"\xef\xbb\xbfc\n"),
        (b"", "x\n", b"x\n"),
    ],
)
async def test_what_the_model_cannot_see_of_the_old_file_stays(
    tmp_path: Path, old: bytes, content: str, new: bytes
) -> None:
    """F01, F26: line ends and byte order mark are kept, never doubled."""
    (tmp_path / "f").write_bytes(old)
    await read(tmp_path / "f")
    await write(tmp_path / "f", content)
    assert (tmp_path / "f").read_bytes() == new


async def test_a_file_in_another_encoding_is_not_written_anew(tmp_path: Path) -> None:
    """F22: never rewritten in another encoding without consent."""
    (tmp_path / "f").write_bytes(b"caf\xe9\n")
    await read(tmp_path / "f")
    with pytest.raises(ToolError, match="not UTF-8"):
        await write(tmp_path / "f", "café\n")
    assert (tmp_path / "f").read_bytes() == b"caf\xe9\n"


async def test_a_full_disk_is_told_and_the_old_file_is_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: CallContext
) -> None:
    """P12."""
    path = tmp_path / "f"
    await write(path, "old")
    call.diff = ""

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ToolError, match=f"cannot write {path}: No space left on device"):
            await write(path, "new")
    assert (path.read_text(), os.listdir(tmp_path), call.diff) == ("old", ["f"], "")
    await write(path, "new, with room again")


async def test_the_preview_is_the_diff_of_what_would_be_written(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\r\nb\r\n")
    preview = await Write().preview({"file_path": str(path), "content": "a\nc\n"})
    assert preview == f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n a\n-b\n+c"
    assert path.read_bytes() == b"a\r\nb\r\n"


@pytest.mark.parametrize("name", ["folder", "pipe", "circle", "latin", "below/a/file"])
async def test_the_preview_of_something_odd_is_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "latin").write_bytes(b"\xe9")
    (tmp_path / "below").touch()
    assert await Write().preview({"file_path": str(tmp_path / name), "content": "x"}) == ""
    assert await Write().preview({"file_path": "relative", "content": "x"}) == ""
    assert await Write().preview({"file_path": str(tmp_path / "new")}) == ""
