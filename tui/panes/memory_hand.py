"""Saving what a person wrote by hand: what is risky asks first, and nothing is written over unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.agentic.memory_disk import MemoryConflict
from tui.screens.editing import Confirm, Save

if TYPE_CHECKING:
    from memory.agentic.book import MemoryBook

NEW_MEMORY = "---\nname: \ndescription: \ntype: user\n---\n\n"
"""What a new memory begins as."""


def saving_new(book: MemoryBook) -> Save:
    """What saves a memory that is not there yet, under a name made from its header."""

    async def save(text: str, confirm: Confirm) -> bool:
        if not await _is_meant(book, "new.md", text, confirm):
            return False
        await book.create(text)
        return True

    return save


def saving(book: MemoryBook, path: str, seen: bytes) -> Save:
    """What saves the text of a memory.

    Args:
        book: the memory.
        path: the file.
        seen: what it held when the text was given out.
    """

    async def save(text: str, confirm: Confirm) -> bool:
        expected: bytes = seen
        if not await _is_meant(book, path, text, confirm):
            return False
        while True:
            try:
                await book.edit(path, text, expected)
            except MemoryConflict as conflict:
                present = await book.writer.disk.read(await book.writer.disk.relative(path))
                what = "is gone" if present is None else "has changed meanwhile, as shown"
                if not await confirm(f"The file {what}. Save yours all the same?", conflict.diff):
                    return False
                if present is None:
                    await book.create(text, await book.writer.disk.relative(path))
                    return True
                expected = present
            else:
                return True

    return save


async def _is_meant(book: MemoryBook, path: str, text: str, confirm: Confirm) -> bool:
    concerns = await book.concerns(path, text)
    return not concerns or await confirm(f"{'; '.join(concerns)}. Save it all the same?", "")
