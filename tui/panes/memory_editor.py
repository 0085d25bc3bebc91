"""What a person does to the working memory. What came of it comes back through the trace."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.agent import Agent
from agent_core.marks import Entry
from memory.working.base import MemoryBase


class MemoryEditor:
    """Changes the memory of an agent. Everything may raise `NotImplementedError`: a memory need not be able to do it.

    Args:
        agent: whose memory is changed.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @property
    def limits(self) -> str:
        """What this memory cannot do, in words; empty when it can do everything."""
        if self._overrides("update_messages_mark"):
            return ""
        return f"{type(self._agent.memory).__name__} cannot change marks"

    async def toggle_marks(self, marks: Sequence[str], entries: Sequence[Entry]) -> int:
        """Set each mark on these messages; take it off when all of them have it. How many changed at most."""
        ids = [entry.msg.id for entry in entries]
        changed = 0
        for mark in marks:
            if all(mark in entry.marks for entry in entries):
                changed += await self._agent.memory.update_messages_mark(None, old_mark=mark, msg_ids=ids)
            else:
                changed += await self._agent.memory.update_messages_mark(mark, msg_ids=ids)
        await self._agent.catch_up()
        return changed

    async def replace_mark(self, old: str, new: str | None, msg_ids: Sequence[str] | None) -> int:
        """Put another mark in the place of one, or none; of these messages, or of all. How many changed."""
        changed = await self._agent.memory.update_messages_mark(new, old_mark=old, msg_ids=msg_ids)
        await self._agent.catch_up()
        return changed

    async def delete(self, msg_ids: Sequence[str]) -> int:
        """Delete messages; how many there were."""
        memory = self._agent.memory
        if not isinstance(memory, MemoryBase):
            raise NotImplementedError(f"{type(memory).__name__} cannot delete messages")
        deleted = await memory.delete(msg_ids)
        await self._agent.catch_up()
        return deleted

    def _overrides(self, method: str) -> bool:
        memory = type(self._agent.memory)
        return getattr(memory, method) is not getattr(MemoryBase, method)
