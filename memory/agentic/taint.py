"""`Taint`: whether what a model writes into memory came from the result of a tool."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from agent_core.event import Origin
from agent_core.json_text import load_object
from agent_core.marks import Entry
from agent_core.message import HintBlock, ToolCallBlock, ToolResultBlock
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import relative_to
from memory.agentic.hint import FILE
from memory.agentic.journal import Journal
from memory.agentic.provenance import origin_of, quotes

if TYPE_CHECKING:
    from agent_core.agent import Agent

_LOOKED_BACK = 200
"""Messages of the conversation in which the source of a text is looked for."""


class Taint:
    """Knows which replies have had a tool's result, and finds what was taken from an earlier one.

    Reading a memory is no such result, unless that memory itself came from one.

    Args:
        folder: the memory folder.
        journal: its history.
    """

    def __init__(self, folder: MemoryFolder, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal
        self._replies: set[str | None] = set()

    def note(self, reply_id: str | None) -> None:
        """Remember that a reply has had the result of a tool."""
        self._replies.add(reply_id)

    def forget(self, reply_id: str | None) -> None:
        """Drop a reply that is over."""
        self._replies.discard(reply_id)

    async def origin(self, agent: Agent, written: str) -> Origin:
        """Where text came from that the model of an agent is writing into memory now: `model` or `tool`."""
        if agent.state.reply_id in self._replies:
            return "tool"
        async for source in self._sources((await agent.memory.entries())[-_LOOKED_BACK:]):
            if quotes(written, source):
                return "tool"
        return "model"

    async def is_trusted(self, path: object) -> bool:
        """Whether this is the path of a memory, and of one that did not come from a tool's result."""
        if not isinstance(path, str) or (located := await self._folder.locate(path)) is None:
            return False
        relative = relative_to(await self._folder.root(), located)
        return origin_of(relative, await self._journal.settled()) != "tool"

    async def _sources(self, entries: Sequence[Entry]) -> AsyncIterator[str]:
        """What tools have said, and memories that came from tools."""
        paths = {call.id: _path_in(call) for msg, _ in entries for call in msg.get_content_blocks(ToolCallBlock)}
        for msg, _ in entries:
            for result in msg.get_content_blocks(ToolResultBlock):
                if not await self.is_trusted(paths.get(result.id)):
                    yield result.text()
            for hint in msg.get_content_blocks(HintBlock):
                if (path := msg.get_metadata(FILE)) and not await self.is_trusted(path):
                    yield hint.hint


def _path_in(call: ToolCallBlock) -> object:
    try:
        return load_object(call.input).get("file_path")
    except ValueError:
        return None
