"""`Recording`: has the history of a memory tell what models and other programs do to its files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_core.errors import StorageError
from agent_core.event import Origin, RecalledMemory
from agent_core.message import Msg, ToolCallBlock
from agent_core.tool.base import ToolBase
from agent_core.tool.file_tool import ChangingTool
from memory.agentic.added_lines import added_lines
from memory.agentic.file_events import FileEvents
from memory.agentic.folder import INDEX_NAME, Scan
from memory.agentic.folder_paths import relative_to
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import Action, Author, JournalEntry, new_entry
from memory.agentic.memory_disk import MemoryDisk
from memory.agentic.outside_watch import OutsideWatch
from memory.agentic.provenance import fence, origin_of
from memory.agentic.taint import Taint
from memory.agentic.tool_path import path_of_call
from memory.agentic.watched_folder import WatchedFolder

if TYPE_CHECKING:
    from agent_core.agent import Agent


class Recording:
    """Watches over a memory folder for the agents that use it.

    Args:
        folder: the memory folder; its scans are looked at in the background.
        journal: its history.

    Attributes:
        session_id: the session that the changes are made in, where there is one.
    """

    def __init__(self, folder: WatchedFolder, journal: Journal) -> None:
        self.session_id = ""
        self._folder = folder
        self._journal = journal
        self._disk = MemoryDisk(folder)
        self._events = FileEvents(journal)
        self._watch = OutsideWatch(folder, journal)
        self._taint = Taint(folder, journal)
        self._causes: dict[str | None, str] = {}
        self._scan: Scan | None = None
        self._looking: asyncio.Task[None] | None = None
        folder.on_scan = self._look_later

    def know(self, agent: Agent) -> None:
        """Tell the trace of this agent what is recorded from now on."""
        self._events.know(agent)

    def begin_reply(self, agent: Agent, inputs: Sequence[Msg]) -> None:
        """A reply begins: what it changes is because of its last input."""
        self.know(agent)
        said = [msg.id for msg in inputs if msg.role == "user"]
        self._causes[agent.state.reply_id] = said[-1] if said else ""

    def end_reply(self, reply_id: str | None) -> None:
        """A reply is over."""
        self._causes.pop(reply_id, None)
        self._taint.forget(reply_id)

    @asynccontextmanager
    async def around(self, agent: Agent, call: ToolCallBlock) -> AsyncIterator[None]:
        """Record what the call that is made inside does to the memory; nobody else changes the memory meanwhile.

        Where it cannot be recorded, the call is made all the same, and the trace says so.
        """
        tool = agent.toolkit.get(call.name)
        relative = await path_of_call(self._folder, tool, call) if tool else None
        if tool is None or relative is None or tool.is_read_only:
            yield
            await self._note_result(agent, tool, relative)
            return
        held = AsyncExitStack()
        before: bytes | None = None
        pending: JournalEntry | None = None
        try:
            await held.enter_async_context(self._journal.changing())
            before = await self._disk.read(relative)
            pending = await self._begin(agent, call, relative, before)
        except StorageError as error:
            self._events.tell_problem(error)
        try:
            yield
        finally:
            try:
                if pending is not None:
                    await self._finish(agent, pending, before)
                await held.aclose()
            except StorageError as error:
                self._events.tell_problem(error)

    async def with_origins(self, memories: Sequence[RecalledMemory]) -> tuple[RecalledMemory, ...]:
        """Recalled memories, each with where it came from; what came from a tool is fenced."""
        try:
            entries = await self._journal.settled()
        except StorageError as error:
            self._events.tell_problem(error)
            return tuple(memories)
        root = await self._folder.root()
        origins = [origin_of(relative_to(root, memory.path), entries) for memory in memories]
        return tuple(
            replace(memory, text=fence(memory.text, origin), origin=origin)
            for memory, origin in zip(memories, origins, strict=True)
        )

    async def origin_of_index(self) -> Origin:
        """Where what the index says came from; what the model wrote, or a person, where that cannot be known."""
        try:
            return origin_of(INDEX_NAME, await self._journal.settled())
        except StorageError as error:
            self._events.tell_problem(error)
            return "outside"

    async def settled(self) -> None:
        """Wait until all that was scanned has been looked at."""
        if self._looking is not None:
            await asyncio.gather(self._looking, return_exceptions=True)

    async def aclose(self) -> None:
        """Stop looking."""
        if self._looking is not None:
            self._looking.cancel()
            await self.settled()

    async def _note_result(self, agent: Agent, tool: ToolBase | None, relative: str | None) -> None:
        is_own = isinstance(tool, ChangingTool)
        with suppress(StorageError):
            if not is_own and (relative is None or not await self._taint.is_trusted(relative)):
                self._taint.note(agent.state.reply_id)

    async def _begin(self, agent: Agent, call: ToolCallBlock, relative: str, before: bytes | None) -> JournalEntry:
        author = Author(
            origin="model",
            session_id=self.session_id,
            reply_id=agent.state.reply_id or "",
            call_id=call.id,
            msg_id=self._causes.get(agent.state.reply_id, ""),
        )
        action: Action = "create" if before is None else "edit"
        entry = new_entry(relative, action, author, self._journal.clock(), before=before, is_pending=True)
        await self._journal.record([entry], [before])
        return entry

    async def _finish(self, agent: Agent, pending: JournalEntry, before: bytes | None) -> None:
        after = await self._disk.read(pending.path)
        if after == before:
            await self._journal.void([pending.id])
            return
        action = "delete" if after is None else pending.action
        origin = await self._taint.origin(agent, added_lines(before, after).decode(errors="replace"))
        await self._journal.settle(pending.id, after, action=action, origin=origin)

    def _look_later(self, scan: Scan) -> None:
        self._scan = scan
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="look at memory files")

    async def _look(self) -> None:
        while (scan := self._scan) is not None:
            self._scan = None
            try:
                await self._watch.look(scan)
            except StorageError as error:
                self._events.tell_problem(error)
