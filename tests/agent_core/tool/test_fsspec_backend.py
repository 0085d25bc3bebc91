"""What is particular to file systems of fsspec; what all back ends do is in `tests/contract`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import s3fs
import sshfs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from agent_core.tool import FsspecBackend, Guarantees
from tests.loopback.s3 import S3Server
from tests.loopback.sftp import PASSWORD, USER, SftpServerHere


class Other(MemoryFileSystem):
    """A file system that nobody knows."""

    protocol = "other"
    fails_at = ""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        if self.fails_at == "upload":
            super().pipe_file(path, value[: len(value) // 2])
            raise RuntimeError("the line\nbroke")
        super().pipe_file(path, value, mode, **kwargs)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        if self.fails_at == "move":
            raise RuntimeError("no")
        super().cp_file(path1, path2, **kwargs)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SftpServerHere]:
    server = SftpServerHere(tmp_path)
    yield server
    server.stop()


def sftp(server: SftpServerHere, **options: Any) -> FsspecBackend:
    hosts = server.known_hosts.encode()
    options = {"username": USER, "password": PASSWORD, "known_hosts": hosts, "skip_instance_cache": True, **options}
    return FsspecBackend(lambda: sshfs.SSHFileSystem("127.0.0.1", port=server.port, **options), "sftp", "sftp://here")


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, agent_core.tool, memory, tui.app; print([n for n in sys.modules if 'fsspec' in n or 'ssh' in n])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout == "[]\n"


def test_file_systems_that_others_serve_better_are_refused() -> None:
    with pytest.raises(ValueError, match="LocalBackend"):
        FsspecBackend(LocalFileSystem())
    with pytest.raises(ValueError, match="protocol"):
        FsspecBackend(lambda: MemoryFileSystem())


@pytest.mark.parametrize("fails_at", ["upload", "move"])
async def test_of_an_unknown_file_system_nothing_is_promised_and_old_content_is_kept(fails_at: str) -> None:
    filesystem = Other(global_store=False, skip_instance_cache=True)
    backend = FsspecBackend(filesystem)
    assert (backend.name, backend.guarantees) == ("other", Guarantees())
    assert len(backend.guarantees.gaps) == 3
    await backend.write_file("/a/b.md", b"old")
    await backend.write_file("/a/b.md", b"newer")
    filesystem.fails_at = fails_at
    with pytest.raises(OSError) as caught:
        await backend.write_file("/a/b.md", b"never")
    assert "\n" not in (caught.value.strerror or "")
    assert await backend.read_file("/a/b.md") == b"newer"
    assert [info.name for info in await backend.list_dir("/a")] == ["b.md"]


async def test_several_back_ends_of_one_memory_share_it_and_separate_ones_do_not() -> None:
    first = FsspecBackend(fsspec.filesystem("memory", global_store=False, skip_instance_cache=True))
    other = FsspecBackend(fsspec.filesystem("memory", global_store=False, skip_instance_cache=True))
    await first.write_file("/a", b"x")
    assert await other.stat("/a") is None


async def test_a_server_that_cannot_replace_a_file_is_told_and_nothing_is_touched(
    server: SftpServerHere, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    server.lacks_posix_rename = True
    backend = sftp(server)
    with pytest.raises(OSError, match="not supported"):
        await backend.write_file(str(tmp_path / "a.md"), b"new")
    assert (tmp_path / "a.md").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.md"]
    await backend.aclose()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"password": "wr0ng"}, "ermission denied"),
        ({"known_hosts": b""}, "ost key"),
        ({"port": 1}, ""),
    ],
)
async def test_why_there_is_no_connection_is_one_line_without_the_password(
    server: SftpServerHere, options: dict[str, Any], said: str
) -> None:
    if "port" in options:
        server.stop()
        server.stop = lambda: None  # type: ignore[method-assign]
        options = {}
    backend = sftp(server, **options)
    with pytest.raises(OSError, match="sftp://here cannot be reached: ") as caught:
        await backend.connect()
    text = str(caught.value)
    assert said in text
    assert "\n" not in text
    assert PASSWORD not in text
    assert "wr0ng" not in text


async def test_a_lost_connection_is_made_anew(server: SftpServerHere, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    backend = sftp(server)
    assert await backend.read_file(str(tmp_path / "a.md")) == b"old"
    server.cut()
    with pytest.raises(OSError, match="connection to sftp://here was lost"):
        await backend.read_file(str(tmp_path / "a.md"))
    assert await backend.read_file(str(tmp_path / "a.md")) == b"old"
    await backend.aclose()
    assert await backend.read_file(str(tmp_path / "a.md")) == b"old"
    await backend.aclose()


async def test_after_a_failure_nobody_waits_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def connect() -> Any:
        tries.append(1)
        raise OSError("no route")

    backend = FsspecBackend(connect, "sftp", "sftp://nowhere")
    for _ in range(5):
        with pytest.raises(OSError, match="sftp://nowhere cannot be reached: no route"):
            await backend.stat("/x")
    assert len(tries) == 1
    monkeypatch.setattr("agent_core.tool.remote_files.RETRY_SECONDS", -1.0)
    with pytest.raises(OSError, match="no route"):
        await backend.stat("/x")
    assert len(tries) == 2


async def test_the_home_folder_is_the_servers(server: SftpServerHere, tmp_path: Path) -> None:
    backend = sftp(server)
    assert backend.absolute("~/notes/../a") == "~/a"
    assert await backend.resolve("~/a") == str(tmp_path.resolve() / "a")
    await backend.write_file("~/a/x.md", b"x")
    assert (tmp_path / "a" / "x.md").read_bytes() == b"x"
    with pytest.raises(OSError, match="home folder"):
        await backend.resolve("~somebody/a")
    await backend.aclose()


async def test_names_that_are_not_utf8_cost_nothing(server: SftpServerHere, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    (tmp_path / name).write_bytes(b"x")
    (tmp_path / "b.md").write_bytes(b"y")
    backend = sftp(server)
    assert {info.name for info in await backend.list_dir(str(tmp_path))} == {name, "b.md"}
    assert await backend.read_file(str(tmp_path / name)) == b"x"
    await backend.aclose()


async def test_a_bucket_that_is_not_there_or_closed_is_told() -> None:
    server = S3Server("bucket")
    options = {"key": "k", "secret": "s3cr3t", "endpoint_url": server.url, "skip_instance_cache": True}
    backend = FsspecBackend(lambda: s3fs.S3FileSystem(**options), "s3")
    with pytest.raises(FileNotFoundError):
        await backend.write_file("/nowhere/a.md", b"x")
    server.is_refusing = True
    with pytest.raises(PermissionError) as caught:
        await backend.read_file("/bucket/a.md")
    assert "s3cr3t" not in str(caught.value)
    server.is_refusing = False
    # Another program's change is seen at once, whatever s3fs has cached of listings.
    assert await backend.stat("/bucket/f/a.md") is None
    server.put("bucket/f/a.md", b"x")
    assert [info.name for info in await backend.list_dir("/bucket/f")] == ["a.md"]
    server.put("bucket/f/b.md", b"xyz")
    assert sorted(info.name for info in await backend.list_dir("/bucket/f")) == ["a.md", "b.md"]
    server.put("bucket/f/", b"")
    assert sorted(info.name for info in await backend.list_dir("/bucket/f")) == ["a.md", "b.md"]
    await backend.aclose()
    server.stop()
