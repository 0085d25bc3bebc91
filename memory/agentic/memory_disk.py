"""`MemoryDisk`: the bytes of a memory folder, changed only where they are what they were thought to be."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from agent_core.errors import StorageError
from agent_core.paths import one_line
from agent_core.tool.diff import unified_diff
from memory.agentic.blobs import LARGEST
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import path_in, relative_to


class MemoryConflict(StorageError):
    """A file is not as it was when it was read, so nothing was written.

    Attributes:
        diff: from what was read to what is there now, as a unified diff.
    """

    def __init__(self, message: str, diff: str) -> None:
        super().__init__(message)
        self.diff = diff

    @classmethod
    async def about(cls, relative: str, expected: bytes | None, present: bytes | None) -> MemoryConflict:
        """The conflict of a file that was expected to hold something else."""
        diff = await asyncio.to_thread(unified_diff, expected, present, relative)
        if expected is None:
            what = "exists already"
        else:
            what = "is gone since it was read" if present is None else "has changed since it was read"
        return cls(f"{one_line(relative)} {what}: nothing was written.", diff)


class Step(NamedTuple):
    """One file before and after; None where there is none."""

    relative: str
    before: bytes | None
    after: bytes | None


class MemoryDisk:
    """Reads and writes the files of a memory folder by their paths from it, and no others.

    Everything may raise `StorageError`.

    Args:
        folder: the memory folder.
    """

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder = folder
        self._backend = folder.backend

    async def relative(self, path: str) -> str:
        """The path from the memory folder of a file given in any way, links resolved."""
        root = await self._folder.root()
        located = await self._folder.locate(path)
        if located is None or located == root:
            raise StorageError(f"{one_line(path)} lies outside the memory folder.")
        return relative_to(root, located)

    async def read(self, relative: str) -> bytes | None:
        """All of a file; None when there is none."""
        path = await self._path(relative)
        with _told("read", relative):
            try:
                data = await self._backend.read_file(path, limit=LARGEST + 1, follow=False)
            except FileNotFoundError:
                return None
        if len(data) > LARGEST:
            raise StorageError(f"{one_line(relative)} is larger than {LARGEST // 2**20} MiB: too large to be changed.")
        return data

    async def link(self, path: str) -> str | None:
        """The path from the memory folder of a link in it, wherever that leads; None when `path` names no link."""
        folder, name = os.path.split(path)
        parent = await self._folder.locate(folder)
        if parent is None or name in ("", os.curdir, os.pardir):
            return None
        entry = path_in(parent, name)
        try:
            is_link = await self._backend.resolve(entry) != entry
        except OSError:
            is_link = True
        return relative_to(await self._folder.root(), entry) if is_link else None

    async def remove_link(self, relative: str) -> None:
        """Remove a link, and nothing that it leads to."""
        with _told("removed", relative):
            await self._backend.delete_file(path_in(await self._folder.root(), relative), follow=False)

    async def is_there(self, relative: str) -> bool:
        """Whether there is such a file, be it readable or not."""
        path = await self._path(relative)
        with _told("read", relative):
            return await self._backend.stat(path) is not None

    async def beginning(self, relative: str) -> bytes:
        """What a file holds, of one that is too large to be changed the beginning; nothing where it cannot be read."""
        path = await self._path(relative)
        try:
            return await self._backend.read_file(path, limit=LARGEST, follow=False)
        except OSError:
            return b""

    async def remove(self, relative: str) -> None:
        """Remove a file, whatever it holds and whether or not it can be read. It need not be there."""
        path = await self._path(relative)
        with _told("deleted", relative), suppress(FileNotFoundError):
            await self._backend.delete_file(path, follow=False)

    async def missing_folders(self, paths: Iterable[str]) -> list[str]:
        """The folders, from the memory folder, that must be made for files to be there; the outer ones first."""
        root = await self._folder.root()
        names = [path.split("/")[:-1] for path in paths]
        folders = dict.fromkeys("/".join(parts[: end + 1]) for parts in names for end in range(len(parts)))
        missing = []
        for folder in folders:
            with _told("read", folder):
                if await self._backend.stat(path_in(root, folder)) is None:
                    missing.append(folder)
        return missing

    async def remove_empty(self, folders: Sequence[str]) -> None:
        """Remove those of some folders, given as `missing_folders` gives them, that hold nothing now."""
        root = await self._folder.root()
        for folder in reversed(folders):
            with suppress(OSError):
                await self._backend.remove_folder(path_in(root, folder))

    async def carry_out(self, steps: Sequence[Step]) -> None:
        """Make the changes in order, all of them or none.

        Raises:
            MemoryConflict: a file is not what `before` says.
        """
        for step in steps:
            await self._require(step)
        begun = 0
        try:
            for step in steps:
                begun += 1
                await self._replace(step)
        except BaseException:
            # The last one too: a write that is cancelled goes on to its end.
            for step in reversed(steps[:begun]):
                with suppress(StorageError):
                    await self._replace(Step(step.relative, step.after, step.before))
            raise

    async def _replace(self, step: Step) -> None:
        path = await self._path(step.relative)
        with _told("written", step.relative):
            async with self._backend.lock(path):
                # Once more: a back end may have no locks, and an editor asks for none.
                await self._require(step)
                # Resolved anew, since a link may have taken the place of a folder; written without following any.
                path = await self._path(step.relative)
                if step.after is None:
                    await self._backend.delete_file(path, follow=False)
                else:
                    await self._backend.write_file(path, step.after, follow=False)

    async def _require(self, step: Step) -> None:
        present = await self.read(step.relative)
        if present != step.before:
            raise await MemoryConflict.about(step.relative, step.before, present)

    async def _path(self, relative: str) -> str:
        path = path_in(await self._folder.root(), relative)
        with _told("read", relative):
            located = await self._backend.resolve(path)
        if located != path:
            raise StorageError(f"{one_line(relative)} leads elsewhere through a link: nothing was read or written.")
        return path


@contextmanager
def _told(done: str, relative: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{one_line(relative)} cannot be {done}: {error.strerror or error}.") from error
