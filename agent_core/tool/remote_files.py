"""What back ends elsewhere have in common: a connection made when it is first needed, and errors in one line."""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, NoReturn, ParamSpec, Protocol, TypeVar

from agent_core.tool.backend import BackendBase, FileInfo
from agent_core.tool.in_thread import in_daemon_thread

P = ParamSpec("P")
R = TypeVar("R")
RETRY_SECONDS = 5.0
"""After a failed connection the same error is told at once for so long, so that nobody waits at every step."""
_PATIENCE = 0.5
"""Seconds that who is stopped waits, at most, for what is being changed; then the other side counts as silent."""
_AT_ONCE = 4


class RemoteFiles(Protocol):
    """The blocking side of a back end elsewhere, once connected. Paths are absolute, errors are `OSError`s."""

    def read(self, path: str, limit: int | None, follow: bool) -> bytes:
        """See `BackendBase.read_file`."""

    def write(self, path: str, data: bytes, follow: bool) -> None:
        """See `BackendBase.write_file`."""

    def delete(self, path: str, follow: bool) -> None:
        """See `BackendBase.delete_file`."""

    def remove_folder(self, path: str) -> None:
        """See `BackendBase.remove_folder`."""

    def stat(self, path: str) -> FileInfo | None:
        """See `BackendBase.stat`."""

    def entries(self, path: str) -> Sequence[FileInfo]:
        """See `BackendBase.list_dir`."""

    def resolve(self, path: str) -> str:
        """See `BackendBase.resolve`."""

    def close(self) -> None:
        """Let go of the connection. Fails silently. What other threads are doing with it changes no file any more, as
        far as that can still be prevented.
        """


F = TypeVar("F", bound=RemoteFiles)


