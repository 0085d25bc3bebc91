"""`WatchedFiles`: the files of a memory folder whose changes are noticed, as they are on the disk now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping

from msgspec import Struct

from memory.agentic.blobs import LARGEST
from memory.agentic.folder import INDEX_NAME, MemoryFolder, Scan
from memory.agentic.folder_paths import path_in, relative_to
from memory.agentic.memory_file import MemoryFile

_READ_AT_ONCE = 16


class WatchedFile(Struct, frozen=True, gc=False):
    """Where a file is, links resolved, and its version. The garbage collector passes over it, as over `Seen`."""

    path: str
    version: str


class WatchedFiles:
    """The memories of a folder and MEMORY.md, by their paths from it; those of more than 16 MiB are left out.

    Args:
        folder: the memory folder.
    """

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder = folder
        self._listed: tuple[MemoryFile, ...] | None = None
        self._index: WatchedFile | None = None
        self._files: Mapping[str, WatchedFile] = {}

    async def present(self, scan: Scan) -> Mapping[str, WatchedFile]:
        """The files that a scan has listed; the very same mapping as before while nothing has changed."""
        index = await self._find_index()
        if self._listed != scan.files or self._index != index:
            found = await asyncio.to_thread(_by_relative, await self._folder.root(), scan.files)
            self._files = found if index is None else {INDEX_NAME: index, **found}
            self._listed, self._index = scan.files, index
        return self._files

    async def read(self, files: Mapping[str, WatchedFile]) -> AsyncIterator[tuple[str, bytes]]:
        """What files hold, a few at a time; those that cannot be read are passed over."""
        paths = list(files)
        for start in range(0, len(paths), _READ_AT_ONCE):
            batch = paths[start : start + _READ_AT_ONCE]
            contents = await asyncio.gather(*(self._content(files[path].path) for path in batch))
            for path, data in zip(batch, contents, strict=True):
                if data is not None:
                    yield path, data

    async def is_still(self, file: WatchedFile) -> bool:
        """Whether a file is of the same version still."""
        try:
            info = await self._folder.backend.stat(file.path)
        except OSError:
            return False
        return info is not None and info.version == file.version

    async def missing(self, paths: Iterable[str]) -> list[str]:
        """Those of some paths where there is nothing now; none when the whole folder is gone, which may come back."""
        root = await self._folder.root()
        stat = self._folder.backend.stat
        try:
            if await stat(root) is None:
                return []
            return [path for path in paths if await stat(path_in(root, path)) is None]
        except OSError:
            return []

    async def _find_index(self) -> WatchedFile | None:
        path = await self._folder.locate(INDEX_NAME)
        try:
            info = await self._folder.backend.stat(path) if path is not None else None
        except OSError:
            return None
        if path is None or info is None or info.is_dir or info.size > LARGEST:
            return None
        return WatchedFile(path, info.version)

    async def _content(self, path: str) -> bytes | None:
        try:
            data = await self._folder.backend.read_file(path, limit=LARGEST + 1, follow=False)
        except OSError:
            return None
        return data if len(data) <= LARGEST else None


def _by_relative(root: str, files: Iterable[MemoryFile]) -> dict[str, WatchedFile]:
    watched = (file for file in files if file.version and file.size <= LARGEST)
    return {relative_to(root, file.path): WatchedFile(file.path, file.version) for file in watched}


def is_listed(path: str) -> bool:
    """Whether a scan lists a file of that path, if there is one."""
    names = path.split("/")
    is_topic = names[-1][-3:].lower() == ".md" and names[-1] != INDEX_NAME
    return path == INDEX_NAME or (is_topic and not any(name.startswith(".") for name in names))
