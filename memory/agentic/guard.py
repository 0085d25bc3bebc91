"""`Guard`: permissions of the memory folder, which is a scope of its own in every mode.

Reading is allowed. Nothing is written in mode explore. In mode accept_edits memories are written freely, wherever the
folder is. Otherwise saving asks once a reply: one yes covers its other files and their lines in the index; "always"
covers the folder. What looks like a secret, or removes more than half of a file, asks in any mode but bypass, whatever
rules allow.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_core.errors import ToolError
from agent_core.message import ToolCallBlock
from agent_core.paths import escape, is_sensitive, one_line
from agent_core.permission import PermissionBehavior, PermissionDecision, PermissionMode, PermissionRule
from agent_core.tool.base import ToolBase
from agent_core.tool.file_tool import ChangingTool
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import path_in
from memory.agentic.tool_path import path_in_memory

if TYPE_CHECKING:
    from agent_core.agent import Agent

_WRITING_TOOLS = ("Write", "Edit")


class Guard:
    """Decides on calls that would change a memory folder; remembers for each reply what was allowed.

    Args:
        folder: the memory folder.
    """

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder = folder
        self._asked: dict[str | None, set[str]] = {}
        self._allowed: set[str | None] = set()

    async def decide(
        self,
        agent: Agent,
        call: ToolCallBlock,
        tool: ToolBase,
        arguments: dict[str, Any],
        decision: PermissionDecision,
    ) -> PermissionDecision:
        """The decision on a call, given what rules and mode say."""
        if decision.behavior is PermissionBehavior.DENY:
            return decision
        relative = await path_in_memory(self._folder, tool, arguments)
        if relative is None:
            return decision
        # Without rules to suggest, it is a rule that wants to be asked.
        is_plain_question = decision.behavior is PermissionBehavior.ASK and decision.suggested_rules
        if tool.is_read_only:
            # What it holds is put into prompts anyway.
            is_free = is_plain_question and not is_sensitive(relative)
            return _allowed(decision, "reading memories is allowed") if is_free else decision
        mode = agent.state.permission_context.mode
        concerns = await self._concerns(tool, relative, arguments) if mode is not PermissionMode.BYPASS else []
        reply_id = agent.state.reply_id
        if concerns:
            self._asked.setdefault(reply_id, set()).add(call.id)
            return _concerned(decision, relative, concerns, mode)
        if not is_plain_question or is_sensitive(relative):
            return decision
        if mode is PermissionMode.ACCEPT_EDITS:
            return _allowed(decision, "edits of memories are accepted")
        if reply_id in self._allowed:
            return _allowed(decision, "saving to memory was allowed for this reply")
        self._asked.setdefault(reply_id, set()).add(call.id)
        question = f"Save to memory, in {one_line(relative)}? (Asked once a reply.)"
        return replace(decision, message=question, suggested_rules=await self._rules(tool))

    def note_permitted(self, reply_id: str | None, call: ToolCallBlock) -> None:
        """A call is being made: if a person was asked about it, they said yes."""
        if call.id in self._asked.get(reply_id, ()):
            self._allowed.add(reply_id)

    def end_reply(self, reply_id: str | None) -> None:
        """Forget what was allowed for a reply that is over."""
        self._asked.pop(reply_id, None)
        self._allowed.discard(reply_id)

    async def _concerns(self, tool: ToolBase, relative: str, arguments: dict[str, Any]) -> list[str]:
        if not isinstance(tool, ChangingTool):
            return []
        # Imported late: its patterns cost more than the rest, and are needed only when something is saved.
        from memory.agentic.concerns import find_concerns

        path = path_in(await self._folder.root(), relative)
        try:
            before = await tool.present_bytes(path)
            after = await asyncio.to_thread(tool.changed, before, arguments)
        except ToolError:
            # The call cannot be made as it is; it will say so itself.
            return []
        return await asyncio.to_thread(find_concerns, before, after)

    async def _rules(self, tool: ToolBase) -> tuple[PermissionRule, ...]:
        pattern = f"{escape(await self._folder.root())}/**"
        names = dict.fromkeys((tool.name, *_WRITING_TOOLS))
        return tuple(PermissionRule(name, pattern, PermissionBehavior.ALLOW, "always") for name in names)


def _concerned(
    decision: PermissionDecision, relative: str, concerns: list[str], mode: PermissionMode
) -> PermissionDecision:
    reason = "; ".join(concerns)
    if mode is PermissionMode.DONT_ASK:
        message = f"Not saved to memory: in {one_line(relative)}, {reason}, and mode dont_ask denies what would ask."
        return PermissionDecision(PermissionBehavior.DENY, message, reason, (), decision.path)
    question = f"Save this to memory? In {one_line(relative)}, {reason}."
    return PermissionDecision(PermissionBehavior.ASK, question, reason, (), decision.path)


def _allowed(decision: PermissionDecision, reason: str) -> PermissionDecision:
    return PermissionDecision(PermissionBehavior.ALLOW, "", reason, (), decision.path)
