"""What every `BackendBase` does, wherever the files are."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.errors import StorageError, ToolError
from agent_core.tool import CallContext, Edit, Read, Write, serving
from memory.agentic.folder import MemoryFolder
from memory.agentic.memory_disk import MemoryConflict, MemoryDisk, Step
from tests.cancelling import cancel
from tests.contract.file_backends import Place, place, with_connection, with_links

__all__ = ["place"]

ODD_NAMES = [
    "with spaces .md",
    " leading space.md",
    "trailing space ",
    "中文 ünïcode 🦜.md",
    "quo'te\".md",
    "new\nline.md",
    "ends with a newline\n",
    "-rf",
    "--help",
    "a*b?[c].md",
    "$(touch x) `y` ; z & | >.md",
    "back\\slash.md",
    "%41 + & =#?.md",
    "<xml>&amp;.md",
    "tab\tand \x07 bell.md",
    ".hidden",
    "~",
    "a::b:c.md",
    "x" * 200 + ".md",
]


async def test_what_is_written_is_read_and_folders_are_made(place: Place) -> None:
    path = place.path("a/b/note.md")
    await place.backend.write_file(path, b"one\r\n\xff\x00")
    assert await place.backend.read_file(path) == b"one\r\n\xff\x00"
    assert [info.name for info in await place.backend.list_dir(place.path("a/b"))] == ["note.md"]


async def test_a_file_may_be_replaced_and_emptied(place: Place) -> None:
    path = place.path("note.md")
    for data in (b"longer than the next", b"short", b"", b"again"):
        await place.backend.write_file(path, data, follow=False)
        assert await place.backend.read_file(path, follow=False) == data
        found = await place.backend.stat(path)
        assert found is not None
        assert found.size == len(data)


async def test_a_limit_bounds_what_is_read(place: Place) -> None:
    path = place.path("x")
    await place.backend.write_file(path, b"abcdef")
    for limit, expected in ((4, b"abcd"), (0, b""), (6, b"abcdef"), (100, b"abcdef")):
        assert await place.backend.read_file(path, limit=limit) == expected
    await place.backend.write_file(path, b"")
    assert await place.backend.read_file(path, limit=10) == b""


async def test_a_large_file_comes_back_whole_and_its_start_alone(place: Place) -> None:
    path, data = place.path("large"), os.urandom(3_000_017)
    await place.backend.write_file(path, data)
    assert await place.backend.read_file(path) == data
    assert await place.backend.read_file(path, limit=100) == data[:100]


async def test_what_is_not_there_is_told_as_such(place: Place) -> None:
    nowhere = place.path("no/where")
    assert await place.backend.stat(nowhere) is None
    for call in (place.backend.read_file, place.backend.delete_file, place.backend.list_dir):
        with pytest.raises(FileNotFoundError) as caught:
            await call(nowhere)
        assert caught.value.filename == nowhere


async def test_a_folder_is_no_file(place: Place) -> None:
    await place.backend.write_file(place.path("folder/x"), b"")
    folder = await place.backend.stat(place.path("folder"))
    assert folder is not None
    assert folder.is_dir
    with pytest.raises(IsADirectoryError):
        await place.backend.read_file(place.path("folder"))
    with pytest.raises(IsADirectoryError):
        await place.backend.write_file(place.path("folder"), b"x")
    with pytest.raises(OSError):
        await place.backend.delete_file(place.path("folder"))
    assert await place.backend.stat(place.path("folder/x")) is not None


async def test_a_file_is_no_folder(place: Place) -> None:
    await place.backend.write_file(place.path("x"), b"kept")
    with pytest.raises(NotADirectoryError):
        await place.backend.list_dir(place.path("x"))
    with pytest.raises(OSError):
        await place.backend.write_file(place.path("x/y"), b"")
    assert await place.backend.stat(place.path("x/y")) is None
    assert await place.backend.read_file(place.path("x")) == b"kept"


async def test_a_deleted_file_is_gone(place: Place) -> None:
    await place.backend.write_file(place.path("x"), b"")
    await place.backend.write_file(place.path("y"), b"")
    await place.backend.delete_file(place.path("x"))
    assert await place.backend.stat(place.path("x")) is None
    assert [info.name for info in await place.backend.list_dir(place.root)] == ["y"]


async def test_a_listing_tells_what_stat_tells(place: Place) -> None:
    await place.backend.write_file(place.path("a.md"), b"12345")
    await place.backend.write_file(place.path("sub/b.md"), b"1")
    listed = {info.name: info for info in await place.backend.list_dir(place.root)}
    assert set(listed) == {"a.md", "sub"}
    for name, info in listed.items():
        assert info.path == place.path(name)
        found = await place.backend.stat(info.path)
        assert found is not None
        assert (found.name, found.size, found.is_dir) == (name, info.size, info.is_dir)
    assert (await place.backend.stat(place.path("a.md"))) == listed["a.md"]
    assert listed["a.md"].modified > 1_600_000_000
    assert (listed["sub"].is_dir, listed["a.md"].is_dir) == (True, False)


async def test_many_files_are_all_listed(place: Place) -> None:
    names = {f"file {number}.md" for number in range(230)}
    for name in names:
        await asyncio.to_thread(place.put, place.path(name), b"x")
    assert {info.name for info in await place.backend.list_dir(place.root)} == names


async def test_a_version_tells_contents_apart_however_soon_and_however_alike(place: Place) -> None:
    path, versions = place.path("x"), []
    for data in (b"aaaa", b"bbbb", b"cccc", b"ccccc"):
        await place.backend.write_file(path, data)
        found = await place.backend.stat(path)
        assert found is not None
        assert found == await place.backend.stat(path)
        versions.append(found.version)
    assert len(set(versions)) == 4


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_f_odd_names_are_only_names(place: Place, name: str) -> None:
    path = place.path(f"sub {name}/{name}")
    await place.backend.write_file(path, name.encode(), follow=False)
    assert await place.backend.read_file(path, follow=False) == name.encode()
    assert await place.backend.resolve(path) == path
    (listed,) = await place.backend.list_dir(place.path(f"sub {name}"))
    assert (listed.name, listed.path) == (name, path)
    assert await place.backend.stat(path) == listed
    await place.backend.delete_file(path)
    assert await place.backend.stat(path) is None


@pytest.mark.parametrize("name", ["nul\0.md", "surrogate\ud800.md"])
async def test_names_that_no_file_can_have_are_refused_in_one_line(place: Place, name: str) -> None:
    for call in (
        place.backend.read_file(place.path(name)),
        place.backend.write_file(place.path(name), b""),
    ):
        with pytest.raises(OSError) as caught:
            await call
        assert "\n" not in (caught.value.strerror or "")


async def test_paths_are_made_absolute_and_tidied(place: Place) -> None:
    assert place.backend.absolute("/a/./b//c/../d/") == "/a/b/d"
    assert await place.backend.resolve(place.path("a/../b/./c")) == place.path("b/c")
    with pytest.raises(OSError):
        await place.backend.resolve("")


async def test_what_leads_out_of_the_folder_is_refused(place: Place) -> None:
    await place.backend.write_file(place.path("secret.md"), b"secret")
    await place.backend.write_file(place.path("Memory/a.md"), b"a")
    folder = MemoryFolder(place.root, "Memory", place.backend)
    for path in ("../secret.md", "x/../../secret.md", place.path("secret.md"), place.path("Memory/../secret.md")):
        assert await folder.locate(path) is None
        with pytest.raises(PermissionError):
            await folder.read(path)
        with pytest.raises(StorageError):
            await MemoryDisk(folder).read(path)
    assert await folder.locate("a.md") == place.path("Memory/a.md")


def linked(place: Place) -> Path:
    """A place with links: the memory folder, on this machine."""
    assert place.folder is not None
    memory = place.folder / "Memory"
    memory.mkdir()
    (place.folder / "outside").mkdir()
    (place.folder / "outside" / "secret.md").write_bytes(b"secret")
    return memory


@with_links
async def test_x01_a_dangling_link_is_not_written_through(place: Place) -> None:
    memory = linked(place)
    (memory / "new.md").symlink_to(memory.parent / "outside" / "made.md")
    folder = MemoryFolder(place.root, "Memory", place.backend)
    assert await folder.locate("new.md") is None
    assert await place.backend.stat(str(memory / "new.md")) is None
    with pytest.raises(OSError):
        await place.backend.write_file(str(memory / "new.md"), b"x", follow=False)
    with pytest.raises(StorageError):
        await MemoryDisk(folder).carry_out([Step("new.md", None, b"x")])
    assert os.listdir(memory.parent / "outside") == ["secret.md"]
    assert (memory / "new.md").is_symlink()


@with_links
async def test_x03_a_folder_link_leads_inside_but_never_outside(place: Place) -> None:
    memory = linked(place)
    (memory / "out").symlink_to("../outside")
    (memory / "real").mkdir()
    (memory / "real" / "a.md").write_bytes(b"a")
    (memory / "in").symlink_to("real")
    (memory / "again.md").symlink_to(memory / "out" / ".." / "Memory" / "real" / "a.md")
    folder = MemoryFolder(place.root, "Memory", place.backend)
    assert await folder.locate("out/secret.md") is None
    assert await folder.locate("in/a.md") == str(memory / "real" / "a.md")
    assert await folder.locate("again.md") == str(memory / "real" / "a.md")
    for path in ("out/secret.md", "out/new.md"):
        with pytest.raises(OSError):
            await place.backend.write_file(str(memory / path), b"x", follow=False)
        with pytest.raises(OSError):
            await place.backend.read_file(str(memory / path), follow=False)
    scan = await folder.scan()
    assert [file.relative for file in scan.files if file.is_text] == ["real/a.md"]
    assert (memory.parent / "outside" / "secret.md").read_bytes() == b"secret"


@with_links
async def test_a_link_is_told_and_followed_when_that_is_wanted(place: Place) -> None:
    memory = linked(place)
    (memory / "a.md").write_bytes(b"abc")
    (memory / "link.md").symlink_to("a.md")
    (memory / "nowhere.md").symlink_to("gone")
    listed = {info.name: info for info in await place.backend.list_dir(str(memory))}
    assert set(listed) == {"a.md", "link.md"}
    assert (listed["link.md"].is_link, listed["link.md"].size, listed["a.md"].is_link) == (True, 3, False)
    await place.backend.write_file(str(memory / "link.md"), b"new")
    assert (memory / "link.md").is_symlink()
    assert (memory / "a.md").read_bytes() == b"new"
    await place.backend.delete_file(str(memory / "link.md"))
    assert sorted(os.listdir(memory)) == ["a.md", "nowhere.md"]


@with_links
async def test_links_in_a_circle_are_an_error_not_a_loop(place: Place) -> None:
    memory = linked(place)
    (memory / "a").symlink_to("b")
    (memory / "b").symlink_to("a")
    with pytest.raises(OSError):
        await place.backend.resolve(str(memory / "a" / "x"))


@with_links
async def test_what_is_no_regular_file_is_refused_and_not_waited_for(place: Place) -> None:
    memory = linked(place)
    os.mkfifo(memory / "pipe")
    with pytest.raises(OSError):
        await place.backend.read_file(str(memory / "pipe"))
    with pytest.raises(OSError):
        await place.backend.write_file(str(memory / "pipe"), b"x")


@with_links
async def test_a_write_keeps_the_mode_and_respects_read_only(place: Place) -> None:
    memory = linked(place)
    (memory / "a.md").write_bytes(b"old")
    (memory / "a.md").chmod(0o640)
    await place.backend.write_file(str(memory / "a.md"), b"new")
    assert (memory / "a.md").stat().st_mode & 0o777 == 0o640
    (memory / "a.md").chmod(0o400)
    if place.backend.name != "local" or os.geteuid() != 0:
        with pytest.raises(PermissionError):
            await place.backend.write_file(str(memory / "a.md"), b"newer")
        assert (memory / "a.md").read_bytes() == b"new"


async def test_a_reader_sees_all_of_one_version_or_the_other(place: Place) -> None:
    assert place.backend.guarantees.atomic_replace
    path, versions = place.path("x"), [bytes([65 + turn]) * (200_000 + turn) for turn in range(6)]
    await place.backend.write_file(path, versions[0])
    other = place.again()
    is_over = asyncio.Event()
    seen: list[bytes] = []

    async def read() -> None:
        while not is_over.is_set():
            seen.append(await other.read_file(path))

    reading = asyncio.create_task(read())
    for version in versions:
        await place.backend.write_file(path, version)
    is_over.set()
    await reading
    await other.aclose()
    assert seen
    assert all(data in versions for data in seen)


async def test_many_writers_leave_one_of_their_contents_whole(place: Place) -> None:
    path, versions = place.path("x"), [bytes([65 + turn]) * 50_000 for turn in range(8)]
    await asyncio.gather(*(place.backend.write_file(path, version) for version in versions))
    assert await place.backend.read_file(path) in versions
    assert [info.name for info in await place.backend.list_dir(place.root)] == ["x"]


async def test_the_lock_keeps_writers_of_one_program_apart(place: Place) -> None:
    path = place.path("count")
    await place.backend.write_file(path, b"0")

    async def add_one() -> None:
        async with place.backend.lock(path):
            number = int(await place.backend.read_file(path))
            await place.backend.write_file(path, str(number + 1).encode())

    await asyncio.gather(*(add_one() for _ in range(10)))
    assert await place.backend.read_file(path) == b"10"


async def test_a_change_by_somebody_else_is_noticed_before_memory_is_written(place: Place) -> None:
    await place.backend.write_file(place.path("Memory/a.md"), b"mine")
    disk = MemoryDisk(MemoryFolder(place.root, "Memory", place.backend))
    before = await disk.read("a.md")
    place.put(place.path("Memory/a.md"), b"their")
    with pytest.raises(MemoryConflict) as caught:
        await disk.carry_out([Step("a.md", before, b"mine, changed")])
    assert "their" in caught.value.diff
    assert await place.backend.read_file(place.path("Memory/a.md")) == b"their"
    place.put(place.path("Memory/new.md"), b"theirs")
    with pytest.raises(MemoryConflict):
        await disk.carry_out([Step("new.md", None, b"mine")])
    assert await place.backend.read_file(place.path("Memory/new.md")) == b"theirs"


async def test_the_tools_work_and_notice_a_change_by_somebody_else(place: Place) -> None:
    read, write, edit = (tool(place.backend) for tool in (Read, Write, Edit))
    path = place.path("notes/a 'b'.md")
    with serving(CallContext()) as call:
        await write.call(file_path=path, content="one\ntwo\n")
        await read.call(file_path=path)
        await edit.call(file_path=path, old_string="two", new_string="2")
        assert await place.backend.read_file(path) == b"one\n2\n"
        assert "+2" in call.diff
        place.put(path, b"one\n3\n")
        with pytest.raises(ToolError, match="has changed since it was read"):
            await edit.call(file_path=path, old_string="2", new_string="two")
        with pytest.raises(ToolError, match="has changed since it was read"):
            await write.call(file_path=path, content="mine")
        assert await place.backend.read_file(path) == b"one\n3\n"
        with pytest.raises(ToolError, match="there is no file"):
            await read.call(file_path=place.path("none"))


@with_connection
async def test_a_lost_connection_is_one_line_and_nothing_is_torn(place: Place) -> None:
    path, data = place.path("x"), b"old" * 400_000
    await place.backend.write_file(path, data)
    with place.broken(after=300_000):
        with pytest.raises(OSError) as caught:
            await place.backend.write_file(path, b"new" * 400_000)
        assert caught.value.filename == path
        assert "\n" not in (caught.value.strerror or "")
        assert "Traceback" not in str(caught.value)
    assert await place.backend.read_file(path) == data
    with place.broken(after=300_000), pytest.raises(OSError):
        await place.backend.read_file(path)
    # The next operation finds its way again.
    await place.backend.write_file(path, b"newer")
    assert await place.backend.read_file(path) == b"newer"


async def test_a_folder_is_removed_only_when_nothing_is_in_it(place: Place) -> None:
    backend, folder = place.backend, place.path("a b/sub*")
    await backend.write_file(f"{folder}/x.md", b"x")
    await backend.write_file(place.path("y.md"), b"y")
    with suppress(OSError):
        await backend.remove_folder(folder)
    assert await backend.read_file(f"{folder}/x.md") == b"x"
    await backend.delete_file(f"{folder}/x.md")
    await backend.remove_folder(folder)
    await backend.remove_folder(place.path("a b"))
    assert [info.name for info in await backend.list_dir(place.root)] == ["y.md"]


@with_links
async def test_a_link_to_a_folder_is_not_followed_when_it_is_removed(place: Place) -> None:
    assert place.folder is not None
    (place.folder / "there").mkdir()
    (place.folder / "link").symlink_to("there")
    with pytest.raises(OSError):
        await place.backend.remove_folder(place.path("link"))
    assert (place.folder / "there").is_dir()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither waits long for the silent nor keeps a failure in mind."""
    monkeypatch.setattr("agent_core.tool.remote_files._PATIENCE", 0.05)
    monkeypatch.setattr("agent_core.tool.remote_files.RETRY_SECONDS", 0.5)


