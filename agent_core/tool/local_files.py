"""The blocking side of `LocalBackend`: links resolved, folders opened without following any, files replaced whole."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ANY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
NO_FOLLOW = _ANY | getattr(os, "O_NOFOLLOW", 0)
"""Flags to open a file that is not a link. They also keep the handle from child processes, and bytes as they are, and
wait for nobody where a FIFO has taken the file's place."""

_WALK = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | NO_FOLLOW
_HAS_FOLDER_HANDLES = os.open in os.supports_dir_fd
_PIECE = 1 << 20
_NOT_REGULAR = "not a regular file"
_NO_DEVICE = (errno.ENXIO, errno.ENODEV)
"""What opening a socket, or a FIFO that nobody reads, fails with."""
_LONGEST_PATH = 4096 if os.name == "posix" else 32_767
"""Characters: no system takes more, and resolving costs their square."""


def expand(path: str) -> str:
    """`path` with a `~` at its start expanded.

    Raises:
        FileNotFoundError: the path is empty, or nobody knows that home folder. Both would end up in the process's
            working directory otherwise.
    """
    expanded = os.path.expanduser(path)
    if not path or (path.startswith("~") and expanded == path):
        reason = "the home folder is not known" if path else "an empty path names no file"
        raise FileNotFoundError(errno.ENOENT, reason, path)
    return expanded


def resolve(path: str) -> str:
    """The absolute path with `~` expanded and every link resolved, whether or not there is a file.

    Raises:
        OSError: links form a loop, or the path is longer than any can be, or see `expand`.
    """
    if len(path) > _LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
    resolved = os.path.realpath(expand(path))
    # `realpath` gives up on a loop silently and leaves the link in.
    ancestor = resolved
    while ancestor != (parent := os.path.dirname(ancestor)):
        if os.path.islink(ancestor):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        ancestor = parent
    return resolved


def open_folder(folder: str, *, create: bool = False) -> int | None:
    """Open a resolved folder one name at a time, following no link, and return its handle; the caller closes it.

    Whatever happens to the path afterwards, the handle stays with the folder that was checked. None where the system
    has no such handles; paths are used there.
    """
    if not _HAS_FOLDER_HANDLES:
        if create:
            os.makedirs(folder, exist_ok=True)
        return None
    handle = os.open(os.sep, _WALK)
    try:
        for name in filter(None, folder.split(os.sep)):
            inner = _step_into(handle, name, create)
            os.close(handle)
            handle = inner
    except BaseException:
        os.close(handle)
        raise
    return handle


def _step_into(handle: int, name: str, create: bool) -> int:
    try:
        return os.open(name, _WALK, dir_fd=handle)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=handle)
    return os.open(name, _WALK, dir_fd=handle)


@contextmanager
def folder_of(path: str, *, create: bool = False) -> Iterator[tuple[int | None, str]]:
    """Open the folder of a resolved path; gives its handle and what to put before names to use with the handle."""
    folder = os.path.dirname(path)
    handle = open_folder(folder, create=create)
    try:
        yield handle, "" if handle is not None else folder + os.sep
    finally:
        if handle is not None:
            os.close(handle)


def read_file(path: str, limit: int | None, follow: bool) -> bytes:
    """The bytes of a regular file, at most `limit` of them; see `BackendBase.read_file`."""
    handle = open_regular(path, follow=follow)
    pieces: list[bytes] = []
    left = limit
    try:
        while left is None or left > 0:
            piece = os.read(handle, _PIECE if left is None else min(left, _PIECE))
            if not piece:
                break
            pieces.append(piece)
            left = None if left is None else left - len(piece)
    finally:
        os.close(handle)
    return b"".join(pieces)


def open_regular(path: str, flags: int = os.O_RDONLY, *, follow: bool = True) -> int:
    """Open a regular file, and nothing that may have taken its place, such as a FIFO; the caller closes the handle.

    An opener for `open`, too. What it makes is open to its owner only. Where `follow` is false the path is resolved.

    Raises:
        OSError: there is none, or it is something else, which is not waited for.
    """
    try:
        if follow:
            handle = os.open(path, flags | _ANY, 0o600)
        else:
            with folder_of(path) as (folder, before):
                handle = os.open(
                    before + (os.path.basename(path) or os.curdir), flags | NO_FOLLOW, 0o600, dir_fd=folder
                )
    except OSError as error:
        if error.errno in _NO_DEVICE:
            raise OSError(errno.EINVAL, _NOT_REGULAR, path) from error
        raise
    try:
        _require_regular(os.fstat(handle), path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def replace_file(path: str, data: bytes) -> None:
    """Replace the file at a resolved path by one that holds `data`, all or nothing; follows no link.

    The new content is on the disk before it takes the old one's place. Mode and owner stay. Another name of the same
    file (a hard link) keeps the old content, so that nothing outside the folder can be changed through one.
    """
    with folder_of(path, create=True) as (folder, before):
        target = before + os.path.basename(path)
        temporary = f"{before}.{secrets.token_hex(8)}.tmp"
        old = _to_be_replaced(target, folder, path)
        try:
            _write_new(temporary, data, old, folder)
            os.replace(temporary, target, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        _sync_folder(folder)


def remove_file(path: str) -> None:
    """Remove the entry at a path whose folder is resolved, be it a file or a link; follows no link."""
    with folder_of(path) as (folder, before):
        os.unlink(before + os.path.basename(path), dir_fd=folder)


def remove_folder(path: str) -> None:
    """Remove an empty folder at a resolved path; follows no link."""
    with folder_of(path) as (folder, before):
        os.rmdir(before + os.path.basename(path), dir_fd=folder)


def _to_be_replaced(target: str, folder: int | None, path: str) -> os.stat_result | None:
    try:
        old = os.stat(target or os.curdir, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _require_regular(old, path)
    # Replacing needs rights on the folder only; a file that was made read-only must stay as it is.
    if not os.access(target, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    return old


def _write_new(temporary: str, data: bytes, old: os.stat_result | None, folder: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
    handle = os.open(temporary, flags, 0o666 if old is None else 0o600, dir_fd=folder)
    try:
        if old is not None:
            _keep_owner_and_mode(handle, old)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _keep_owner_and_mode(handle: int, old: os.stat_result) -> None:
    if not hasattr(os, "fchown"):
        return
    with suppress(PermissionError):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: int | None) -> None:
    """Have the new name on the disk too. The file has been replaced by now, so failing here must not say otherwise."""
    if folder is None:
        return
    with suppress(OSError):
        readable = os.open(os.curdir, os.O_RDONLY | NO_FOLLOW, dir_fd=folder)
        try:
            os.fsync(readable)
        finally:
            os.close(readable)


def _require_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "a link has taken the place of the file", path)
    raise OSError(errno.EINVAL, _NOT_REGULAR, path)
