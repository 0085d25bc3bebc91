"""What is particular to containers and sandboxes; what all back ends do is in `tests/contract`.

Neither an engine nor an account is at hand: both speak to servers on loopback that speak the API and run a real shell.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.tool import DockerBackend, E2BBackend
from agent_core.tool.in_thread import THREAD_NAME
from tests.cancelling import cancel
from tests.loopback.docker_engine import DockerEngine
from tests.loopback.e2b_service import ID, E2BService

SHELLS = [shell for shell in ("dash", "bash --posix", "bash", "busybox sh") if shutil.which(shell.split()[0])]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerEngine]:
    engine = DockerEngine(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    yield engine
    engine.stop()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[E2BService]:
    service = E2BService(tmp_path)
    for name, value in service.environ.items():
        monkeypatch.setenv(name, value)
    yield service
    service.stop()


@pytest.mark.parametrize("shell", SHELLS)
async def test_any_shell_will_do(engine: DockerEngine, tmp_path: Path, shell: str) -> None:
    engine.shell = shell
    backend = DockerBackend("web")
    name = "a 'b' \"c\"\n$(x) *.md"
    await backend.write_file(f"~/Memory/{name}", b"\x00\xff")
    (tmp_path / "Memory" / ".hidden").touch()
    (tmp_path / "Memory" / "..odd").touch()
    (tmp_path / "Memory" / "ends with a newline\n").symlink_to(name)
    (tmp_path / "Memory" / "nowhere").symlink_to("gone\n")
    listed = await backend.list_dir(f"{tmp_path}/Memory")
    assert {(info.name, info.is_link) for info in listed} == {
        (name, False),
        (".hidden", False),
        ("..odd", False),
        ("ends with a newline\n", True),
    }
    assert await backend.read_file(f"{tmp_path}/Memory/{name}") == b"\x00\xff"
    assert await backend.resolve(f"{tmp_path}/Memory/ends with a newline\n") == f"{tmp_path.resolve()}/Memory/{name}"
    assert await backend.list_dir(str(tmp_path)) != []
    os.makedirs(tmp_path / "empty")
    assert await backend.list_dir(f"{tmp_path}/empty") == []
    await backend.aclose()


async def test_programs_run_where_the_files_are(engine: DockerEngine, service: E2BService, tmp_path: Path) -> None:
    for backend in (DockerBackend("web"), E2BBackend(ID)):
        assert backend.guarantees.exec
        result = await backend.exec(["sh", "-c", 'printf "%s\\377" "$1"; echo oh >&2; exit 3', "sh", "a 'b'\nc"])
        assert result == (3, b"a 'b'\nc\xff", b"oh\n")
        await backend.aclose()


async def test_a_container_that_is_not_running_or_not_there_is_told(engine: DockerEngine) -> None:
    with pytest.raises(OSError, match="docker://other cannot be reached: No such container"):
        await DockerBackend("other").connect()
    engine.status = "exited"
    with pytest.raises(OSError, match="the container is exited: start it with `docker start web`"):
        await DockerBackend("web").connect()


async def test_a_container_that_stops_is_told_and_used_again_when_it_is_back(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_core.tool.remote_files.RETRY_SECONDS", -1.0)
    backend = DockerBackend("web")
    await backend.write_file("~/a.md", b"x")
    engine.status = "exited"
    with pytest.raises(OSError, match="container cafe is not running"):
        await backend.read_file("~/a.md")
    engine.status = "running"
    assert await backend.read_file("~/a.md") == b"x"
    await backend.aclose()


async def test_what_is_sent_but_cannot_be_seen_there_takes_nobodys_place(engine: DockerEngine, tmp_path: Path) -> None:
    """As in a `tmpfs`, where an archive is put below what is mounted."""
    (tmp_path / "a.md").write_bytes(b"old")
    engine.hides_uploads = True
    backend = DockerBackend("web")
    with pytest.raises(OSError, match="did not arrive whole"):
        await backend.write_file(str(tmp_path / "a.md"), b"new")
    assert (tmp_path / "a.md").read_bytes() == b"old"
    await backend.aclose()


async def test_without_an_engine_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(OSError, match="docker://web cannot be reached: ") as caught:
        await DockerBackend("web").connect()
    assert "\n" not in str(caught.value)


async def test_a_wrong_key_and_a_sandbox_that_is_gone_are_told(
    service: E2BService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="e2b://other cannot be reached: "):
        await E2BBackend("other").connect()
    monkeypatch.setenv("E2B_API_KEY", "e2b_feedfeedfeedfeed")
    with pytest.raises(OSError, match=f"e2b://{ID} cannot be reached: ") as caught:
        await E2BBackend(ID).connect()
    assert "feedfeed" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", ["docker", "e2b"])
async def test_what_somebody_was_stopped_at_changes_nothing_when_the_other_side_goes_on(
    engine: DockerEngine, service: E2BService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("agent_core.tool.remote_files._PATIENCE", 0.05)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x").write_bytes(b"old")
    backend, server = (DockerBackend("web"), engine) if kind == "docker" else (E2BBackend(ID), service)
    await backend.connect()
    with server.paused():
        writing = asyncio.create_task(backend.write_file(str(folder / "x"), b"new"))
        await asyncio.sleep(0)
        await cancel(writing)
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            await asyncio.to_thread(thread.join)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"x": b"old"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("work", ["read_file('/x')", "write_file('/x', b'new')"])
def test_a_program_ends_while_what_it_was_stopped_at_is_still_without_an_answer(
    engine: DockerEngine, work: str
) -> None:
    program = f"""if True:
        import asyncio
        from agent_core.tool import DockerBackend

        async def main():
            backend = DockerBackend("web")
            await backend.connect()
            print("connected", flush=True)
            await asyncio.to_thread(input)
            working = asyncio.create_task(backend.{work})
            await asyncio.sleep(0)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await backend.aclose()

        asyncio.run(main())
    """
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"connected\n"
        with engine.paused():
            _, errors = running.communicate(b"\n", timeout=30)
    assert (running.returncode, errors) == (0, b"")
