"""`BackendBase`: the file system that tools and the memory work on, wherever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from msgspec import Struct


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


class BackendBase(ABC):
    """Files by absolute path, as bytes.

    Errors are the built-in ones (`FileNotFoundError`, `IsADirectoryError`, `PermissionError`, other `OSError`), so that
    callers need not know which back end they have.

    Attributes:
        name: tells back ends apart in records and on the screen, for example `local`.
    """

    name: str

    @abstractmethod
    async def read_file(self, path: str, *, limit: int | None = None) -> bytes:
        """The file's bytes; with `limit`, at most so many from its start."""

    @abstractmethod
    async def write_file(self, path: str, data: bytes) -> None:
        """Replace the file's content as a whole: afterwards it holds all of `data`, or on error what it held before.

        Missing parent folders are made.
        """

    @abstractmethod
    async def delete_file(self, path: str) -> None:
        """Remove a file."""

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

    def contains(self, folder: str, path: str) -> bool:
        """Whether `path` is `folder` or inside it; both must be resolved."""
        return path == folder or path.startswith(folder.rstrip("/") + "/")
