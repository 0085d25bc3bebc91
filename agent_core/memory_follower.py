"""Keeps a trace in step with a working memory."""

from __future__ import annotations

from collections.abc import Callable

from agent_core.change import MemoryChange, MemoryState, Snapshot, stored
from agent_core.event import MemoryChanged
from agent_core.trace import Trace
from agent_core.working_memory import WorkingMemory


class MemoryFollower:
    """Appends every change that a memory publishes, and a snapshot wherever the trace would otherwise be wrong.

    Args:
        memory: what is followed.
        trace: where changes go; one that was restored already holds earlier changes.
        reply_id: gives the id of the running reply, or None.
    """

    def __init__(self, memory: WorkingMemory, trace: Trace, reply_id: Callable[[], str | None]) -> None:
        self._memory = memory
        self._trace = trace
        self._reply_id = reply_id
        self._started = False
        self._publishes = bool(getattr(memory, "publishes_changes", False))
        changes = trace.of(MemoryChanged)
        self._is_new = not changes
        self._known = MemoryState()
        for event in changes:
            self._known.apply(event.change)
        memory.subscribe(self._on_change)

    async def start(self) -> None:
        """Append a snapshot, unless the trace tells already what the memory holds."""
        if not self._started:
            self._started = True
            await self._reconcile(force=self._is_new)
            if self._publishes:
                # From here on the changes say everything; a second copy of the list would only cost memory.
                self._known = MemoryState()

    async def compare(self) -> None:
        """Append a snapshot where a memory that publishes nothing has changed."""
        if not self._publishes:
            await self._reconcile()

    def _on_change(self, change: MemoryChange) -> None:
        self._trace.append(MemoryChanged(change=change, reply_id=self._reply_id()))
        if not self._started or not self._publishes:
            self._known.apply(change)
            self._is_new = self._is_new and not isinstance(change, Snapshot)

    async def _reconcile(self, force: bool = False) -> None:
        entries = await self._memory.entries()
        summary = self._memory._compressed_summary
        if force or entries != self._known.entries or summary != self._known.summary:
            self._known = MemoryState(entries, summary)
            snapshot = Snapshot(stored(entries), summary)
            self._trace.append(MemoryChanged(change=snapshot, reply_id=self._reply_id()))
