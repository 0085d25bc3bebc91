"""`PlainFiles`: the files of any fsspec file system, taken as one that has no links."""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import secrets
import threading
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent_core.tool.backend import FileInfo
from agent_core.tool.remote_files import fail, not_found, require_file

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_TIMES = ("LastModified", "mtime", "last_modified", "updated", "modified", "created")
_TAGS = ("ETag", "etag", "md5Hash", "content_hash", "crc32c", "generation", "ino")
COARSE_SECONDS = 10.0
"""How long a file counts as just written where clocks tell whole seconds: two versions of it may look alike then."""
_MOST_HASHED = 16 * 2**20


class PlainFiles:
    """The blocking side of `FsspecBackend`; see `RemoteFiles`.

    Args:
        filesystem: where the files are.
        replaces: `pipe_file` puts a whole file in the place of another in one step. Otherwise the new content is
            written beside the file and moved over it.
    """

    def __init__(self, filesystem: AbstractFileSystem, replaces: bool) -> None:
        self._fs = filesystem
        self._replaces = replaces
        # Only the asynchronous ones are made for use by several threads.
        self._turn: AbstractContextManager[Any] = nullcontext() if filesystem.async_impl else threading.Lock()

    def read(self, path: str, limit: int | None, follow: bool) -> bytes:
        """See `RemoteFiles`."""
        with self._turn:
            size = self._require_file(path)["size"]
            # Asking for a range of an empty file is an error to some servers.
            if limit == 0 or size == 0:
                return b""
            data: bytes = self._fs.cat_file(self._inner(path), **({} if limit is None else {"start": 0, "end": limit}))
            return data

    def write(self, path: str, data: bytes, follow: bool) -> None:
        """See `RemoteFiles`."""
        with self._turn:
            old = self._find(path)
            if old is not None:
                require_file(old["type"], path)
            self._require_folder_above(path)
            if self._replaces:
                self._fs.pipe_file(self._inner(path), data)
            else:
                self._write_beside(path, data)

    def delete(self, path: str, follow: bool) -> None:
        """See `RemoteFiles`."""
        with self._turn:
            self._require_file(path)
            self._fs.rm_file(self._inner(path))

    def remove_folder(self, path: str) -> None:
        """See `RemoteFiles`. In object stores a folder is no more than the beginning of names, and goes by itself."""
        if self._fs.root_marker != "/" or self.stat(path) is None:
            return
        if self.entries(path):
            fail(os.strerror(errno.ENOTEMPTY), path, errno.ENOTEMPTY)
        with self._turn:
            self._fs.rmdir(self._inner(path))

    def stat(self, path: str) -> FileInfo | None:
        """See `RemoteFiles`."""
        with self._turn:
            found = self._find(path)
            return self._info(path, found) if found is not None else None

    def entries(self, path: str) -> list[FileInfo]:
        """See `RemoteFiles`."""
        with self._turn:
            inner = self._inner(path)
            self._fs.invalidate_cache(inner)
            entries = self._fs.ls(inner, detail=True)
            names = [entry["name"].rstrip("/").rpartition("/")[2] for entry in entries]
            if [entry["name"].strip("/") for entry in entries] == [inner.strip("/")] and entries[0]["type"] == "file":
                fail(os.strerror(errno.ENOTDIR), path, errno.ENOTDIR)
            return [
                self._info(posixpath.join(path, name), entry)
                for name, entry in zip(names, entries, strict=True)
                # Object stores may have an empty object that stands for the folder itself.
                if name and entry["name"].strip("/") != inner.strip("/")
            ]

    def resolve(self, path: str) -> str:
        """See `RemoteFiles`. There is no home folder."""
        if path.startswith("~"):
            fail("no home folder is known there", path, errno.ENOENT)
        return posixpath.normpath(f"/{path.lstrip('/')}")

    def close(self) -> None:
        """See `RemoteFiles`."""
        closing = getattr(self._fs, "close_session", None)
        session = getattr(self._fs, "_s3creator", None)
        if closing is not None and session is not None:
            with suppress(Exception):
                closing(self._fs.loop, session)

    def _find(self, path: str) -> dict[str, Any] | None:
        inner = self._inner(path)
        self._fs.invalidate_cache(posixpath.dirname(inner))
        try:
            found: dict[str, Any] = self._fs.info(inner)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found

    def _require_file(self, path: str) -> dict[str, Any]:
        found = self._find(path)
        if found is None:
            not_found(path)
        require_file(found["type"], path)
        return found

    def _require_folder_above(self, path: str) -> None:
        """Make the folders of a path; where a file stands in the way, nothing is written below it."""
        folder = posixpath.dirname(path)
        while folder != "/":
            found = self._find(folder)
            if found is not None and found["type"] != "directory":
                fail(os.strerror(errno.ENOTDIR), path, errno.ENOTDIR)
            if found is not None:
                break
            folder = posixpath.dirname(folder)
        if not self._replaces:
            self._fs.makedirs(self._inner(posixpath.dirname(path)), exist_ok=True)

    def _write_beside(self, path: str, data: bytes) -> None:
        temporary = self._inner(posixpath.join(posixpath.dirname(path), f".{secrets.token_hex(8)}.tmp"))
        try:
            self._fs.pipe_file(temporary, data)
            if self._fs.info(temporary)["size"] != len(data):
                fail("not all of it was written", path)
            self._move(temporary, self._inner(path))
        except BaseException:
            with suppress(Exception):
                self._fs.rm_file(temporary)
            raise

    def _move(self, source: str, target: str) -> None:
        # `mv` would take stars and brackets in a name for a pattern.
        self._fs.cp_file(source, target)
        self._fs.rm_file(source)

    def _inner(self, path: str) -> str:
        """The path as the file system has it: object stores have no slash in front.

        Raises:
            ValueError: it cannot be written in UTF-8.
        """
        path.encode()
        return path if self._fs.root_marker == "/" else path.lstrip("/")

    def _info(self, path: str, found: dict[str, Any]) -> FileInfo:
        is_dir = found["type"] == "directory"
        modified = next((_seconds(found[name]) for name in _TIMES if found.get(name)), 0.0)
        tag = next((str(found[name]).strip('"') for name in _TAGS if found.get(name)), "")
        size = int(found.get("size") or 0)
        if not tag and not is_dir and is_coarse(modified) and size <= _MOST_HASHED:
            tag = digest(self._fs.cat_file(self._inner(path)))
        version = f"{tag}-{modified!r}-{size}"
        return FileInfo(posixpath.basename(path), path, size, modified, is_dir, version, found["type"] == "link")


def is_coarse(modified: float) -> bool:
    """Whether a file may have been written twice with the same time: its clock ticks seconds, and it is new."""
    return modified == int(modified) and modified > time.time() - COARSE_SECONDS


def digest(data: bytes) -> str:
    """Tells contents apart."""
    return hashlib.sha256(data).hexdigest()[:16]


def _seconds(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        with suppress(ValueError):
            return datetime.fromisoformat(value).timestamp()
        return 0.0
    return float(value)
