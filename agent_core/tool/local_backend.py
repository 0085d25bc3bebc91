"""`LocalBackend`: the files of this machine. Everything that may block runs beside the event loop."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import ParamSpec, TypeVar

from agent_core import paths
from agent_core.tool import local_files
from agent_core.tool.backend import BackendBase, FileInfo, Guarantees
from agent_core.tool.file_lock import file_lock
from agent_core.tool.in_thread import in_thread

P = ParamSpec("P")
R = TypeVar("R")
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class LocalBackend(BackendBase):
    """Files on this machine: atomic replacement, locks between processes, links.

    A write keeps mode and owner of the file, survives a power cut whole, leaves nothing behind when it fails, and is
    refused for what is no regular file or has been made read-only. Through a hard link only the name that was given
    changes.
    """

    name = "local"
    guarantees = Guarantees(atomic_replace=True, lock=True, links=True)

    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        """See `BackendBase`. FIFOs and devices are refused, and not waited for."""
        return await _run(path, local_files.read_file, path, limit, follow)

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        """See `BackendBase`."""
        await _run(path, _write, path, data, follow)

    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        """See `BackendBase`."""
        await _run(path, os.unlink if follow else local_files.remove_file, path)

    async def remove_folder(self, path: str) -> None:
        """See `BackendBase`."""
        await _run(path, local_files.remove_folder, path)

    async def stat(self, path: str) -> FileInfo | None:
        """See `BackendBase`."""
        return await _run(path, _stat, path)

    async def list_dir(self, path: str) -> Sequence[FileInfo]:
        """See `BackendBase`."""
        return await _run(path, _list, path)

    async def resolve(self, path: str) -> str:
        """See `BackendBase`. Relative paths are taken from the process's working directory."""
        return await _run(path, local_files.resolve, path)

    def absolute(self, path: str) -> str:
        """See `BackendBase`."""
        return os.path.abspath(local_files.expand(path))

    @asynccontextmanager
    async def lock(self, path: str) -> AsyncIterator[None]:
        """See `BackendBase`. The lock ends with the process, however that ends."""
        async with file_lock(await self.resolve(path)):
            yield

    def contains(self, folder: str, path: str) -> bool:
        """See `BackendBase`; by the case rules of this platform."""
        return paths.is_inside(folder, path)


async def _run(path: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    try:
        return await in_thread(function, *args, **kwargs)
    except OSError as error:
        if error.errno is None or error.filename == path:
            raise
        # The name in the error is that of a folder or temporary file on the way; people know the path they gave.
        raise OSError(error.errno, error.strerror, path) from error
    except ValueError as error:
        # A NUL or a lone surrogate: there can be no such file.
        raise OSError(errno.EINVAL, "no file can have this name", path) from error


def _write(path: str, data: bytes, follow: bool) -> None:
    local_files.replace_file(local_files.resolve(path) if follow else path, data)


def _stat(path: str) -> FileInfo | None:
    try:
        return _info(os.path.basename(path), path, os.stat(path), os.path.islink(path))
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise


def _list(path: str) -> list[FileInfo]:
    found = []
    before = os.path.join(path, "")
    with _open_listing(path) as entries:
        for entry in entries:
            try:
                found.append(_info(entry.name, before + entry.name, entry.stat(), entry.is_symlink()))
            except OSError:
                # A link that leads nowhere or in a circle, or a file that has just gone.
                continue
    return found


@contextmanager
def _open_listing(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder. Through its handle where that can be: each is then found without walking the path."""
    if os.scandir not in os.supports_fd:
        with os.scandir(path) as entries:
            yield entries
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(handle) as entries:
            yield entries
    finally:
        os.close(handle)


def _info(name: str, path: str, found: os.stat_result, is_link: bool) -> FileInfo:
    return FileInfo(
        name,
        path,
        found.st_size,
        found.st_mtime,
        stat.S_ISDIR(found.st_mode),
        # The inode tells apart two versions of one size that were written within the clock's grain.
        f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}",
        is_link,
    )
