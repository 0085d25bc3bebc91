"""`BackendBase`: the file system that tools and the memory work on, wherever it is."""

from __future__ import annotations

import asyncio
import errno
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from msgspec import Struct

LOCK_WAIT = 10.0
"""Seconds to wait for somebody else to let go of a file."""


class FileInfo(Struct, frozen=True):
    """What a directory listing or a stat knows of one file. `modified` is in seconds since the epoch.

    `version` changes whenever the content may have changed (on local disks: mtime in nanoseconds and size). `is_link`
    tells that the entry itself is a link, all else being that of its target; with it, a listing is enough to know which
    entries must be resolved before they are trusted.
    """

    name: str
    path: str
    size: int
    modified: float
    is_dir: bool
    version: str
    is_link: bool = False


class Guarantees(Struct, frozen=True, kw_only=True):
    """What a back end promises beyond what every one does. Nothing is promised unless it is said.

    Args:
        atomic_replace: whoever reads during a write gets all of the old content or all of the new one, and a write that
            fails or is cut off leaves the old one.
        lock: `lock` keeps other processes away too, not only others in this one.
        links: there are none, or they are refused in the same step that opens a file, so that none can be swapped in.
        exec: programs can be run where the files are, by the back end's own `exec`.
    """

    atomic_replace: bool = False
    lock: bool = False
    links: bool = False
    exec: bool = False

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is missing for files to be safe, a few words for people each; none when nothing is."""
        gaps = {
            "a write that breaks off may leave half a file": self.atomic_replace,
            "other programs are not kept away, so each file is compared before it is written": self.lock,
            "a link swapped in at the moment of a write would be followed": self.links,
        }
        return tuple(gap for gap, is_closed in gaps.items() if not is_closed)


class BackendBase(ABC):
    """Files by absolute path, as bytes.

    Errors are the built-in ones (`FileNotFoundError`, `IsADirectoryError`, `PermissionError`, other `OSError`), so that
    callers need not know which back end they have.

    Reading, writing and removing take `follow`. A caller that has resolved and checked a path passes `follow=False`:
    links are then not followed but refused, so that none can be swapped in after the check.

    Attributes:
        name: tells back ends apart in records and on the screen, for example `local`.
        guarantees: what it promises. Whoever changes files makes up for what is missing.
    """

    name: str
    guarantees: Guarantees = Guarantees()
    _turns: WeakValueDictionary[str, asyncio.Lock] | None = None

    @abstractmethod
    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        """The file's bytes; with `limit`, at most so many from its start. What is no regular file is refused."""

    @abstractmethod
    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        """Replace the file's content as a whole: afterwards it holds all of `data`, or on error what it held before.

        Missing parent folders are made. A link stays one: the file that it leads to is written.
        """

    @abstractmethod
    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        """Remove a file; of a link, the link. `follow` is about the folders on the way."""

    @abstractmethod
    async def stat(self, path: str) -> FileInfo | None:
        """What is known of a path, links followed; None when there is nothing."""

    @abstractmethod
    async def list_dir(self, path: str) -> Sequence[FileInfo]:
        """The entries of a directory, unsorted; links that lead nowhere are left out."""

    @abstractmethod
    async def resolve(self, path: str) -> str:
        """The absolute path with every link resolved; works for files that do not exist yet.

        Raises:
            OSError: links form a loop.
        """

    @abstractmethod
    def absolute(self, path: str) -> str:
        """`path` made absolute and tidied, `~` expanded, links left alone."""

    @asynccontextmanager
    async def lock(self, path: str) -> AsyncIterator[None]:
        """Keep others from changing the file between reading it and writing it back, other processes included.

        Not reentrant. Only those who ask for the lock are kept away. This default is for back ends that have no locks:
        it keeps away only those who use this very object, and what is written must be compared with what was read.

        Raises:
            TimeoutError: somebody else did not let go of it in time.
        """
        if self._turns is None:
            self._turns = WeakValueDictionary()
        turn = self._turns.setdefault(path, asyncio.Lock())
        try:
            await asyncio.wait_for(turn.acquire(), LOCK_WAIT)
        except TimeoutError:
            raise TimeoutError(errno.ETIMEDOUT, f"it has been kept locked for {LOCK_WAIT:g} seconds", path) from None
        try:
            yield
        finally:
            turn.release()

    async def remove_folder(self, path: str) -> None:
        """Remove a folder that holds nothing, following no link; one that holds something is an error.

        By default nothing is done, for back ends where a folder is there only as long as something is in it.
        """
        return

    async def aclose(self) -> None:
        """Let go of connections; what is asked for afterwards makes new ones. Nothing to do by default."""
        return

    def contains(self, folder: str, path: str) -> bool:
        """Whether `path` is `folder` or inside it; both must be resolved."""
        return path == folder or path.startswith(folder.rstrip("/") + "/")
