"""`FileEvents`: what the journal of a memory records, told to the traces of the agents that use the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakSet

from msgspec.structs import replace

from agent_core.errors import StorageError
from agent_core.event import Event, FileChanged, Noticed
from agent_core.tool.diff import unified_diff
from memory.agentic.folder_paths import path_in
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import JournalEntry

if TYPE_CHECKING:
    from agent_core.agent import Agent

_TOLD_ONE_BY_ONE = 100
"""Changes that are found at once, such as after a sync, and told each by an event of its own."""


class FileEvents:
    """Appends a `FileChanged` to the trace of every agent for each change, whoever made it.

    What happens before there is an agent is told to the first one.

    Args:
        journal: the history of the memory.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._agents: WeakSet[Agent] = WeakSet()
        self._untold: list[Event] = []
        self._has_told_problem = False
        journal.listeners.append(self._tell)

    def know(self, agent: Agent) -> None:
        """Tell this agent of everything from now on."""
        if agent not in self._agents:
            self._agents.add(agent)
            untold, self._untold = self._untold, []
            for event in untold:
                agent.trace.append(event)

    def tell_problem(self, problem: Exception) -> None:
        """Say that something could not be recorded, once until something could be again."""
        if not self._has_told_problem:
            self._has_told_problem = True
            text = f"A change of the memory is not recorded and cannot be undone. {problem}"
            self._append(Noticed(text=text, level="warning"))

    async def _tell(self, entries: Sequence[JournalEntry]) -> None:
        self._has_told_problem = False
        for entry in entries[:_TOLD_ONE_BY_ONE]:
            self._append(await self._event(entry), entry.reply_id)
        more = len(entries) - _TOLD_ONE_BY_ONE
        if more > 0:
            self._append(Noticed(text=f"{more:,} more memory files have changed; their history tells what."))

    def _append(self, event: Event, reply_id: str = "") -> None:
        if not self._agents:
            self._untold.append(event)
        for agent in list(self._agents):
            is_here = bool(reply_id) and agent.state.reply_id == reply_id
            agent.trace.append(replace(event, reply_id=reply_id) if is_here else event)

    async def _event(self, entry: JournalEntry) -> FileChanged:
        root = await self._journal.folder.root()
        return FileChanged(
            path=path_in(root, entry.path),
            origin=entry.origin,
            diff=await self._diff(entry),
            call_id=entry.call_id,
            msg_id=entry.msg_id,
            entry_id=entry.id,
            action=entry.action,
            before_hash=entry.before or "",
            after_hash=entry.after or "",
            from_path=path_in(root, entry.from_path) if entry.from_path else "",
        )

    async def _diff(self, entry: JournalEntry) -> str:
        try:
            before, after = [await self._journal.content(digest) for digest in (entry.before, entry.after)]
        except StorageError:
            return ""
        if (before is None) != (entry.before is None) or (after is None) != (entry.after is None):
            return ""
        return await asyncio.to_thread(unified_diff, before, after, entry.path)
