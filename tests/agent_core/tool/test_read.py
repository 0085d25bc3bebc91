from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_core.errors import ToolError
from agent_core.tool import CallContext, Edit, Read, Write


@contextmanager
def memory_below(mebibytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes * 2**20
    finally:
        tracemalloc.stop()


async def test_a_file_is_shown_with_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("likes oolong\n不要太烫\n")
    assert await Read().call(file_path=str(tmp_path / "tea.md")) == "     1\tlikes oolong\n     2\t不要太烫"


async def test_home_may_be_written_as_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").write_text("here")
    assert await Read().call(file_path="~/x") == "     1\there"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("notes.md", "must be absolute, not notes.md"),
        (r"C:\data\uface\ubeef1.md", r"must be absolute, not C:\data\uface\ubeef1.md"),
        ("bad\nname", "must be absolute, not bad�name"),
        ("", "file_path is missing"),
        ("/nowhere/x.md", "there is no file /nowhere/x.md"),
        ("/", "/ is a folder, not a file"),
        ("/dev/zero", "cannot read /dev/zero: not a regular file"),
        ("/x\0y", "cannot find /x�y: no file can have this name"),
    ],
)
async def test_what_cannot_be_read_is_said_in_one_line(path: str, message: str) -> None:
    """F20: a Windows path is not taken for escapes."""
    with pytest.raises(ToolError) as caught:
        await Read().call(file_path=path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("offset", "limit"), [(0, 5), (-1, 5), (1, 0)])
async def test_offset_and_limit_count_from_one(tmp_path: Path, offset: int, limit: int) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(ToolError, match="count from 1"):
        await Read().call(file_path=str(tmp_path / "f"), offset=offset, limit=limit)


async def test_an_image_is_refused_by_its_kind_whatever_it_is_called(tmp_path: Path, call: CallContext) -> None:
    """F25: a `.md` that is really PNG bytes."""
    path = tmp_path / "pic.md"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(ToolError, match=r"pic\.md is a PNG image, not text"):
        await Read().call(file_path=str(path))
    assert not call.reads.knows("local", str(path))


async def test_one_line_of_200_megabytes_stays_bounded(tmp_path: Path, call: CallContext) -> None:
    """F23: neither memory nor output grow with the file, and a note says what is missing."""
    path = tmp_path / "huge.md"
    with path.open("wb") as file:
        for _ in range(17):
            file.write(b"x" * 2**20)
        file.truncate(200 * 2**20)
    with memory_below(80):
        text = await Read().call(file_path=str(path))
    assert len(text) < 3000
    assert "bytes or more" in text
    assert "too large" in text
    for change in (
        Write().call(file_path=str(path), content="small"),
        Edit().call(file_path=str(path), old_string="xx", new_string="y", replace_all=True),
    ):
        with memory_below(80), pytest.raises(ToolError, match="larger than 16 MiB: too large to be changed"):
            await change
    assert path.stat().st_size == 200 * 2**20


async def test_a_million_short_lines_can_be_paged_through(tmp_path: Path, call: CallContext) -> None:
    """F23."""
    path = tmp_path / "long.md"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 1_000_001)))
    with memory_below(80):
        first = await Read().call(file_path=str(path))
        last = await Read().call(file_path=str(path), offset=999_999)
    assert first.splitlines()[0] == "     1\tline 1"
    assert first.splitlines()[-1] == "[lines 1 to 2,000 of 1,000,000; go on with offset=2001]"
    assert last == "999999\tline 999999\n1000000\tline 1000000"
    await Edit().call(file_path=str(path), old_string="line 1000000", new_string="the end")
    assert path.read_bytes().endswith(b"line 999999\nthe end\n")


async def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError, match="not a regular file"):
        await asyncio.wait_for(Read().call(file_path=str(tmp_path / "pipe")), 30)


async def test_the_wrong_kind_of_file_is_known_only_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "notes.png").write_text("only text")
    assert await Read().call(file_path=str(tmp_path / "notes.png")) == "     1\tonly text"


def test_reading_changes_nothing_and_may_run_beside_others() -> None:
    assert (Read().is_read_only, Read().is_concurrency_safe) == (True, True)
    for tool in (Write(), Edit()):
        assert (tool.is_read_only, tool.is_concurrency_safe) == (False, False)
    assert [tool.schema.name for tool in (Read(), Write(), Edit())] == ["Read", "Write", "Edit"]
