"""Carries a compression out on an agent's memory, all or nothing."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from agent_core.compression import ContextConfig, older_part, summarize
from agent_core.event import CompressionEnded, CompressionStarted
from agent_core.history import judge_history
from agent_core.marks import COMPRESSED
from agent_core.tokens import estimate_message_tokens, estimate_tokens

if TYPE_CHECKING:
    from agent_core.agent import Agent


async def compress_memory(agent: Agent, config: ContextConfig, instructions: str = "") -> bool:
    """Summarise the older part of the agent's memory and mark it `compressed`.

    Returns:
        Whether anything was covered; False when there is nothing old enough.

    Raises:
        MnemoscopeError: no summary could be had; nothing was changed.
        NotImplementedError: the memory cannot set marks; nothing was changed.
    """
    previous = agent.memory._compressed_summary
    entries = await agent.memory.entries()
    verdicts = judge_history(entries, agent.memory_filter, has_summary=bool(previous))
    older = older_part(verdicts, config.keep_recent)
    if not older:
        return False
    messages = [entry.msg for entry in older]
    tokens = sum(map(estimate_message_tokens, messages))
    reply_id = agent.state.reply_id
    agent.trace.append(CompressionStarted(messages=len(messages), tokens=tokens, reply_id=reply_id))
    started = time.monotonic()
    ended = CompressionEnded(error="interrupted", reply_id=reply_id)
    try:
        model = config.compression_model or agent.model
        summary, _ = await summarize(model, messages, previous, config, instructions)
        # The two writes belong together: a cancellation that arrives between them must not tear them apart.
        await asyncio.shield(asyncio.ensure_future(_cover(agent, summary, [msg.id for msg in messages])))
        ended = CompressionEnded(
            covered=len(messages),
            summary_tokens=estimate_tokens(summary),
            seconds=time.monotonic() - started,
            reply_id=reply_id,
        )
    except Exception as error:
        ended = CompressionEnded(error=str(error), seconds=time.monotonic() - started, reply_id=reply_id)
        raise
    finally:
        agent.trace.append(ended)
    return True


async def _cover(agent: Agent, summary: str, msg_ids: list[str]) -> None:
    before = agent.memory._compressed_summary
    await agent.memory.update_compressed_summary(summary)
    try:
        await agent.memory.update_messages_mark(COMPRESSED, msg_ids=msg_ids)
    except BaseException:
        await agent.memory.update_compressed_summary(before)
        raise
