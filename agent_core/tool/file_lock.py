"""A lock on a file between processes, for read, change and write as one step.

The lock is held on a small file of its own beside the file, since the file itself is replaced by every write. It is
the operating system's lock and ends with the process, so none is ever stale. Whoever lets go removes the small file;
one who was waiting on the removed file notices that and starts again.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from agent_core.tool.in_thread import in_thread
from agent_core.tool.local_files import NO_FOLLOW, open_folder

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        # Far behind the end, since Windows keeps others from reading what is locked.
        os.lseek(handle, 1 << 40, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


WAIT = 10.0
"""Seconds to wait for somebody else to let go."""
_HELD = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_UNSUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP)


def try_lock(handle: int) -> bool:
    """Lock an open file without waiting, until it is closed. False when somebody else holds it.

    Raises:
        OSError: it cannot be locked for another reason than that; a disk without locks keeps nobody away.
    """
    try:
        _lock(handle)
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno not in _UNSUPPORTED:
            raise
    return True


@asynccontextmanager
async def file_lock(path: str, wait: float = WAIT) -> AsyncIterator[None]:
    """Hold the lock of the file at a resolved path; the file need not exist, missing folders are made.

    Not reentrant: whoever holds it and asks again waits for themselves. Where the disk has no locks, nobody is kept
    away.

    Raises:
        TimeoutError: somebody else held it all the while.
        OSError: the folder cannot be made or written in.
    """
    lock = _SideLock(path)
    deadline = asyncio.get_running_loop().time() + wait
    try:
        while not await _try_acquire(lock, path):
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, f"another program has kept it locked for {wait:g} seconds", path)
            await asyncio.sleep(random.uniform(0.002, 0.02))
        yield
    finally:
        await in_thread(lock.release)


async def _try_acquire(lock: _SideLock, path: str) -> bool:
    try:
        return await in_thread(lock.try_acquire)
    except OSError as error:
        # People know the file that was to be locked, not the one beside it.
        raise OSError(error.errno, error.strerror, path) from error


class _SideLock:
    def __init__(self, path: str) -> None:
        self._folder, name = os.path.split(path)
        # A hash, because a file's name may already be as long as names may be.
        self._name = f".{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}.lock"
        self._folder_handle: int | None = None
        self._handle: int | None = None

    @property
    def _path(self) -> str:
        return self._name if self._folder_handle is not None else os.path.join(self._folder, self._name)

    def try_acquire(self) -> bool:
        if self._folder_handle is None:
            self._folder_handle = open_folder(self._folder, create=True)
        access = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY
        handle = os.open(self._path, access | os.O_CREAT | NO_FOLLOW, 0o666, dir_fd=self._folder_handle)
        try:
            if try_lock(handle) and self._still_names(handle):
                self._handle = handle
        finally:
            if self._handle is None:
                os.close(handle)
        return self._handle is not None

    def _still_names(self, handle: int) -> bool:
        """Whether the file that was locked is still the one beside the file, not one that was removed meanwhile."""
        try:
            now = os.stat(self._path, dir_fd=self._folder_handle, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(now, os.fstat(handle))

    def release(self) -> None:
        if self._handle is not None:
            # Windows removes no file that is open; there it stays, empty and harmless.
            with suppress(OSError):
                os.unlink(self._path, dir_fd=self._folder_handle)
            os.close(self._handle)
        if self._folder_handle is not None:
            os.close(self._folder_handle)
