"""`Draft`: what a person writes, in a private file of its own until it has been saved where it belongs."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent_core.errors import StorageError
from agent_core.tool.local_files import read_file

Run = Callable[[list[str]], Awaitable[str]]
"""Runs a command and waits for its end; returns what went wrong, in one sentence, or nothing."""
_UNFIT = re.compile(r"[^\w.-]+")


class Draft:
    """The file. Everything may raise `StorageError`.

    Args:
        name: what the file is called, so that an editor knows its kind.
        data: what it holds at first.
        folder: where it is made; None for the system's folder of temporary files.

    Attributes:
        path: the file.
        data: see there.
    """

    def __init__(self, name: str, data: bytes, folder: Path | None = None) -> None:
        self.data = data
        name = _UNFIT.sub("_", os.path.basename(name)).strip(".") or "memory.md"
        try:
            if folder is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path = Path(tempfile.mkdtemp(prefix="mnemoscope-edit-", dir=folder)) / name
            self.path.write_bytes(data)
        except OSError as error:
            raise StorageError(f"A file for the text cannot be made: {error.strerror or error}.") from error

    async def edit(self, command: list[str], run: Run) -> tuple[bytes, str]:
        """Have a person edit it.

        Args:
            command: the editor and its arguments; the file comes behind.
            run: runs it.

        Returns:
            What the file holds afterwards, and what went wrong, if anything did.
        """
        problem = await run([*command, str(self.path)])
        return self.read(), problem

    def read(self) -> bytes:
        """What the file holds now."""
        try:
            return read_file(str(self.path), None, True)
        except OSError as error:
            raise StorageError(f"What the editor saved cannot be read: {error.strerror} ({self.path}).") from error

    @property
    def unsaved(self) -> tuple[str, str] | None:
        """What the file is called and how it reads now; None when that is as at first, or cannot be had."""
        try:
            data = self.read()
        except StorageError:
            return None
        return (self.path.name, data.decode("utf-8", "replace")) if data != self.data else None

    @property
    def kept(self) -> str:
        """What to tell people when it could not be saved."""
        return f"What you wrote is in {self.path}."

    def discard(self) -> None:
        """Remove the file."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
