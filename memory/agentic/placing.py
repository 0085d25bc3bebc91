"""Putting what a retrieval found into the working memory, so that the next prompt has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_core.marks import HINT
from memory.agentic.hint import held_versions, hint_message
from memory.agentic.retrieval import Retrieval

if TYPE_CHECKING:
    from agent_core.agent import Agent


async def place(agent: Agent, retrieval: Retrieval, round: int) -> None:
    """Add one hint message per memory that the conversation does not hold already, and settle the retrieval.

    Args:
        agent: whose working memory gets them.
        retrieval: one that has found something.
        round: the reasoning round that is about to begin, from 1.
    """
    held = held_versions(await agent.memory.entries())
    earlier_question = retrieval.question if retrieval.is_carried_over else ""
    msg_ids: list[str] = []
    known: list[str] = []
    for memory in retrieval.memories:
        relative = memory.path.removeprefix(f"{retrieval.source}/")
        if held.get(memory.path) == memory.content_hash:
            known.append(relative)
            continue
        msg = hint_message(memory, relative, earlier_question)
        await agent.memory.add(msg, marks=HINT)
        msg_ids.append(msg.id)
    detail = f"in the conversation already: {', '.join(known)}" if known else ""
    retrieval.settle("injected" if msg_ids else "known", round=round, msg_ids=tuple(msg_ids), detail=detail)
