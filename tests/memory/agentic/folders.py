"""Memory folders on a real disk, for the tests of agentic memory."""

from __future__ import annotations

import os
from pathlib import Path

from agent_core.tool.backend import BackendBase, FileInfo
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.folder import MemoryFolder
from memory.agentic.memory_file import MemoryFile

DAY = 86_400


def save(
    workdir: Path,
    relative: str,
    body: str = "body",
    *,
    description: str = "",
    kind: str = "user",
    days_old: float = 0,
) -> Path:
    """Write a memory as the model would; its name is that of the file."""
    path = workdir / "Memory" / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    name = Path(relative).stem
    path.write_text(f"---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n\n{body}\n", encoding="utf-8")
    age(path, days_old)
    return path


def put(workdir: Path, relative: str, data: str | bytes) -> Path:
    """Write a file of the memory folder as it is."""
    path = workdir / "Memory" / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def age(path: Path, days: float) -> None:
    """Set the time of the last change."""
    if days:
        then = path.stat().st_mtime - days * DAY
        os.utime(path, (then, then))


def folder_in(workdir: Path, backend: BackendBase | None = None) -> MemoryFolder:
    return MemoryFolder(workdir, "Memory", backend or LocalBackend())


async def scan(workdir: Path) -> dict[str, MemoryFile]:
    """What a first look at the folder lists, by relative path."""
    return {file.relative: file for file in (await folder_in(workdir).scan()).files}


class CountingBackend(LocalBackend):
    """Counts what is read, by file name, and how often folders are listed."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.listings = 0

    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        self.reads.append(os.path.basename(path))
        return await super().read_file(path, limit=limit, follow=follow)

    async def list_dir(self, path: str) -> list[FileInfo]:
        self.listings += 1
        return list(await super().list_dir(path))
