"""What the agent asks of a working memory. `memory.MemoryBase` fulfils it; so may anything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agent_core.change import MemoryChange
from agent_core.marks import Entry, Marks
from agent_core.message import Msg

ChangeListener = Callable[[MemoryChange], None]


class WorkingMemory(Protocol):
    """Marked messages in insertion order, with a summary of what lies before them."""

    _compressed_summary: str

    async def add(self, memories: Msg | Sequence[Msg] | None, marks: Marks = None) -> None:
        """Append messages."""

    async def delete(self, msg_ids: Sequence[str]) -> int:
        """Delete messages by id; how many there were."""

    async def entries(self) -> list[Entry]:
        """All messages with their marks, in insertion order."""

    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        """Set, replace or remove a mark; the number of messages changed."""

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary."""

    def subscribe(self, listener: ChangeListener) -> Callable[[], None]:
        """Be told of every committed change; call what is returned to stop that."""