@pytest.mark.timeout(30)
@with_connection
@pytest.mark.parametrize("look", ["read_file", "stat", "list_dir"])
async def test_who_looks_at_what_is_silent_can_be_stopped(
    place: Place, look: str, hurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.path("x/y")
    await place.backend.write_file(path, b"x")
    with place.paused():
        looking = asyncio.create_task(getattr(place.backend, look)(path))
        await asyncio.sleep(0)
        await cancel(looking)
        # What is cleaned up behind it must not wait for the same silence.
        for _ in range(3):
            with pytest.raises(OSError, match="does not answer"):
                await place.backend.read_file(path)
    monkeypatch.setattr("agent_core.tool.remote_files.RETRY_SECONDS", 0)
    assert await place.backend.read_file(path) == b"x"


@pytest.mark.timeout(30)
@with_connection
async def test_who_writes_to_what_is_silent_can_be_stopped_and_nothing_is_torn(
    place: Place, hurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, old, new = place.path("x"), b"old" * 100_000, b"new" * 100_000
    await place.backend.write_file(path, old)
    with place.paused():
        writing = asyncio.create_task(place.backend.write_file(path, new))
        await asyncio.sleep(0)
        await cancel(writing)
        with pytest.raises(OSError, match="does not answer"):
            await place.backend.read_file(path)
    monkeypatch.setattr("agent_core.tool.remote_files.RETRY_SECONDS", 0)
    assert await place.backend.read_file(path) in (old, new)


@with_connection
async def test_a_change_that_is_soon_done_is_waited_for_by_who_is_stopped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_core.tool.remote_files._PATIENCE", 60)
    path = place.path("x")
    await place.backend.write_file(path, b"old")
    writing = asyncio.create_task(place.backend.write_file(path, b"new"))
    await asyncio.sleep(0)
    await cancel(writing)
    assert await place.backend.read_file(path) == b"new"


async def test_what_is_promised_can_be_written_down(place: Place) -> None:
    gaps = place.backend.guarantees.gaps
    assert bool(gaps) is (place.backend.name != "local")
    assert all(json.dumps(gap) and "\n" not in gap for gap in gaps)
