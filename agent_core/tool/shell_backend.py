"""`ShellBackend`: files where programs can be run, worked on by a shell script there."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import secrets
import stat
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn

from agent_core.tool.backend import FileInfo, Guarantees
from agent_core.tool.fsspec_files import digest, is_coarse
from agent_core.tool.remote_files import RemoteBackend, fail
from agent_core.tool.shell_script import (
    INCOMPLETE,
    IS_FOLDER,
    IS_LINK,
    NOT_ALLOWED,
    NOT_FOLDER,
    NOT_FOUND,
    NOT_REGULAR,
    SCRIPT,
)

_ERRORS = {
    NOT_FOUND: (errno.ENOENT, os.strerror(errno.ENOENT)),
    IS_FOLDER: (errno.EISDIR, os.strerror(errno.EISDIR)),
    NOT_FOLDER: (errno.ENOTDIR, os.strerror(errno.ENOTDIR)),
    IS_LINK: (errno.ELOOP, "a link has taken the place of the file or of a folder above it"),
    NOT_REGULAR: (errno.EINVAL, "not a regular file"),
    NOT_ALLOWED: (errno.EACCES, os.strerror(errno.EACCES)),
    INCOMPLETE: (errno.EIO, "what was sent did not arrive whole"),
}
_TOLD = (errno.EACCES, errno.ENOSPC, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG)
"""Errors that programs tell in words."""
_TRIES = 3
_MOST_HASHED = 16 * 2**20
_WHOLE_SECONDS = re.compile(r"\.0+( |$)")


class ExecResult(NamedTuple):
    """What a program gave: its exit code, and what it wrote."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class ShellFiles(ABC):
    """The blocking side of a `ShellBackend`; see `RemoteFiles`. How to run a program there is left open."""

    _is_closed = False

    @abstractmethod
    def exec(self, argv: Sequence[str]) -> ExecResult:
        """Run a program, without a shell between.

        Raises:
            ConnectionError: it is not known what it did.
            OSError: it could not be run.
        """

    @abstractmethod
    def upload(self, path: str, data: bytes, owner: tuple[int, int]) -> None:
        """Make a new file in a folder that is there.

        Raises:
            OSError: it could not be made, or only a part of it.
        """

    def close(self) -> None:
        """See `RemoteFiles`."""
        self._is_closed = True

    def read(self, path: str, limit: int | None, follow: bool) -> bytes:
        """See `RemoteFiles`."""
        return self._run("read", path, "" if limit is None else str(limit), _how(follow))

    def write(self, path: str, data: bytes, follow: bool) -> None:
        """See `RemoteFiles`."""
        target, old, user = (part.decode() for part in self._run("prepare", path, _how(follow)).split(b"\0"))
        mode, _, owner = old.partition(" ")
        if mode and not int(mode, 8) & 0o222:
            fail("the file is read-only", path, errno.EACCES)
        temporary = posixpath.join(posixpath.dirname(target), f".{secrets.token_hex(8)}.tmp")
        uid, gid = map(int, (owner or user).split())
        try:
            self.upload(temporary, data, (uid, gid))
            if self._is_closed:
                raise ConnectionResetError("nobody waits for it any more")
            self._run("commit", target, temporary, str(len(data)), mode)
        except BaseException:
            with suppress(OSError):
                self._run("remove", temporary)
            raise

    def delete(self, path: str, follow: bool) -> None:
        """See `RemoteFiles`."""
        self._run("delete", path, _how(follow))

    def remove_folder(self, path: str) -> None:
        """See `RemoteFiles`."""
        self._run("rmdir", path)

    def stat(self, path: str) -> FileInfo | None:
        """See `RemoteFiles`."""
        try:
            line = self._run("stat", path).decode()
        except FileNotFoundError:
            return None
        folder, name = posixpath.split(path)
        if not _is_link(line):
            return self._info(path, line, is_link=False)
        target = self._targets(folder, [name]).get(name)
        return self._info(path, target, is_link=True) if target is not None else None

    def entries(self, path: str) -> Sequence[FileInfo]:
        """See `RemoteFiles`."""
        lines = self._lines(path)
        links = [name for name, line in lines.items() if _is_link(line)]
        targets = self._targets(path, links) if links else {}
        return [
            self._info(posixpath.join(path, name), targets.get(name, line), is_link=name in targets)
            for name, line in lines.items()
            if name in targets or name not in links
        ]

    def resolve(self, path: str) -> str:
        """See `RemoteFiles`."""
        return os.fsdecode(self._run("resolve", path))

    def _lines(self, path: str) -> dict[str, str]:
        """The entries of a folder with their line of `stat`. Tried again when one goes meanwhile."""
        for _ in range(_TRIES):
            lines: dict[str, str] = {}
            is_whole = True
            parts = iter(self._run("list", path).split(b"\0"))
            for part in parts:
                names = []
                while part:
                    names.append(os.fsdecode(part).removeprefix("./"))
                    part = next(parts, b"")
                found = next(parts, b"").decode().splitlines()
                is_whole = is_whole and len(found) == len(names)
                lines.update(zip(names, found, strict=False))
            if is_whole:
                break
        else:
            fail("files come and go too fast to be listed", path)
        return lines

    def _targets(self, folder: str, names: Sequence[str]) -> dict[str, str]:
        """What links lead to, those excepted that lead nowhere."""
        parts = self._run("targets", folder, *names).split(b"\0")[:-1]
        return {os.fsdecode(name): line.decode() for name, line in zip(parts[::2], parts[1::2], strict=True)}

    def _info(self, path: str, line: str, is_link: bool) -> FileInfo:
        mode, size, modified, inode, changed = line.strip().split(" ", 4)
        kind = stat.S_IFMT(int(mode, 16))
        tag = ""
        is_told_apart = not _WHOLE_SECONDS.search(changed) and "." in changed
        if kind == stat.S_IFREG and not is_told_apart and is_coarse(float(modified)) and int(size) <= _MOST_HASHED:
            with suppress(OSError):
                tag = digest(self.read(path, None, follow=True))
        version = f"{changed}-{modified}-{size}-{inode}{tag}"
        return FileInfo(
            posixpath.basename(path), path, int(size), float(modified), kind == stat.S_IFDIR, version, is_link
        )

    def _run(self, action: str, path: str, *arguments: str) -> bytes:
        for argument in (path, *arguments):
            argument.encode()
        result = self.exec(["sh", "-c", SCRIPT, "mnemoscope", action, path, *arguments])
        if result.exit_code != 0:
            _fail(result, path)
        return result.stdout


class ShellBackend(RemoteBackend[ShellFiles]):
    """Files of a Unix system that programs can be run on.

    A new content is written beside the file and moved over it; the file keeps its mode. Paths are in UTF-8.
    """

    guarantees = Guarantees(atomic_replace=True, exec=True)

    async def exec(self, argv: Sequence[str]) -> ExecResult:
        """Run a program where the files are, without a shell between.

        Raises:
            OSError: it could not be run, or it is not known what it did.
        """
        return await self._run(argv[0], lambda files: files.exec(argv))


def _fail(result: ExecResult, path: str) -> NoReturn:
    """Raise the built-in error for what the script, or a program in it, has found."""
    if result.exit_code in _ERRORS:
        number, text = _ERRORS[result.exit_code]
        fail(text, path, number)
    told = result.stderr.decode(errors="replace").strip().splitlines()
    text = told[-1] if told else f"exit code {result.exit_code}"
    for number in _TOLD:
        if os.strerror(number) in text:
            fail(os.strerror(number), path, number)
    fail(text, path)


def _how(follow: bool) -> str:
    return "follow" if follow else ""


def _is_link(line: str) -> bool:
    return stat.S_ISLNK(int(line.split(" ", 1)[0], 16))
