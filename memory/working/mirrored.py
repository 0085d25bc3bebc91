"""`MirroredMemory`: a store behind a copy in memory, so that a chat goes on while the store cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_core.change import MemoryChange, Snapshot, StoredEntry
from agent_core.errors import StorageError
from agent_core.marks import Entry, Marks
from agent_core.message import Msg
from memory.working.base import MemoryBase
from memory.working.in_memory import InMemoryMemory
from memory.working.stored_memory import StoredMemory

Write = Callable[[MemoryBase], Awaitable[Any]]


class MirroredMemory(MemoryBase):
    """Reads from a copy; writes to the copy and to the store.

    While the store fails, writes wait in their order and are made as soon as it is back; none overtakes another. What
    other processes write comes in with `refresh`, as one snapshot. Where the store was out of reach from the start, the
    copy begins empty, and what the store holds comes in front of what was said meanwhile once it is back.

    Args:
        store: the truth, whenever it can be reached.
        on_trouble: told in one line when the store begins to fail, and with an empty text when it is back.
    """

    publishes_changes = True

    def __init__(self, store: StoredMemory, on_trouble: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self.trouble = ""
        self._store = store
        self._copy = InMemoryMemory()
        self._waiting: list[Write] = []
        self._is_in_step = False
        self._turn = asyncio.Lock()
        self._on_trouble = on_trouble
        self._copy.subscribe(self._follow_copy)
        store.subscribe(self._follow_store)

    @property
    def waiting(self) -> int:
        """How many writes the store has not taken yet."""
        return len(self._waiting)

    async def add(self, memories: Msg | Sequence[Msg] | None, marks: Marks = None, **kwargs: Any) -> None:
        """Append messages."""
        await self._write(lambda memory: memory.add(memories, marks, **kwargs))

    async def delete(self, msg_ids: Sequence[str], **kwargs: Any) -> int:
        """Delete messages by id; how many there were."""
        return int(await self._write(lambda memory: memory.delete(msg_ids, **kwargs)))

    async def delete_by_mark(self, mark: Marks, **kwargs: Any) -> int:
        """Delete messages that have this mark, or any of these; how many there were."""
        return int(await self._write(lambda memory: memory.delete_by_mark(mark, **kwargs)))

    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        """Set, replace or remove a mark; the number of messages really changed."""
        return int(await self._write(lambda memory: memory.update_messages_mark(new_mark, old_mark, msg_ids)))

    async def set_marks(self, marks: Mapping[str, Sequence[str]]) -> int:
        """Give messages exactly these marks; the number of messages really changed."""
        return int(await self._write(lambda memory: memory.set_marks(marks)))

    async def restore(self, entries: Sequence[StoredEntry]) -> None:
        """Put deleted messages back to where they were."""
        await self._write(lambda memory: memory.restore(entries))

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary."""
        await self._write(lambda memory: memory.update_compressed_summary(summary))

    async def clear(self) -> None:
        """Delete everything, the summary too."""
        await self._write(lambda memory: memory.clear())

    async def size(self) -> int:
        """The number of messages."""
        return await self._copy.size()

    async def get_memory(
        self, mark: Marks = None, exclude_mark: Marks = None, prepend_summary: bool = True, **kwargs: Any
    ) -> list[Msg]:
        """The messages that pass a filter, in insertion order."""
        return await self._copy.get_memory(mark, exclude_mark, prepend_summary, **kwargs)

    async def entries(self) -> list[Entry]:
        """All messages with their marks."""
        return await self._copy.entries()

    async def refresh(self) -> bool:
        """Make the writes that wait, then bring in what others have written. Call it first of all, and now and then.

        Returns:
            Whether anything came in.
        """
        async with self._turn:
            if not await self._flush():
                return False
            try:
                await self._store.refresh()
            except StorageError as error:
                self._tell(str(error))
                return False
            return await self._catch_up()

    async def aclose(self) -> None:
        """Try once more to make the writes that wait, and close the store."""
        async with self._turn:
            await self._flush()
        await self._store.aclose()

    async def _write(self, write: Write) -> Any:
        async with self._turn:
            # The copy first: what it refuses must not reach the store.
            result = await write(self._copy)
            self._waiting.append(write)
            if await self._flush():
                await self._catch_up()
            return result

    async def _flush(self) -> bool:
        """Make the writes that wait, in order; whether none waits any more."""
        while self._waiting:
            try:
                await self._waiting[0](self._store)
            except StorageError as error:
                self._tell(str(error))
                # What the store took may be less than what the copy holds: look at it whole once it is back.
                self._is_in_step = False
                return False
            self._waiting.pop(0)
        return True

    async def _catch_up(self) -> bool:
        """Take over what the store holds, where that may not be what the copy holds; whether anything came in."""
        if self._is_in_step:
            return False
        try:
            entries = await self._store.entries()
        except StorageError as error:
            self._tell(str(error))
            return False
        summary = self._store._compressed_summary
        self._is_in_step = True
        self._tell("")
        changed = entries != await self._copy.entries()
        if changed:
            self._copy.content = [(msg, list(marks)) for msg, marks in entries]
        if summary != self._copy._compressed_summary:
            await self._copy.update_compressed_summary(summary)
            changed = True
        return changed

    def _tell(self, trouble: str) -> None:
        begins_or_ends = bool(trouble) != bool(self.trouble)
        self.trouble = trouble
        if begins_or_ends and self._on_trouble is not None:
            self._on_trouble(trouble)

    def _follow_store(self, change: MemoryChange) -> None:
        # Changes of our own are in the copy already; a snapshot tells that others have written as well.
        if isinstance(change, Snapshot):
            self._is_in_step = False

    def _follow_copy(self, change: MemoryChange) -> None:
        self._compressed_summary = self._copy._compressed_summary
        self._publish(change)
