"""What `Read`, `Write` and `Edit` have in common."""

from __future__ import annotations

import asyncio
import os.path
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from agent_core.errors import ToolError
from agent_core.paths import one_line
from agent_core.tool.backend import BackendBase
from agent_core.tool.base import ToolBase, current_call
from agent_core.tool.diff import unified_diff
from agent_core.tool.local_backend import LocalBackend
from agent_core.tool.read_record import ReadRecord, Span

MAX_BYTES = 16 * 2**20
"""Largest file that is held in memory: more is neither shown nor changed."""

PATH_SCHEMA = {"type": "string", "description": "Absolute path of the file; may start with ~."}


class FileTool(ToolBase):
    """A tool about the file that its argument `file_path` names.

    Paths must be absolute, or start with `~`: what a relative path means would depend on where the program was started.
    """

    backend: BackendBase

    def __init__(self, backend: BackendBase | None = None) -> None:
        self.backend = backend or LocalBackend()

    async def resolve_path(self, arguments: dict[str, Any]) -> str:
        """The path that the call is about, links resolved.

        Raises:
            ToolError: it is relative, or links in it form a loop.
        """
        path = arguments.get("file_path")
        if not isinstance(path, str) or not path:
            raise ToolError("file_path is missing: give the absolute path of a file")
        if not path.startswith(("/", "~")) and not os.path.isabs(path):
            raise ToolError(
                f"file_path must be absolute, not {one_line(path)}: write the whole path, or start it with ~"
            )
        with told("find", path):
            return await self.backend.resolve(path)

    async def permitted_path(self, file_path: str) -> str:
        """The resolved path, which must be the one that the permission was given for.

        Raises:
            ToolError: it leads elsewhere by now, or see `resolve_path`.
        """
        path = await self.resolve_path({"file_path": file_path})
        permitted = current_call().permitted_path
        if permitted is not None and path != permitted:
            raise ToolError(f"{one_line(file_path)} does not lead to {one_line(permitted)} any more: ask again")
        return path

    async def read_bytes(self, path: str) -> bytes:
        """The file's bytes, one more than `MAX_BYTES` at most.

        Raises:
            ToolError: there is no such file, or it cannot be read.
        """
        with told("read", path):
            return await self.backend.read_file(path, limit=MAX_BYTES + 1, follow=False)


class ChangingTool(FileTool):
    """A tool that replaces a file by a changed one, as a whole and only in the version that the model has read."""

    @abstractmethod
    def changed(self, before: bytes | None, arguments: dict[str, Any]) -> bytes:
        """The file's bytes after the call; `before` is None when there is no file. Runs in a thread.

        Raises:
            ToolError: the change cannot be made.
        """

    async def preview(self, arguments: dict[str, Any]) -> str:
        """A unified diff of what the call would change; empty when that cannot be told."""
        try:
            path = await self.resolve_path(arguments)
            before = await self.present_bytes(path)
            after = await asyncio.to_thread(self.changed, before, arguments)
            return await asyncio.to_thread(unified_diff, before, after, path)
        except Exception:
            # Whatever is odd about the call will be told when it is made; asking a person must not fail on it.
            return ""

    async def present_bytes(self, path: str) -> bytes | None:
        """The file's bytes now; None when there is no file.

        Raises:
            ToolError: it cannot be read, or is too large to be changed.
        """
        with told("read", path):
            try:
                data = await self.backend.read_file(path, limit=MAX_BYTES + 1, follow=False)
            except FileNotFoundError:
                return None
        if len(data) > MAX_BYTES:
            raise ToolError(f"{one_line(path)} is larger than {MAX_BYTES // 2**20} MiB: too large to be changed")
        return data

    def require_read(self, path: str, before: bytes) -> ReadRecord:
        """The record of what has been read, in which `before` must be the version that was read last.

        Raises:
            ToolError: the file has not been read, or has changed since.
        """
        reads = current_call().reads
        if not reads.knows(self.backend.name, path):
            raise ToolError(f"{one_line(path)} exists and has not been read: Read it first")
        if not reads.is_current(self.backend.name, path, before):
            raise ToolError(f"{one_line(path)} has changed since it was read: Read it again")
        return reads

    @asynccontextmanager
    async def locked(self, path: str) -> AsyncIterator[None]:
        """Keep other writers away, so that what has been checked still holds when the file is written.

        Raises:
            ToolError: somebody else did not let go of the file in time, or nothing can be written there.
        """
        with told("write", path):
            async with self.backend.lock(path):
                yield

    async def replace(self, path: str, before: bytes | None, after: bytes, spans: Sequence[Span] | None = None) -> None:
        """Write the file, tell the call what has changed, and record that the model knows `spans` of it, or all.

        Raises:
            ToolError: the file could not be written; it is as it was.
        """
        with told("write", path):
            await self.backend.write_file(path, after, follow=False)
        call = current_call()
        await asyncio.to_thread(call.reads.remember, self.backend.name, path, after, spans)
        call.diff = await asyncio.to_thread(unified_diff, before, after, path)


@contextmanager
def told(doing: str, path: str) -> Iterator[None]:
    """Turn errors of the back end into one line that names the path as people know it."""
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"there is no file {one_line(path)}") from error
    except IsADirectoryError as error:
        raise ToolError(f"{one_line(path)} is a folder, not a file") from error
    except OSError as error:
        raise ToolError(f"cannot {doing} {one_line(path)}: {error.strerror or error}") from error
