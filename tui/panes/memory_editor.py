"""What a person does to the working memory, each as one step that can be undone. The trace tells what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NamedTuple, TypeVar

from agent_core.agent import Agent
from agent_core.marks import COMPRESSED, Entry
from memory.working.base import MemoryBase
from memory.working.undo import UndoHistory
from tui.mark_syntax import format_mark, format_marks
from tui.views.figures import plural

T = TypeVar("T")


class Change(NamedTuple):
    """What was done, in words, and how many messages really changed at most."""

    label: str
    messages: int


class MemoryEditor:
    """Changes the memory of an agent, one thing after the other; a change that has begun is carried to its end.

    Everything may raise `NotImplementedError`: a memory need not be able to do it.

    Args:
        agent: whose memory is changed.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        memory = agent.memory
        self._history = UndoHistory(memory) if isinstance(memory, MemoryBase) and memory.publishes_changes else None
        self._turn = asyncio.Lock()

    @property
    def can_undo(self) -> bool:
        """Whether marks and deletions in this memory can be taken back."""
        return self._history is not None and self._overrides("set_marks") and self._overrides("restore")

    @property
    def limits(self) -> str:
        """What this memory cannot do, in words; empty when it can do everything."""
        missing = [] if self._overrides("update_messages_mark") else ["change marks"]
        missing += [] if self.can_undo else ["undo"]
        return f"{self._name} cannot {' or '.join(missing)}" if missing else ""

    async def toggle_marks(self, marks: Sequence[str], entries: Sequence[Entry]) -> Change:
        """Set each mark on these messages; take it off when all of them have it."""
        memory, ids = self._agent.memory, [entry.msg.id for entry in entries]
        off = tuple(mark for mark in marks if all(mark in entry.marks for entry in entries))
        on = tuple(mark for mark in marks if mark not in off)

        async def toggle() -> int:
            changed = 0
            for mark in off:
                changed += await memory.update_messages_mark(None, old_mark=mark, msg_ids=ids)
            for mark in on:
                changed += await memory.update_messages_mark(mark, msg_ids=ids)
            return changed

        verbs = [f"set {format_marks(on)}"] if on else []
        verbs += [f"take off {format_marks(off)}"] if off else []
        return await self._edit(f"{', '.join(verbs)} on {plural(len(entries), 'message')}", toggle)

    async def rename_mark(self, old: str, new: str, msg_ids: Sequence[str]) -> Change:
        """Put a mark in the place of another on these messages."""
        memory = self._agent.memory
        label = f"rename {format_mark(old)} to {format_mark(new)} on {plural(len(msg_ids), 'message')}"
        return await self._edit(label, lambda: memory.update_messages_mark(new, old_mark=old, msg_ids=msg_ids))

    async def remove_mark(self, mark: str, msg_ids: Sequence[str]) -> Change:
        """Take a mark off these messages."""
        memory = self._agent.memory
        label = f"take {format_mark(mark)} off {plural(len(msg_ids), 'message')}"
        return await self._edit(label, lambda: memory.update_messages_mark(None, old_mark=mark, msg_ids=msg_ids))

    async def delete(self, msg_ids: Sequence[str]) -> Change:
        """Delete messages."""
        memory = self._base("delete messages")
        return await self._edit(f"delete {plural(len(msg_ids), 'message')}", lambda: memory.delete(msg_ids))

    async def clear(self) -> Change:
        """Delete everything, the summary too."""
        memory = self._base("delete messages")

        async def clear() -> int:
            count = await memory.size()
            await memory.clear()
            return count

        return await self._edit("delete everything", clear)

    async def edit_summary(self, summary: str) -> Change:
        """Put another text in the place of the summary; what it covers stays covered."""

        async def replace() -> int:
            await self._agent.memory.update_compressed_summary(summary)
            return 1

        return await self._edit("edit the summary", replace)

    async def remove_summary(self) -> Change:
        """Do without the summary: what it covers is sent itself again."""
        memory = self._agent.memory

        async def remove() -> int:
            # In this order nothing is ever covered by a summary that is not there.
            await memory.update_compressed_summary("")
            return await memory.update_messages_mark(None, old_mark=COMPRESSED) + 1

        return await self._edit("remove the summary", remove)

    async def undo(self) -> str | None:
        """Take the last step back; what it was, in words, or None when there is nothing to undo.

        Raises:
            MnemoscopeError: it cannot be taken back any more.
        """
        return await self._step(lambda history: history.undo())

    async def redo(self) -> str | None:
        """Do the step again that was undone last; as `undo`."""
        return await self._step(lambda history: history.redo())

    async def _step(self, step: Callable[[UndoHistory], Awaitable[str | None]]) -> str | None:
        history = self._history
        if history is None:
            raise NotImplementedError(f"{self._name} does not tell what it changes, so nothing can be undone")
        return await self._to_the_end(lambda: step(history))

    async def _edit(self, label: str, change: Callable[[], Awaitable[int]]) -> Change:
        async def carry_out() -> Change:
            async with self._recording(label):
                return Change(label, await change())

        return await self._to_the_end(carry_out)

    async def _to_the_end(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do one thing at a time, and do it whole: whoever waits may be cancelled, a change is not torn apart."""

        async def take_turn() -> T:
            async with self._turn:
                result = await work()
                await self._agent.catch_up()
                return result

        return await asyncio.shield(asyncio.ensure_future(take_turn()))

    def _recording(self, label: str) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._history is None else self._history.recording(label)

    def _base(self, ability: str) -> MemoryBase:
        memory = self._agent.memory
        if not isinstance(memory, MemoryBase):
            raise NotImplementedError(f"{self._name} cannot {ability}")
        return memory

    @property
    def _name(self) -> str:
        return type(self._agent.memory).__name__

    def _overrides(self, method: str) -> bool:
        base = getattr(MemoryBase, method)
        return getattr(type(self._agent.memory), method, base) is not base
