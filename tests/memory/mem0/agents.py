"""Agents with mem0, and what their traces say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_core.agent import Agent
from agent_core.event import FactsWritten, RetrievalEnded, RetrievalSettled, RetrievalSkipped
from agent_core.marks import MEMORY
from agent_core.message import HintBlock
from agent_core.model import ScriptedChatModel
from agent_core.model.scripted_model import Turn
from agent_core.tool.base import ToolBase, Toolkit
from memory.mem0 import Mem0Middleware


def agent_with(middleware: Mem0Middleware, *turns: Turn, tools: Sequence[ToolBase] = (), **options: Any) -> Agent:
    """An agent that plays `turns`, and "Fine." when there are none."""
    model = options.pop("model", None) or ScriptedChatModel(turns or ["Fine."], repeat_last=True)
    return Agent("a", "You help.", model, Toolkit(tools), [middleware], **options)


def written(agent: Agent) -> list[FactsWritten]:
    return agent.trace.of(FactsWritten)


def changes(agent: Agent) -> list[tuple[str, str]]:
    """What was done to which text, in order."""
    return [(change.action, change.text) for event in written(agent) for change in event.changes]


def outcomes(agent: Agent) -> list[str]:
    """How each search ended; what was not searched says so."""
    kinds = (RetrievalSettled, RetrievalSkipped)
    events = [event for event in agent.trace if isinstance(event, kinds)]
    return [event.outcome if isinstance(event, RetrievalSettled) else "skipped" for event in events]


def recalled(agent: Agent) -> list[str]:
    """The texts that searches have found."""
    return [memory.text for event in agent.trace.of(RetrievalEnded) for memory in event.memories]


async def injected(agent: Agent) -> list[str]:
    """What was put into the conversation, whole."""
    found = []
    for msg, marks in await agent.memory.entries():
        if MEMORY in marks:
            assert (msg.role, msg.name) == ("assistant", "memory")
            (block,) = msg.get_content_blocks(HintBlock)
            found.append(block.hint)
    return found


def sent(agent: Agent, request: int = -1) -> str:
    """All hints in one request to the agent's model."""
    messages = agent.model.requests[request].messages
    return "\n".join(block.hint for msg in messages for block in msg.get_content_blocks(HintBlock))
