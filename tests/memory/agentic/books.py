"""Memory books over folders on a real disk, and back ends that fail, for the tests of writing."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from agent_core.tool.backend import BackendBase, FileInfo
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.book import MemoryBook
from memory.agentic.outside_watch import OutsideWatch

TEA = "---\nname: Tea\ndescription: likes oolong\ntype: user\n---\n\nLikes oolong.\n"
TEA_LINE = "- [Tea](tea.md) — likes oolong\n"


def book_in(workdir: Path, backend: BackendBase | None = None) -> MemoryBook:
    """As a program that has just started would open it."""
    return MemoryBook.open(workdir, backend=backend)


def tree(workdir: Path) -> dict[str, bytes]:
    """All files of the memory folder, but for the hidden lock that a killed program leaves."""
    root = workdir / "Memory"
    files = [path for path in sorted(root.rglob("[!.]*")) if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def index_of(workdir: Path) -> str:
    return (workdir / "Memory/MEMORY.md").read_bytes().decode()


async def look(book: MemoryBook, watch: OutsideWatch | None = None) -> OutsideWatch:
    """Have a look at the folder, as every scan of the middleware does."""
    watch = watch or OutsideWatch(book.folder, book.journal)
    await watch.look(await book.folder.scan())
    return watch


def actions(entries: list) -> list[tuple[str, str, str]]:
    return [(entry.action, entry.origin, entry.path) for entry in entries]


class FailingBackend(LocalBackend):
    """Refuses writes, or deletions, of the files that `refuses` picks."""

    def __init__(self, refuses: Callable[[str], bool] = lambda path: False, code: int = errno.ENOSPC) -> None:
        self.refuses = refuses
        self.code = code

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        self._check(path)
        await super().write_file(path, data, follow=follow)

    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        self._check(path)
        await super().delete_file(path, follow=follow)

    def _check(self, path: str) -> None:
        if self.refuses(path):
            raise OSError(self.code, os.strerror(self.code), path)


class FullDisk(LocalBackend):
    """A folder of this machine that holds so many bytes, a new version of a file beside the old one included."""

    def __init__(self, folder: Path, room: int) -> None:
        self._folder = folder
        self.size = self._used() + room

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        if self._used() + len(data) > self.size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        await super().write_file(path, data, follow=follow)

    def _used(self) -> int:
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())


def run_program(source: str, *arguments: object) -> subprocess.Popen[str]:
    """Start another program; `source` is the body of its `async def main(*arguments)`, with a `book_in` at hand."""
    program = (
        "import asyncio, os, signal, sys\nfrom pathlib import Path\n"
        "from tests.memory.agentic.books import FailingBackend, book_in, look\n"
        "async def main(workdir, *arguments):\n"
        f"{textwrap.indent(textwrap.dedent(source), '    ')}\n"
        "asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))\n"
    )
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(program: subprocess.Popen[str]) -> str:
    """Wait for a program, which must end well; what it printed."""
    output, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    return output


def be_killed(program: subprocess.Popen[str]) -> None:
    """Wait for a program that kills itself."""
    _, errors = program.communicate(timeout=60)
    assert program.returncode == -signal.SIGKILL, errors


def journal_file(workdir: Path) -> Path:
    return workdir / ".mnemoscope/Memory/journal.jsonl"


class BareBackend(BackendBase):
    """Files in a dict: no locks, no links, no folders of its own; what a far store guarantees, and no more."""

    name = "bare"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._versions: dict[str, int] = {}

    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self.files[path][:limit]

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        self.files[path] = data
        self._versions[path] = self._versions.get(path, 0) + 1

    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        del self.files[path]

    async def stat(self, path: str) -> FileInfo | None:
        name = path.rsplit("/", 1)[-1]
        if path in self.files:
            return FileInfo(name, path, len(self.files[path]), 0.0, False, str(self._versions[path]))
        is_folder = any(other.startswith(f"{path}/") for other in self.files)
        return FileInfo(name, path, 0, 0.0, True, "") if is_folder else None

    async def list_dir(self, path: str) -> list[FileInfo]:
        start = f"{path.rstrip('/')}/"
        names = {other[len(start) :].split("/")[0] for other in self.files if other.startswith(start)}
        found = [await self.stat(start + name) for name in sorted(names)]
        return [info for info in found if info is not None]

    async def resolve(self, path: str) -> str:
        return os.path.normpath(path)

    def absolute(self, path: str) -> str:
        return os.path.normpath(path)