class RemoteBackend(BackendBase, Generic[F]):
    """Files elsewhere. All blocking work is done in threads, which nobody who is cancelled is kept by.

    Who looks at something is stopped at once, who changes something after half a second at most: if it is not done by
    then, the connection is given up, and for a moment every operation fails at once instead of waiting for the same
    silence. What was being changed is then as it was, or whole, where the back end guarantees an atomic replacement.

    The connection is made by the first operation; after it was lost, by the next one. `~` stands for the home folder
    that the other side knows and is left alone by `absolute`.

    Args:
        name: tells it apart from others.
        connect: makes the connection; blocking. What it raises is told to people.
    """

    def __init__(self, name: str, connect: Callable[[], F]) -> None:
        self.name = name
        self._connect = connect
        self._files: F | None = None
        self._connecting = threading.Lock()
        self._failure: tuple[float, OSError] | None = None
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._unanswered: set[asyncio.Future[Any]] = set()

    async def connect(self) -> None:
        """Make the connection now.

        Raises:
            OSError: it cannot be made.
        """
        await self._wait_for(self._connected, patience=0.0)

    async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
        """See `BackendBase`."""
        return await self._look(path, lambda files: files.read(self.absolute(path), limit, follow))

    async def write_file(self, path: str, data: bytes, *, follow: bool = True) -> None:
        """See `BackendBase`."""
        await self._run(path, lambda files: files.write(self.absolute(path), data, follow))

    async def delete_file(self, path: str, *, follow: bool = True) -> None:
        """See `BackendBase`."""
        await self._run(path, lambda files: files.delete(self.absolute(path), follow))

    async def remove_folder(self, path: str) -> None:
        """See `BackendBase`."""
        await self._run(path, lambda files: files.remove_folder(self.absolute(path)))

    async def stat(self, path: str) -> FileInfo | None:
        """See `BackendBase`."""
        return await self._look(path, lambda files: files.stat(self.absolute(path)))

    async def list_dir(self, path: str) -> Sequence[FileInfo]:
        """See `BackendBase`."""
        return await self._look(path, lambda files: files.entries(self.absolute(path)))

    async def resolve(self, path: str) -> str:
        """See `BackendBase`. Relative paths are taken from the root."""
        return await self._look(path, lambda files: files.resolve(_checked(path)))

    def absolute(self, path: str) -> str:
        """See `BackendBase`; relative paths are taken from the root."""
        path = _checked(path)
        return posixpath.normpath(path) if path.startswith(("/", "~")) else posixpath.normpath(f"/{path}")

    async def aclose(self) -> None:
        """See `BackendBase`."""
        files, self._files = self._files, None
        if files is not None:
            await asyncio.wait([in_daemon_thread(files.close)], timeout=_PATIENCE)

    async def _look(self, path: str, work: Callable[[F], R]) -> R:
        """As `_run`, for work that changes nothing: who is cancelled goes on at once."""
        return await self._wait_for(self._blocking, path, work, patience=0.0)

    async def _run(self, path: str, work: Callable[[F], R]) -> R:
        return await self._wait_for(self._blocking, path, work, patience=_PATIENCE)

    async def _wait_for(self, function: Callable[..., R], *arguments: Any, patience: float) -> R:
        """Run it in a thread; whoever is cancelled waits `patience` seconds for its end."""
        async with self._slots:
            await self._require_answers()
            work = in_daemon_thread(function, *arguments)
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                self._unanswered.add(work)
                work.add_done_callback(self._unanswered.discard)
                if patience:
                    await asyncio.wait([work], timeout=patience)
                    if not work.done():
                        self._give_up()
                raise

    async def _require_answers(self) -> None:
        """Wait a moment for what others who were stopped have not waited for, and give up where nothing comes."""
        if self._unanswered:
            _, silent = await asyncio.wait(self._unanswered, timeout=_PATIENCE)
            if silent:
                self._give_up()
        if self._files is None:
            self._raise_recent_failure()

    def _give_up(self) -> None:
        """Take the other side for silent, and what is still being done there for undone."""
        self._unanswered = set()
        self._failure = time.monotonic(), OSError(errno.ETIMEDOUT, f"{self.name} does not answer")
        files, self._files = self._files, None
        if files is not None:
            in_daemon_thread(files.close)

    def _raise_recent_failure(self) -> None:
        if self._failure is not None and time.monotonic() < self._failure[0] + RETRY_SECONDS:
            raise self._failure[1]

    def _blocking(self, path: str, work: Callable[[F], R]) -> R:
        files = self._connected()
        try:
            return work(files)
        except (ConnectionError, TimeoutError) as error:
            # The next operation connects anew.
            if self._files is files:
                self._files = None
                files.close()
            fail(f"the connection to {self.name} was lost ({reason(error)})", path, errno.ECONNRESET, error)
        except OSError as error:
            if error.errno is not None:
                fail(reason(error), path, error.errno, error)
            number = _of_kind(error)
            fail(os.strerror(number) if number else reason(error), path, number or errno.EIO, error)
        except ValueError as error:
            # A NUL or a lone surrogate: there can be no such file.
            fail("no file can have this name", path, errno.EINVAL, error)
        except Exception as error:
            # Each package has errors of its own.
            fail(reason(error), path, errno.EIO, error)

    def _connected(self) -> F:
        with self._connecting:
            if self._files is not None:
                return self._files
            self._raise_recent_failure()
            try:
                self._files = self._connect()
            except Exception as error:
                failure = OSError(errno.EHOSTUNREACH, f"{self.name} cannot be reached: {reason(error)}")
                self._failure = time.monotonic(), failure
                raise failure from error
            return self._files


def fail(text: str, path: str, number: int = errno.EIO, cause: BaseException | None = None) -> NoReturn:
    """Raise the built-in error of that number, with one line for people."""
    raise OSError(number, text, path) from cause


def reason(error: BaseException) -> str:
    """What went wrong, in one line."""
    text = getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def not_found(path: str) -> NoReturn:
    """Raise `FileNotFoundError`."""
    fail(os.strerror(errno.ENOENT), path, errno.ENOENT)


def require_file(kind: str, path: str) -> None:
    """Raise the fitting error for what is no regular file; `kind` is as fsspec has it."""
    if kind == "directory":
        fail(os.strerror(errno.EISDIR), path, errno.EISDIR)
    if kind == "link":
        fail("a link has taken the place of the file", path, errno.ELOOP)
    if kind != "file":
        fail("not a regular file", path, errno.EINVAL)


def _of_kind(error: BaseException) -> int | None:
    """The error number of a built-in error that was raised without one."""
    numbers = {
        FileNotFoundError: errno.ENOENT,
        PermissionError: errno.EACCES,
        IsADirectoryError: errno.EISDIR,
        NotADirectoryError: errno.ENOTDIR,
        FileExistsError: errno.EEXIST,
    }
    return next((number for kind, number in numbers.items() if isinstance(error, kind)), None)


def _checked(path: str) -> str:
    if not path:
        fail("an empty path names no file", path, errno.ENOENT)
    if "\0" in path:
        fail("no file can have this name", path, errno.EINVAL)
    return path
