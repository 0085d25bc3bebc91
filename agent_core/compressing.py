"""Carries a compression out on an agent's memory, all or nothing."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from agent_core.compression import (
    ContextConfig,
    older_part,
    oldest_that_fit,
    summarize,
    transcript_room,
    transcript_tokens,
)
from agent_core.errors import ContextOverflow, MnemoscopeError
from agent_core.event import CompressionEnded, CompressionStarted
from agent_core.finishing import finish
from agent_core.history import judge_history
from agent_core.marks import COMPRESSED, Entry
from agent_core.message import Msg
from agent_core.model.base import ChatModelBase
from agent_core.tokens import estimate_message_tokens, estimate_tokens

if TYPE_CHECKING:
    from agent_core.agent import Agent

_TRIES = 4
"""How often a summary is asked for, of half as much each time, where the endpoint finds the request too long."""


async def compress_memory(agent: Agent, config: ContextConfig, instructions: str = "") -> bool:
    """Summarise the older part of the agent's memory and mark it `compressed`.

    Where that does not fit into the model's window at once, the oldest of it is: nothing is covered that the summary
    has not seen.

    Returns:
        Whether anything was covered; False when there is nothing old enough.

    Raises:
        MnemoscopeError: no summary could be had, or the messages were changed meanwhile; nothing was changed.
        NotImplementedError: the memory cannot set marks; nothing was changed.
    """
    previous = agent.memory._compressed_summary
    entries = await agent.memory.entries()
    verdicts = judge_history(entries, agent.memory_filter, has_summary=bool(previous))
    older = older_part(verdicts, config.keep_recent)
    if not older:
        return False
    model = config.compression_model or agent.model
    room = transcript_room(model, previous, config, instructions)
    if room is not None and model is agent.model:
        room = int(room / agent.token_ratio)
    messages = [entry.msg for entry in oldest_that_fit(older, room)]
    tokens = sum(map(estimate_message_tokens, messages))
    reply_id = agent.state.reply_id
    agent.trace.append(CompressionStarted(messages=len(messages), tokens=tokens, reply_id=reply_id))
    started = time.monotonic()

    def end(error: str = "", covered: int = 0, summary: str = "") -> None:
        seconds = time.monotonic() - started
        size = estimate_tokens(summary) if summary else 0
        agent.trace.append(
            CompressionEnded(covered=covered, summary_tokens=size, seconds=seconds, error=error, reply_id=reply_id)
        )

    async def cover(summary: str) -> None:
        try:
            await _cover(agent, previous, summary, [msg.id for msg in messages])
        except BaseException as error:
            end(str(error) or "interrupted")
            raise
        end(covered=len(messages), summary=summary)

    try:
        # A memory that cannot set marks says so here, before a summary is paid for.
        await agent.memory.update_messages_mark(COMPRESSED, msg_ids=[])
        summary, messages = await _summarize_oldest(model, older, previous, config, instructions, room)
    except BaseException as error:
        end("interrupted" if isinstance(error, asyncio.CancelledError) else str(error))
        raise
    # The two writes belong together: a cancellation that arrives between them must not tear them apart.
    await finish(cover(summary))
    return True


async def _summarize_oldest(
    model: ChatModelBase, older: list[Entry], previous: str, config: ContextConfig, instructions: str, room: int | None
) -> tuple[str, list[Msg]]:
    """A summary, and what it covers: as many of the oldest messages as the endpoint takes at once."""
    tries = _TRIES
    while True:
        messages = [entry.msg for entry in oldest_that_fit(older, room)]
        try:
            summary, _ = await summarize(model, messages, previous, config, instructions, room)
        except ContextOverflow:
            # The window is unknown, or smaller than was told.
            tries -= 1
            if not tries:
                raise
            room = transcript_tokens(messages) // 2
        else:
            return summary, messages


async def _cover(agent: Agent, previous: str, summary: str, msg_ids: list[str]) -> None:
    memory = agent.memory
    stored = {entry.msg.id for entry in await memory.entries()}
    if memory._compressed_summary != previous or not stored.issuperset(msg_ids):
        # What somebody has deleted meanwhile must not live on in a summary, nor replace one that somebody has changed.
        raise MnemoscopeError("The messages or their summary were changed while they were summarised: try again.")
    await memory.update_compressed_summary(summary)
    try:
        await memory.update_messages_mark(COMPRESSED, msg_ids=msg_ids)
    except BaseException:
        await memory.update_compressed_summary(previous)
        raise
