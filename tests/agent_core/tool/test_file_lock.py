from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.tool import LocalBackend
from agent_core.tool.file_lock import file_lock
from tests.cancelling import cancel

BACKEND = LocalBackend()

APPEND = """
import asyncio, sys
from agent_core.tool import LocalBackend

async def main(path, name):
    backend = LocalBackend()
    for number in range(50):
        async with backend.lock(path):
            before = await backend.read_file(path)
            await backend.write_file(path, before + f"- {name} {number}\\n".encode())

asyncio.run(main(*sys.argv[1:]))
"""

EDIT = """
import asyncio, sys
from agent_core.errors import ToolError
from agent_core.tool import Edit, Read

async def main(path, name):
    for number in range(50):
        while True:
            await Read().call(file_path=path)
            try:
                await Edit().call(file_path=path, old_string="# Index\\n", new_string=f"# Index\\n- {name} {number}\\n")
                break
            except ToolError as error:
                assert "changed since" in str(error), error

asyncio.run(main(*sys.argv[1:]))
"""

REPLACE = """
import asyncio, sys
from agent_core.tool import LocalBackend

async def main(path, name):
    for number in range(100):
        await LocalBackend().write_file(path, f"{name} {number}\\n".encode() * 1000)

asyncio.run(main(*sys.argv[1:]))
"""


def run_two(script: str, path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(path), name], stderr=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]
    for process in running:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors


@pytest.mark.parametrize("script", [APPEND, EDIT], ids=["back end", "tools"])
def test_two_processes_that_add_lines_to_one_file_lose_none(tmp_path: Path, script: str) -> None:
    """P08: two writers of the index, 50 lines each, give 100 lines."""
    index = tmp_path / "MEMORY.md"
    index.write_bytes(b"# Index\n")
    run_two(script, index)
    lines = index.read_text().splitlines()
    assert sorted(lines[1:]) == sorted(f"- {name} {number}" for name in ("left", "right") for number in range(50))
    assert os.listdir(tmp_path) == ["MEMORY.md"]


def test_two_processes_that_replace_one_file_tear_nothing_and_leave_nothing(tmp_path: Path) -> None:
    """P10: temporary names are unique per call."""
    path = tmp_path / "MEMORY.md"
    run_two(REPLACE, path)
    lines = path.read_text().splitlines()
    assert (len(lines), len(set(lines))) == (1000, 1)
    assert os.listdir(tmp_path) == ["MEMORY.md"]


async def test_many_tasks_of_one_process_lose_nothing_either(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    await BACKEND.write_file(path, b"")

    async def add(number: int) -> None:
        async with BACKEND.lock(path):
            await BACKEND.write_file(path, await BACKEND.read_file(path) + b"%d\n" % number)

    await asyncio.gather(*map(add, range(20)))
    assert sorted(map(int, (tmp_path / "f").read_bytes().split())) == list(range(20))
    assert os.listdir(tmp_path) == ["f"]


async def test_a_killed_process_leaves_no_stale_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    script = (
        "import asyncio, sys\n"
        "from agent_core.tool import LocalBackend\n"
        "async def main():\n"
        "    async with LocalBackend().lock(sys.argv[1]):\n"
        "        print('held', flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(TimeoutError, match="locked"):
            async with file_lock(path, wait=0):
                pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        async with BACKEND.lock(path):
            pass
    assert os.listdir(tmp_path) == []


async def test_two_spellings_of_a_path_share_one_lock(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    async with BACKEND.lock(str(tmp_path / "link" / "f")):
        with pytest.raises(TimeoutError):
            async with file_lock(str(tmp_path / "real" / "f"), wait=0):
                pass
        async with file_lock(str(tmp_path / "real" / "other"), wait=0):
            pass


async def test_one_who_gives_up_waiting_leaves_the_lock_to_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    async with BACKEND.lock(path):
        waiting = asyncio.create_task(asyncio.wait_for(BACKEND.lock(path).__aenter__(), 60))
        await asyncio.sleep(0)
        await cancel(waiting)
        with pytest.raises(TimeoutError):
            async with file_lock(path, wait=0):
                pass
    async with file_lock(path, wait=0):
        pass


async def test_the_lock_is_let_go_of_when_the_work_fails(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    with pytest.raises(RuntimeError):
        async with BACKEND.lock(path):
            raise RuntimeError
    async with file_lock(path, wait=0):
        pass


async def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    async with BACKEND.lock(path):
        (name,) = os.listdir(tmp_path)
    (tmp_path / name).symlink_to(tmp_path / "made")
    with pytest.raises(OSError):
        async with BACKEND.lock(path):
            pass
    assert not (tmp_path / "made").exists()


async def test_a_disk_without_locks_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    async with BACKEND.lock(str(tmp_path / "f")):
        pass
    assert os.listdir(tmp_path) == []


async def test_a_fifo_in_place_of_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "a.md")
    async with file_lock(path):
        (beside,) = tmp_path.iterdir()
    os.mkfifo(beside)
    async with file_lock(path):
        assert list(tmp_path.iterdir()) == [beside]
