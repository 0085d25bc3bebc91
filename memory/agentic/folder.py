"""`MemoryFolder`: the Markdown files of a long-term memory, listed and read with care, never written.

Topic files end in `.md`, in whatever case, at any depth. Hidden files and folders are none of ours. `MEMORY.md` at the
top is the index; one in a subfolder is neither index nor topic. Nothing outside the folder is ever read: links are
followed only where they stay inside, and a file with several names is listed once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_core.tool.backend import BackendBase, FileInfo
from memory.agentic.frontmatter import HEADER_LIMIT
from memory.agentic.memory_file import (
    OUTSIDE,
    READ_LIMIT,
    TOO_LARGE,
    UNREADABLE,
    Decoded,
    MemoryFile,
    badge_duplicates,
    decode,
    describe,
    refused,
)

INDEX_NAME = "MEMORY.md"
_READ_AT_ONCE = 16


class Scan(NamedTuple):
    """What a look at the folder gave.

    Args:
        files: the topic files, newest first.
        problems: folders that could not be listed, one line for people each.
        headers_read: how many files had to be opened; the others are unchanged since the last scan.
    """

    files: tuple[MemoryFile, ...] = ()
    problems: tuple[str, ...] = ()
    headers_read: int = 0


class IndexFile(NamedTuple):
    """MEMORY.md as it is on disk. `badge` says why there is no text though there is a file."""

    path: str
    found: bool
    text: str = ""
    badge: str = ""


class _Found(NamedTuple):
    info: FileInfo
    relative: str
    path: str


class _Walk:
    """What one walk through the folder finds, before anything is opened.

    Args:
        known: the files of the last scan, by the path of their entry.
    """

    def __init__(self, known: Mapping[str, MemoryFile]) -> None:
        self.unchanged: dict[str, MemoryFile] = {}
        self.changed: list[_Found] = []
        self.links: list[_Found] = []
        self.folders: list[tuple[str, str]] = []
        self.problems: list[str] = []
        self._known = known

    def take(self, infos: Iterable[FileInfo], prefix: str) -> None:
        """Sort out the entries of a folder; `prefix` stands before their names when they are shown."""
        known, unchanged = self._known, self.unchanged
        for info in infos:
            # First of all, and in few steps: of twenty thousand files hardly one has changed.
            path = info.path
            file = known.get(path)
            if file is not None and file.version == info.version and file.path == path and not info.is_link:
                unchanged[path] = file
            elif info.name.startswith("."):
                continue
            elif info.is_link:
                self.links.append(_Found(info, prefix + info.name, ""))
            elif info.is_dir:
                self.folders.append((path, f"{prefix}{info.name}/"))
            elif _is_topic(info.name):
                self.changed.append(_Found(info, prefix + info.name, path))


class MemoryFolder:
    """The folder `memory_dir` in `workdir`, which need not exist.

    Args:
        workdir: as the user gave it: relative, with `~`, or through links.
        memory_dir: relative to `workdir`, or absolute.
        backend: where it is.
    """

    def __init__(self, workdir: str | os.PathLike[str], memory_dir: str, backend: BackendBase) -> None:
        self.backend = backend
        self._absolute = backend.absolute(os.path.join(os.fspath(workdir), memory_dir))
        self._headers: dict[str, MemoryFile] = {}
        self._last = Scan()
        self._index: tuple[str, IndexFile] | None = None

    async def root(self) -> str:
        """The folder's absolute path with every link resolved: the one path that is told, read and shown."""
        try:
            return await self.backend.resolve(self._absolute)
        except OSError:
            return self._absolute

    async def index_path(self) -> str:
        """The absolute path of MEMORY.md."""
        return _join(await self.root(), INDEX_NAME)

    async def scan(self) -> Scan:
        """List the topic files. Costs a directory listing and the reading of what has changed; never fails."""
        root = await self.root()
        walk = await self._walk(root)
        outside = await self._follow(walk, root) if walk.links else []
        if walk.changed or outside or len(walk.unchanged) != len(self._last.files):
            headers = walk.unchanged | await self._describe(walk.changed)
            files = await asyncio.to_thread(_arranged, [*headers.values(), *outside])
            # Both at once: what another scan has found meanwhile must not be taken for the files of this one.
            self._headers, self._last = headers, Scan(files)
        return self._last._replace(problems=tuple(walk.problems), headers_read=len(walk.changed))

    async def read(self, path: str) -> Decoded:
        """The text of a file of the folder, its first `READ_LIMIT` bytes at most.

        Raises:
            OSError: it cannot be read; a `PermissionError` when it lies outside.
        """
        inside = await self.locate(path)
        if inside is None:
            raise PermissionError(f"{path} lies outside the memory folder")
        return await self._read(inside)

    async def read_listed(self, file: MemoryFile) -> Decoded:
        """The text of a file that a scan has listed: `read` without looking again where it lies.

        A link that has taken its place since is not followed.

        Raises:
            OSError: it cannot be read.
        """
        return await self._read(file.path)

    async def _read(self, resolved: str) -> Decoded:
        data = await self.backend.read_file(resolved, limit=READ_LIMIT + 1, follow=False)
        is_whole = len(data) <= READ_LIMIT
        text, badges = decode(data[:READ_LIMIT], is_whole=is_whole)
        return Decoded(text, badges if is_whole else (*badges, TOO_LARGE))

    async def read_index(self) -> IndexFile:
        """MEMORY.md; opened only when it has changed. Never fails."""
        root = await self.root()
        path = _join(root, INDEX_NAME)
        try:
            inside = await self._inside(root, path)
            if inside is None:
                return IndexFile(path, found=True, badge=OUTSIDE)
            info = await self.backend.stat(inside)
            if info is None or info.is_dir:
                return IndexFile(path, found=False)
            if self._index is None or self._index[0] != info.version or self._index[1].path != path:
                text, badges = await self.read(inside)
                self._index = info.version, IndexFile(path, found=True, text=text, badge=", ".join(badges))
        except FileNotFoundError:
            return IndexFile(path, found=False)
        except OSError as error:
            return IndexFile(path, found=True, badge=f"{UNREADABLE}: {error.strerror or error}")
        return self._index[1]

    async def locate(self, path: str) -> str | None:
        """`path`, absolute or relative to the folder, with links resolved; None when it lies outside."""
        return (await self.locate_all([path]))[path]

    async def locate_all(self, paths: Iterable[str]) -> dict[str, str | None]:
        """`locate` for many paths, by path; each is looked at once, and the folder itself once for all of them."""
        root = await self.root()
        located: dict[str, str | None] = {}
        for path in dict.fromkeys(paths):
            try:
                located[path] = await self._inside(root, path)
            except (OSError, ValueError):
                located[path] = None
        return located

    async def _inside(self, root: str, path: str) -> str | None:
        resolved = await self.backend.resolve(os.path.join(root, path))
        return resolved if self.backend.contains(root, resolved) else None

    async def _walk(self, root: str) -> _Walk:
        walk = _Walk(self._headers)
        walk.folders.append((root, ""))
        while walk.folders:
            path, prefix = walk.folders.pop()
            walk.take(await self._list(path, prefix, walk), prefix)
        return walk

    async def _list(self, path: str, prefix: str, walk: _Walk) -> Sequence[FileInfo]:
        try:
            return await self.backend.list_dir(path)
        except FileNotFoundError:
            # Not made yet, or gone while we looked: an empty folder either way.
            return ()
        except OSError as error:
            walk.problems.append(f"{prefix or path} cannot be listed: {error.strerror or error}")
            return ()

    async def _follow(self, walk: _Walk, root: str) -> list[MemoryFile]:
        """Add what links inside lead to, unless it is listed already; return what leads outside.

        A link to a folder inside needs no following: the folder itself has been walked.
        """
        seen = {*walk.unchanged, *(found.path for found in walk.changed), _join(root, INDEX_NAME)}
        outside: list[MemoryFile] = []
        for info, relative, _ in walk.links:
            path = await self.locate(info.path)
            if path is None:
                if info.is_dir or _is_topic(info.name):
                    outside.append(refused(info, relative, info.path, OUTSIDE))
            elif not info.is_dir and _is_topic(info.name) and path not in seen:
                seen.add(path)
                known = self._headers.get(info.path)
                if known is not None and known.version == info.version and known.path == path:
                    walk.unchanged[info.path] = known
                else:
                    walk.changed.append(_Found(info, relative, path))
        return outside

    async def _describe(self, files: Sequence[_Found]) -> dict[str, MemoryFile]:
        """Open files for their headers, a few at a time."""
        described: list[MemoryFile] = []
        for start in range(0, len(files), _READ_AT_ONCE):
            batch = files[start : start + _READ_AT_ONCE]
            described += await asyncio.gather(*map(self._describe_one, batch))
        return {found.info.path: file for found, file in zip(files, described, strict=True)}

    async def _describe_one(self, found: _Found) -> MemoryFile:
        info, relative, path = found
        try:
            start = await self.backend.read_file(path, limit=HEADER_LIMIT, follow=False)
        except OSError:
            # Without a version it is tried again next time.
            return refused(info, relative, path, UNREADABLE)
        return describe(info, relative, path, start)


def _arranged(files: list[MemoryFile]) -> tuple[MemoryFile, ...]:
    return tuple(badge_duplicates(sorted(files, key=lambda file: (-file.modified, file.relative))))


def _is_topic(name: str) -> bool:
    return name[-3:].lower() == ".md" and name != INDEX_NAME


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"
