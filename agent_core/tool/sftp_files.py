"""`SftpFiles`: the files of an SFTP server, through the connection of an sshfs file system.

fsspec knows neither links nor replacing a file; SFTP does, so it is spoken to directly.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import secrets
import stat
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from agent_core.tool.backend import FileInfo
from agent_core.tool.fsspec_files import digest, is_coarse
from agent_core.tool.remote_files import fail, not_found, require_file

if TYPE_CHECKING:
    from asyncssh import SFTPAttrs, SFTPClient
    from sshfs import SSHFileSystem

R = TypeVar("R")
_MOST_LINKS = 40
_MOST_HASHED = 16 * 2**20
_NUMBERS = {
    2: errno.ENOENT,
    3: errno.EACCES,
    10: errno.ENOENT,
    11: errno.EEXIST,
    12: errno.EROFS,
    14: errno.ENOSPC,
    15: errno.EDQUOT,
    19: errno.ENOTDIR,
    21: errno.ELOOP,
    24: errno.EISDIR,
}
"""Error numbers by the status codes of SFTP."""
_LOST = (6, 7)
_SFTP3_FAILURES = {
    os.strerror(number): number for number in (errno.ENOTDIR, errno.EISDIR, errno.ENOSPC, errno.EROFS, errno.ELOOP)
}
"""Version 3 has one code for most failures; some servers say in the text what it was."""


class SftpFiles:
    """The blocking side of `FsspecBackend` for SFTP; see `RemoteFiles`.

    A file is replaced in one step (`posix-rename@openssh.com`); a server that cannot do that is told to people, and
    nothing is written. What a broken connection leaves is a hidden file `.….tmp` beside it.

    Args:
        filesystem: connected.
    """

    def __init__(self, filesystem: SSHFileSystem) -> None:
        self._ssh = filesystem.client
        self._loop = filesystem.loop
        # Kept, since it closes the connection when it goes.
        self._filesystem = filesystem
        self._sftp = self._do(self._start())

    def read(self, path: str, limit: int | None, follow: bool) -> bytes:
        """See `RemoteFiles`."""
        return self._do(self._read(path, limit, follow))

    def write(self, path: str, data: bytes, follow: bool) -> None:
        """See `RemoteFiles`."""
        self._do(self._write(path, data, follow))

    def delete(self, path: str, follow: bool) -> None:
        """See `RemoteFiles`."""
        self._do(self._delete(path, follow))

    def remove_folder(self, path: str) -> None:
        """See `RemoteFiles`."""
        self._do(self._remove_folder(path))

    def stat(self, path: str) -> FileInfo | None:
        """See `RemoteFiles`."""
        return self._do(self._stat(path))

    def entries(self, path: str) -> Sequence[FileInfo]:
        """See `RemoteFiles`."""
        return self._do(self._list(path))

    def resolve(self, path: str) -> str:
        """See `RemoteFiles`."""
        return self._do(self._resolve(path))

    def close(self) -> None:
        """See `RemoteFiles`."""
        with suppress(Exception):
            self._loop.call_soon_threadsafe(self._ssh.close)
            self._do(self._ssh.wait_closed())

    def _do(self, work: Coroutine[Any, Any, R]) -> R:
        """Run it in the thread that the connection lives in."""
        import asyncssh

        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except asyncssh.SFTPError as error:
            if error.code in _LOST:
                raise ConnectionResetError(errno.ECONNRESET, error.reason) from error
            number = _NUMBERS.get(error.code) or _SFTP3_FAILURES.get(error.reason, errno.EIO)
            raise OSError(number, error.reason or os.strerror(number)) from error
        except (asyncssh.DisconnectError, asyncssh.ChannelOpenError, BrokenPipeError) as error:
            raise ConnectionResetError(errno.ECONNRESET, str(error) or "closed") from error

    async def _start(self) -> SFTPClient:
        sftp: SFTPClient = await self._ssh.start_sftp_client(path_errors="surrogateescape")
        return sftp

    async def _read(self, path: str, limit: int | None, follow: bool) -> bytes:
        path = await self._absolute(path)
        if not follow:
            await self._refuse_links(path)
        # Looked at before it is opened: a FIFO would wait for a writer.
        require_file(_kind(await self._sftp.stat(path)), path)
        async with self._sftp.open(path, "rb") as file:
            data: bytes = await file.read(-1 if limit is None else limit)
            return data

    async def _write(self, path: str, data: bytes, follow: bool) -> None:
        if follow:
            path = await self._resolve(path)
        else:
            await self._refuse_links(path)
        old = await self._lstat(path)
        if old is not None:
            require_file(_kind(old), path)
            if not (old.permissions or 0) & 0o222:
                fail("the file is read-only", path, errno.EACCES)
        folder = posixpath.dirname(path)
        await self._sftp.makedirs(folder, exist_ok=True)
        temporary = posixpath.join(folder, f".{secrets.token_hex(8)}.tmp")
        try:
            await self._write_new(temporary, data, old)
            await self._sftp.posix_rename(temporary, path)
        except BaseException:
            with suppress(Exception):
                await self._sftp.remove(temporary)
            raise

    async def _write_new(self, temporary: str, data: bytes, old: SFTPAttrs | None) -> None:
        import asyncssh

        async with self._sftp.open(temporary, "xb") as file:
            if old is not None and old.permissions is not None:
                await file.chmod(stat.S_IMODE(old.permissions))
            await file.write(data)
            with suppress(asyncssh.SFTPOpUnsupported):
                await file.fsync()

    async def _delete(self, path: str, follow: bool) -> None:
        path = await self._absolute(path)
        if not follow:
            await self._refuse_links(posixpath.dirname(path))
        found = await self._lstat(path)
        if found is None:
            not_found(path)
        if _kind(found) == "directory":
            fail(os.strerror(errno.EISDIR), path, errno.EISDIR)
        await self._sftp.remove(path)

    async def _remove_folder(self, path: str) -> None:
        path = await self._absolute(path)
        await self._refuse_links(path)
        await self._sftp.rmdir(path)

    async def _stat(self, path: str) -> FileInfo | None:
        path = await self._absolute(path)
        entry = await self._lstat(path)
        is_link = entry is not None and _kind(entry) == "link"
        found = await self._target(path) if is_link else entry
        return await self._info(path, found, is_link) if found is not None else None

    async def _list(self, path: str) -> list[FileInfo]:
        import asyncssh

        path = await self._absolute(path)
        try:
            entries = await self._sftp.readdir(path)
        except asyncssh.SFTPError as error:
            # Version 3 has no code for this.
            found = await self._target(path) if error.code not in _LOST else None
            if found is not None and _kind(found) != "directory":
                fail(os.strerror(errno.ENOTDIR), path, errno.ENOTDIR)
            raise
        infos = [self._listed(path, str(entry.filename), entry.attrs) for entry in entries]
        return [info for info in await asyncio.gather(*infos) if info is not None]

    async def _listed(self, folder: str, name: str, attrs: SFTPAttrs) -> FileInfo | None:
        if name in ("", ".", ".."):
            return None
        path = posixpath.join(folder, name)
        is_link = _kind(attrs) == "link"
        found = await self._target(path) if is_link else attrs
        return await self._info(path, found, is_link) if found is not None else None

    async def _info(self, path: str, attrs: SFTPAttrs, is_link: bool) -> FileInfo:
        size, is_dir = attrs.size or 0, _kind(attrs) == "directory"
        modified = float(attrs.mtime or 0) + (attrs.mtime_ns or 0) / 1e9
        tag = ""
        if _kind(attrs) == "file" and is_coarse(modified) and size <= _MOST_HASHED:
            with suppress(OSError):
                tag = digest(await self._read(path, None, follow=True))
        return FileInfo(posixpath.basename(path), path, size, modified, is_dir, f"{tag}-{modified!r}-{size}", is_link)

    async def _resolve(self, path: str) -> str:
        """The path with every link in it resolved: one round trip, and two more for every link."""
        path = await self._absolute(path)
        done, rest, links = "/", _names(path), 0
        while rest:
            if rest[0] == "..":
                done, rest = posixpath.dirname(done), rest[1:]
                continue
            run = list(takewhile(lambda name: name != "..", rest))
            steps = [posixpath.join(done, *run[: count + 1]) for count in range(len(run))]
            found = await asyncio.gather(*map(self._lstat, steps))
            link = next((i for i, attrs in enumerate(found) if attrs is not None and _kind(attrs) == "link"), None)
            if link is None:
                done, rest = steps[-1], rest[len(run) :]
                continue
            links += 1
            if links > _MOST_LINKS:
                fail(os.strerror(errno.ELOOP), path, errno.ELOOP)
            target = str(await self._sftp.readlink(steps[link]))
            done = "/" if target.startswith("/") else posixpath.dirname(steps[link])
            rest = _names(target) + rest[link + 1 :]
        return done

    async def _absolute(self, path: str) -> str:
        """The path with the home folder of the server in place of `~`."""
        if not path.startswith("~"):
            return path
        if path != "~" and not path.startswith("~/"):
            fail("the home folder is not known", path, errno.ENOENT)
        return posixpath.join(str(await self._sftp.realpath(".")), path[2:])

    async def _refuse_links(self, path: str) -> None:
        if await self._resolve(path) != path:
            fail("a link has taken the place of the file or of a folder above it", path, errno.ELOOP)

    async def _lstat(self, path: str) -> SFTPAttrs | None:
        return await self._found(self._sftp.lstat(path))

    async def _target(self, path: str) -> SFTPAttrs | None:
        """What a link leads to; None when it leads nowhere or in a circle."""
        return await self._found(self._sftp.stat(path))

    async def _found(self, looking: Coroutine[Any, Any, SFTPAttrs]) -> SFTPAttrs | None:
        import asyncssh

        try:
            return await looking
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath, asyncssh.SFTPNotADirectory, asyncssh.SFTPLinkLoop):
            return None
        except asyncssh.SFTPFailure as error:
            if _SFTP3_FAILURES.get(error.reason) in (errno.ENOTDIR, errno.ELOOP):
                return None
            raise


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _kind(attrs: SFTPAttrs) -> str:
    mode = attrs.permissions or 0
    kinds = {stat.S_IFDIR: "directory", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "other")
