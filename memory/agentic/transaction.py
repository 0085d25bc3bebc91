"""`Transaction`: files that are changed together, with their entries in the journal, all of them or none."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from agent_core.errors import StorageError
from agent_core.event import Origin
from memory.agentic.added_lines import added_lines
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import Action, Author, JournalEntry, new_entry
from memory.agentic.memory_disk import MemoryDisk, Step


class Transaction:
    """A change that is put together step by step and then carried out; within `Journal.changing`.

    What is changed first is what it is all about; the entries of the other files go with that one.

    Args:
        disk: where the files are.
        journal: where the change is recorded.
        action: what is done.
        author: who does it.
        undoes: the entry that is undone by it.
    """

    def __init__(self, disk: MemoryDisk, journal: Journal, action: Action, author: Author, undoes: str = "") -> None:
        self.entries: list[JournalEntry] = []
        self._disk = disk
        self._journal = journal
        self._action = action
        self._author = author
        self._undoes = undoes
        self._steps: list[Step] = []

    def change(self, relative: str, before: bytes | None, after: bytes | None, *, source: Origin | None = None) -> None:
        """Have a file hold `after`; None removes it. Nothing is done where that is what it holds.

        `source` is where lines that it adds come from, when that is not the author of the change.
        """
        if before != after:
            self._steps.append(Step(relative, before, after))
            origin = source if source and added_lines(before, after) else self._author.origin
            self._add(relative, before, after, origin=origin)

    def move(self, old: str, new: str, before: bytes, after: bytes) -> None:
        """Have a file be called otherwise, and hold `after`."""
        self._steps += [Step(new, None, after), Step(old, before, None)]
        self._add(new, before, after, old, origin=self._author.origin)

    async def carry_out(self) -> tuple[JournalEntry, ...]:
        """Record the change, then make it. What cannot be recorded is not made, so that every change can be undone.

        Should the program be killed in between, the journal names the author of what was written, and what was not
        written is found out by the next look at the folder.

        Raises:
            MemoryConflict: a file is not what it was thought to be.
            StorageError: something cannot be written; all is as it was.
        """
        if not self._steps:
            return ()
        made = await self._disk.missing_folders(step.relative for step in self._steps if step.after is not None)
        self.entries[0] = replace(self.entries[0], folders=tuple(made))
        kept = [content for step in self._steps for content in (step.before, step.after)]
        await self._journal.record(self.entries, kept)
        try:
            # Files are removed last, so that there is no moment in which a memory is nowhere.
            await self._disk.carry_out(sorted(self._steps, key=lambda step: step.after is None))
        except BaseException:
            with suppress(StorageError):
                await self._journal.void(entry.id for entry in self.entries)
            raise
        return tuple(self.entries)

    def _add(
        self, path: str, before: bytes | None, after: bytes | None, from_path: str = "", *, origin: Origin
    ) -> None:
        group = self.entries[0].id if self.entries else ""
        entry = new_entry(
            path,
            self._action,
            replace(self._author, origin=origin),
            self._journal.clock(),
            before=before,
            after=after,
            from_path=from_path,
            group=group,
            undoes="" if group else self._undoes,
        )
        self.entries.append(entry)
