"""`Call`: one action that was asked for, with what it works on."""

from __future__ import annotations

from typing import Any, NamedTuple

from agent_core.errors import StorageError
from memory.agentic.book import MemoryBook
from tui.config import Settings
from tui.subcommands.memory.output import Output
from tui.workdir_url import WorkdirURL
from tui.workspace import remote_workspace


class Call(NamedTuple):
    """An action.

    Args:
        book: the memory folder.
        settings: those in effect.
        out: where it prints to.
        given: what was typed, by argument.
    """

    book: MemoryBook
    settings: Settings
    out: Output
    given: dict[str, Any]

    async def find_also_gone(self, name: str) -> str:
        """The path of a memory that is there, or that the history still knows.

        Raises:
            StorageError: there never was one, or several are meant.
        """
        try:
            return await self.book.find(name)
        except StorageError:
            gone = await self.book.find_gone(name)
            if gone is None:
                raise
            return gone


def open_book(settings: Settings) -> MemoryBook:
    """The memory folder of the workdir; nothing is made there.

    Raises:
        StorageError: there is no workdir.
    """
    if settings.workdir is None:
        raise StorageError("No home folder is known, and so no memory: name a folder with --workdir.")
    if not isinstance(settings.workdir, WorkdirURL):
        return MemoryBook.open(settings.workdir)
    there = remote_workspace(settings.workdir, settings.data_dir)
    return MemoryBook.open(there.folder, backend=there.backend, history_dir=there.history_dir)
