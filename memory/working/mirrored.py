"""`MirroredMemory`: a store behind a copy in memory, so that a chat goes on while the store cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from agent_core.change import MemoryChange, MemoryState, Snapshot, StoredEntry
from agent_core.errors import StorageError
from agent_core.finishing import finish
from agent_core.marks import Entry
from agent_core.message import Msg
from memory.working.body import encode_body
from memory.working.checked import CheckedMemory
from memory.working.difference import difference
from memory.working.in_memory import InMemoryMemory
from memory.working.redo import redo
from memory.working.stored_memory import StoredMemory

Write = Callable[[CheckedMemory], Awaitable[Any]]


class MirroredMemory(CheckedMemory):
    """Reads from a copy; writes to the copy and to the store.

    While the store fails, nobody waits for it: writes are kept in their order, and `refresh` makes them as soon as it
    is back; none overtakes another. What other processes write comes in with `refresh` as well: as the few changes that
    it amounts to, or as a snapshot where most is new. The store is the truth whenever it can be reached, with one
    exception: one in which nothing was ever stored takes over what the copy holds.

    Args:
        store: the truth, or what opens it, which is called in a thread when it is first needed.
        on_trouble: told in one line when the store begins to fail, and with an empty text when it is back.
        entries: what the copy begins with.
        summary: the summary that it begins with.
        unwritten: changes that are in the copy already and have yet to be written to the store.

    Attributes:
        trouble: why the store fails; empty when it does not.
    """

    publishes_changes = True

    def __init__(
        self,
        store: StoredMemory | Callable[[], StoredMemory],
        on_trouble: Callable[[str], None] | None = None,
        *,
        entries: Sequence[Entry] = (),
        summary: str = "",
        unwritten: Sequence[MemoryChange] = (),
    ) -> None:
        super().__init__()
        self.trouble = ""
        self._open = store if not isinstance(store, StoredMemory) else lambda: store
        self._store: StoredMemory | None = None
        self._copy = InMemoryMemory()
        self._copy.content = [(msg, list(marks)) for msg, marks in entries]
        self._copy._compressed_summary = self._compressed_summary = summary
        self._waiting: list[Write] = [partial(redo, change) for change in unwritten]
        self._is_in_step = self._is_closed = False
        self._news: MemoryState | None = None
        self._offered: tuple[int, MemoryState] | None = None
        self._turn = asyncio.Lock()
        self._on_trouble = on_trouble
        self._copy.subscribe(self._follow_copy)

    @property
    def waiting(self) -> int:
        """How many writes the store has not taken yet."""
        return len(self._waiting)

    async def restore(self, entries: Sequence[StoredEntry]) -> None:
        """Put deleted messages back to where they were."""
        placed = tuple(entries)
        await self._write(lambda memory: memory.restore(placed))

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary."""
        await self._write(lambda memory: memory.update_compressed_summary(summary))

    async def clear(self) -> None:
        """Delete everything, the summary too."""
        await self._write(lambda memory: memory.clear())

    async def size(self) -> int:
        """The number of messages."""
        return await self._copy.size()

    async def entries(self) -> list[Entry]:
        """All messages with their marks."""
        return await self._copy.entries()

    async def refresh(self) -> bool:
        """Make the writes that wait, then bring in what others have written. Call it first of all, and now and then.

        Returns:
            Whether anything came in.
        """
        return await self._synchronize(look=True)

    async def aclose(self) -> None:
        """Try once more to make the writes that wait, and close the store. What comes later stays in the copy."""
        if self._waiting:
            await self._synchronize(look=False)
        async with self._turn:
            self._is_closed = True
            if self._store is not None:
                await self._store.aclose()

    async def _add(self, messages: tuple[Msg, ...], marks: tuple[str, ...], duplicates: bool) -> None:
        for msg in messages:
            # What a store cannot take must not be in the copy either.
            encode_body(msg)
        await self._write(lambda memory: memory._add(messages, marks, duplicates))

    async def _delete(self, ids: tuple[str, ...] | None, marks: tuple[str, ...]) -> int:
        return int(await self._write(lambda memory: memory._delete(ids, marks)))

    async def _read(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[str, list[Msg]]:
        return await self._copy._read(wanted, unwanted)

    async def _replace_mark(self, old: tuple[str, ...], new: tuple[str, ...], ids: tuple[str, ...] | None) -> int:
        return int(await self._write(lambda memory: memory._replace_mark(old, new, ids)))

    async def _set_marks(self, marks: Mapping[str, tuple[str, ...]]) -> int:
        return int(await self._write(lambda memory: memory._set_marks(marks)))

    async def _write(self, write: Write) -> Any:
        # The copy first: what it refuses must not reach the store. It never pauses, so both orders are the same.
        result = await write(self._copy)
        self._waiting.append(write)
        if not self.trouble:
            await self._synchronize(look=False)
        return result

    async def _synchronize(self, look: bool) -> bool:
        """Bring store and copy in step; whether anything came in. `look` also asks for what others have written.

        What has begun is carried through although the caller is cancelled: a write that the store has taken and that
        still counts as waiting would be made twice.
        """
        await self._turn.acquire()
        return await finish(self._synchronize_in_turn(look))

    async def _synchronize_in_turn(self, look: bool) -> bool:
        try:
            if self._is_closed:
                return False
            store = self._store or await self._opened()
            if look and self._is_in_step:
                await store.refresh()
            came_in = await self._bring_in_step(store)
        except StorageError as error:
            # What the store took may be less than what the copy holds: look at it whole once it is back.
            self._is_in_step, self._news = False, None
            self._tell(str(error))
            return False
        finally:
            self._turn.release()
        self._tell("")
        return came_in

    async def _opened(self) -> StoredMemory:
        self._store = await asyncio.to_thread(self._open)
        self._store.subscribe(self._follow_store)
        return self._store

    async def _bring_in_step(self, store: StoredMemory) -> bool:
        came_in = False
        while self._waiting or not self._is_in_step:
            await self._hand_over(store)
            if not self._is_in_step:
                content, self._news = self._news, None
                content = content or await _state_of(store)
                # What was said while the store was being read is in the copy only; then all of this once more.
                if not self._waiting:
                    self._is_in_step = True
                    came_in = await self._take_over(content.entries, content.summary) or came_in
        return came_in

    async def _hand_over(self, store: StoredMemory) -> None:
        """Make the writes that wait, in order."""
        if not self._is_in_step:
            await self._offer(store)
        while self._waiting:
            self._news = None
            try:
                await self._waiting[0](store)
            except (StorageError, asyncio.CancelledError):
                raise
            except Exception:
                # It will never be taken, and must not stand in the way of the rest.
                self._is_in_step = False
                self._waiting.pop(0)
                raise
            self._waiting.pop(0)

    async def _offer(self, store: StoredMemory) -> None:
        """Give what the copy holds to a store in which nothing was ever stored; then no write up to now has to wait."""
        is_again = self._offered is not None
        covered, state = self._offered or (len(self._waiting), await _state_of(self._copy))
        self._offered = covered, state
        # Where the answer got lost the last time, the store may have taken it; writes made on top would change it.
        was_taken = is_again and await _state_of(store) == state
        if was_taken or await store.begin_with(state.entries, state.summary):
            del self._waiting[:covered]
        self._offered = None

    async def _take_over(self, entries: list[Entry], summary: str) -> bool:
        """Make the copy what the store is; whether it was something else."""
        before = await self._copy.entries()
        changes = difference(before, entries)
        is_same = entries == before if changes is None else not changes.size
        self.tells_of_others = True
        try:
            if changes is None or changes.size * 2 > len(entries):
                if not is_same:
                    self._copy.content = [(msg, list(marks)) for msg, marks in entries]
            else:
                await changes.make(self._copy)
            if summary != self._copy._compressed_summary:
                await self._copy.update_compressed_summary(summary)
                return True
        finally:
            self.tells_of_others = False
        return not is_same

    def _tell(self, trouble: str) -> None:
        begins_or_ends = bool(trouble) != bool(self.trouble)
        self.trouble = trouble
        if begins_or_ends and self._on_trouble is not None:
            self._on_trouble(trouble)

    def _follow_store(self, change: MemoryChange) -> None:
        # Changes of our own are in the copy already; a snapshot tells that others have written as well.
        if isinstance(change, Snapshot):
            self._is_in_step, self._news = False, MemoryState()
            self._news.apply(change)

    def _follow_copy(self, change: MemoryChange) -> None:
        self._compressed_summary = self._copy._compressed_summary
        self._publish(change)


async def _state_of(memory: CheckedMemory) -> MemoryState:
    entries = await memory.entries()
    return MemoryState(entries, memory._compressed_summary)
