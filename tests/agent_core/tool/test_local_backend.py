from __future__ import annotations

import asyncio
import errno
import itertools
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.tool import LocalBackend

BACKEND = LocalBackend()


async def test_what_is_written_is_read_and_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "note.md"
    await BACKEND.write_file(str(path), b"one\r\n\xff")
    assert await BACKEND.read_file(str(path)) == b"one\r\n\xff"
    assert os.listdir(path.parent) == ["note.md"]


async def test_a_limit_bounds_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abcdef")
    assert await BACKEND.read_file(str(tmp_path / "x"), limit=4) == b"abcd"
    assert await BACKEND.read_file(str(tmp_path / "x"), limit=0) == b""
    assert await BACKEND.read_file(str(tmp_path / "x"), limit=100) == b"abcdef"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
async def test_a_write_keeps_the_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    await BACKEND.write_file(str(path), b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write for others")
async def test_a_write_keeps_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    os.chown(path, 1234, 5678)
    await BACKEND.write_file(str(path), b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


async def test_a_new_file_gets_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    (tmp_path / "made").touch()
    await BACKEND.write_file(str(tmp_path / "written"), b"")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "made").stat().st_mode


async def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    await BACKEND.write_file(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


async def test_without_follow_a_link_is_refused_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_bytes(b"old")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "real" / "link").symlink_to("f")
    for path in (tmp_path / "folder" / "f", tmp_path / "real" / "link"):
        with pytest.raises(OSError):
            await BACKEND.write_file(str(path), b"new", follow=False)
        with pytest.raises(OSError):
            await BACKEND.read_file(str(path), follow=False)
    assert (tmp_path / "real" / "f").read_bytes() == b"old"
    assert (tmp_path / "real" / "link").is_symlink()


async def test_through_a_hard_link_only_the_given_name_changes(tmp_path: Path) -> None:
    """X, hard link: a second name of an outside file, put inside, is no way to change the outside file."""
    outside, inside = tmp_path / "outside.txt", tmp_path / "inside.txt"
    outside.write_bytes(b"theirs")
    os.link(outside, inside)
    await BACKEND.write_file(str(inside), b"ours")
    assert (outside.read_bytes(), inside.read_bytes()) == (b"theirs", b"ours")


async def test_fifos_sockets_and_devices_are_refused_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X, FIFO/device: opening a FIFO would block for ever, reading a device would never end."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    for path in (str(tmp_path / "pipe"), str(tmp_path / "socket"), "/dev/zero"):
        with pytest.raises(OSError, match="not a regular file"):
            await BACKEND.read_file(path)
        with pytest.raises(OSError, match="not a regular file"):
            await BACKEND.write_file(path, b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


async def test_folders_are_no_files(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/"):
        with pytest.raises(IsADirectoryError):
            await BACKEND.read_file(path)
        with pytest.raises(IsADirectoryError):
            await BACKEND.write_file(path, b"")


async def test_an_error_names_the_path_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = str(tmp_path / "file" / "below" / "x")
    with pytest.raises(NotADirectoryError) as caught:
        await BACKEND.write_file(path, b"x")
    assert caught.value.filename == path


@pytest.mark.parametrize("name", ["nul\0", "half \ud83d pair"])
async def test_names_that_no_file_can_have_are_an_os_error(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    for attempt in (BACKEND.resolve, BACKEND.read_file, BACKEND.stat, BACKEND.delete_file):
        with pytest.raises(OSError):
            await attempt(path)


async def test_the_longest_name_that_the_disk_takes_can_be_written_and_locked(tmp_path: Path) -> None:
    path = str(tmp_path / ("n" * 255))
    async with BACKEND.lock(path):
        await BACKEND.write_file(path, b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


async def test_of_a_name_that_is_too_long_there_is_nothing(tmp_path: Path) -> None:
    assert await BACKEND.stat(str(tmp_path / ("a" * 300))) is None
    for path in ("a/" * 500_000, "../" * 500_000):
        with pytest.raises(OSError, match="too long"):
            await BACKEND.resolve(f"{tmp_path}/{path}")


async def test_stat_and_listing(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1234")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    listed = {info.name: (info.size if not info.is_dir else None, info.is_dir, info.is_link)
              for info in await BACKEND.list_dir(str(tmp_path))}  # fmt: skip
    assert listed == {"f": (4, False, False), "folder": (None, True, False), "link": (None, True, True)}
    info = await BACKEND.stat(str(tmp_path / "f"))
    assert info is not None
    assert (info.name, info.path, info.size, info.is_dir) == ("f", str(tmp_path / "f"), 4, False)
    assert await BACKEND.stat(str(tmp_path / "nothing")) is None
    assert await BACKEND.stat(str(tmp_path / "f" / "below")) is None
    assert await BACKEND.stat(str(tmp_path / "dangling")) is None


async def test_every_write_makes_a_new_version_even_of_the_same_size_and_time(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    versions = set()
    for content in (b"aa", b"bb"):
        await BACKEND.write_file(path, content)
        os.utime(path, ns=(1, 1))
        info = await BACKEND.stat(path)
        assert info is not None
        versions.add(info.version)
    assert len(versions) == 2


@pytest.mark.parametrize("follow", [True, False])
async def test_deleting_a_link_leaves_its_target(tmp_path: Path, follow: bool) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to("target")
    await BACKEND.delete_file(str(tmp_path / "link"), follow=follow)
    assert os.listdir(tmp_path) == ["target"]
    with pytest.raises(FileNotFoundError):
        await BACKEND.delete_file(str(tmp_path / "link"), follow=follow)


async def test_a_link_on_the_way_to_a_file_that_is_deleted_is_not_followed_unless_wanted(tmp_path: Path) -> None:
    """X01: what a folder was checked to be, and what has taken its place since."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.md").touch()
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(OSError):
        await BACKEND.delete_file(str(tmp_path / "link/a.md"), follow=False)
    assert os.listdir(tmp_path / "elsewhere") == ["a.md"]
    await BACKEND.delete_file(str(tmp_path / "link/a.md"))
    assert os.listdir(tmp_path / "elsewhere") == []


class TestResolve:
    async def test_links_in_folders_that_exist_and_names_that_do_not(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        assert await BACKEND.resolve(str(tmp_path / "link" / "new" / "x.md")) == str(tmp_path / "real" / "new" / "x.md")

    async def test_a_dangling_link_leads_to_where_it_points(self, tmp_path: Path) -> None:
        """X01: what does not exist yet is resolved all the same."""
        (tmp_path / "new.md").symlink_to("/nowhere/out")
        assert await BACKEND.resolve(str(tmp_path / "new.md")) == "/nowhere/out"

    async def test_dots_are_taken_after_links(self, tmp_path: Path) -> None:
        (tmp_path / "far" / "away").mkdir(parents=True)
        (tmp_path / "link").symlink_to("far/away")
        assert await BACKEND.resolve(str(tmp_path / "link" / ".." / "x")) == str(tmp_path / "far" / "x")

    @pytest.mark.parametrize("path", ["self", "one", "two", "self/below/x", "missing/../one"])
    async def test_links_in_a_circle_are_an_error(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "self").symlink_to("self")
        (tmp_path / "one").symlink_to("two")
        (tmp_path / "two").symlink_to("one")
        with pytest.raises(OSError) as caught:
            await BACKEND.resolve(str(tmp_path / path))
        assert caught.value.errno == errno.ELOOP

    async def test_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert await BACKEND.resolve("~/x") == str(tmp_path / "x")
        assert BACKEND.absolute("~/a/../x") == str(tmp_path / "x")

    @pytest.mark.parametrize("path", ["", "~no-such-user-here/x"])
    async def test_what_leads_nowhere_does_not_lead_to_the_working_directory(self, path: str) -> None:
        """P16: an unknown home is an error, not a folder that is literally called so."""
        with pytest.raises(FileNotFoundError):
            await BACKEND.resolve(path)
        with pytest.raises(FileNotFoundError):
            BACKEND.absolute(path)


@pytest.mark.parametrize(
    ("folder", "path", "inside"),
    [("/w", "/w", True), ("/w", "/w/a", True), ("/w/", "/w/a", True), ("/w", "/way", False), ("/", "/x", True)],
)
def test_contains_compares_whole_names(folder: str, path: str, inside: bool) -> None:
    assert BACKEND.contains(folder, path) is inside


class TestFailure:
    """P12: whatever goes wrong, the old file is intact and nothing is left beside it."""

    @pytest.fixture
    def old(self, tmp_path: Path) -> Path:
        path = tmp_path / "MEMORY.md"
        path.write_bytes(b"- old line\n" * 100)
        return path

    async def expect_untouched(self, old: Path, code: int) -> None:
        with pytest.raises(OSError) as caught:
            await BACKEND.write_file(str(old), b"new" * 10_000)
        assert (caught.value.errno, caught.value.filename) == (code, str(old))
        assert old.read_bytes() == b"- old line\n" * 100
        assert os.listdir(old.parent) == ["MEMORY.md"]

    @pytest.mark.parametrize("room", [0, 1, 29_999])
    async def test_the_disk_is_full_after_some_bytes(
        self, old: Path, monkeypatch: pytest.MonkeyPatch, room: int
    ) -> None:
        real_write = os.write

        def write(handle: int, data: bytes) -> int:
            nonlocal room
            if not room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = real_write(handle, data[:room])
            room -= written
            return written

        monkeypatch.setattr(os, "write", write)
        await self.expect_untouched(old, errno.ENOSPC)

    @pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
    async def test_a_step_fails(self, old: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        def fail(*args: object, **kwargs: object) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, step, fail)
        await self.expect_untouched(old, errno.EIO)

    def test_a_real_limit_on_the_size_of_files(self, old: Path) -> None:
        script = (
            "import asyncio, resource, sys\n"
            "from agent_core.tool import LocalBackend\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            "try: asyncio.run(LocalBackend().write_file(sys.argv[1], b'new' * 10_000))\n"
            "except OSError as error: print(error.errno)\n"
        )
        done = subprocess.run([sys.executable, "-c", script, str(old)], capture_output=True, text=True, check=True)
        assert int(done.stdout) == errno.EFBIG
        assert old.read_bytes() == b"- old line\n" * 100
        assert os.listdir(old.parent) == ["MEMORY.md"]

    async def test_the_folder_may_not_be_written_in(self, as_nobody: Callable[[], Path]) -> None:
        """P13: a read-only folder is an error at once."""
        folder = as_nobody()
        (folder / "f").write_bytes(b"old")
        folder.chmod(0o555)
        with pytest.raises(PermissionError):
            await BACKEND.write_file(str(folder / "f"), b"new")
        with pytest.raises(PermissionError):
            async with BACKEND.lock(str(folder / "f")):
                pass
        assert (folder / "f").read_bytes() == b"old"

    async def test_a_file_that_was_made_read_only_stays_as_it_is(self, as_nobody: Callable[[], Path]) -> None:
        path = as_nobody() / "f"
        path.write_bytes(b"old")
        path.chmod(0o444)
        with pytest.raises(PermissionError, match="read-only"):
            await BACKEND.write_file(str(path), b"new")
        assert path.read_bytes() == b"old"


async def test_a_cancelled_write_ends_before_its_lock_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "f")
    syncing, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    real_fsync = os.fsync

    def fsync(handle: int) -> None:
        loop.call_soon_threadsafe(syncing.set)
        assert go_on.wait(30)
        real_fsync(handle)

    monkeypatch.setattr(os, "fsync", fsync)

    async def write() -> None:
        async with BACKEND.lock(path):
            await BACKEND.write_file(path, b"whole")

    writing = asyncio.create_task(write())
    await syncing.wait()
    for _ in range(2):
        writing.cancel()
        await asyncio.sleep(0)
    assert not writing.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (tmp_path / "f").read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["f"]


async def test_a_folder_swapped_for_a_link_meanwhile_lets_nothing_out(tmp_path: Path) -> None:
    """X, link swapped between check and write by a thread: refused or written inside, never outside."""
    inside, outside = tmp_path / "w" / "memory", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    stop = threading.Event()

    def swap() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            inside.mkdir(exist_ok=True)
            inside.rename(tmp_path / f"aside {number}")
            try:
                inside.symlink_to(outside)
            except FileExistsError:
                continue  # The writer has made the folder anew.
            inside.unlink()

    attacker = threading.Thread(target=swap)
    attacker.start()
    try:
        for number in range(300):
            with suppress(OSError):
                await BACKEND.write_file(str(inside / f"{number}.md"), b"x", follow=False)
            with pytest.raises(OSError):
                await BACKEND.read_file(str(inside / "secret"), follow=False)
    finally:
        stop.set()
        attacker.join()
    assert os.listdir(outside) == ["secret"]
