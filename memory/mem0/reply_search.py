"""`ReplySearch`: the search that goes with one reply, from its start to what is put in of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_core.event import RecalledMemory
from agent_core.marks import MEMORY
from memory.agentic.recall import StageListener
from memory.agentic.retrieval import Retrieval, wait_for
from memory.mem0.answers import Fact, worth_telling
from memory.mem0.injection import injected_message, is_held, recalled

if TYPE_CHECKING:
    from agent_core.agent import Agent

_OPENING_SECONDS = 20.0
"""How long the first model call waits for the memory to be opened, at most; importing mem0 alone takes seconds."""


class ReplySearch:
    """Looks up in the background what a user says. It begins when it is made.

    Args:
        agent: the one that replies.
        source: names the memory.
        question: what is looked up.
        open_memory: opens the memory, if it is not open.
        search: gives the facts that fit a question.
        max_tokens: of what is put in; None for no limit.
    """

    def __init__(
        self,
        agent: Agent,
        source: str,
        question: str,
        open_memory: Callable[[], Awaitable[None]],
        search: Callable[[str], Awaitable[list[Fact]]],
        max_tokens: int | None,
    ) -> None:
        self._agent = agent
        self._source = source
        self._open_memory = open_memory
        self._search = search
        self._max_tokens = max_tokens
        self._opened = asyncio.Event()
        self._opened_at = 0.0
        self._retrieval = Retrieval(source, question, agent.state.reply_id, agent.trace.append)
        self._retrieval.start(self._find)

    async def wait(self, seconds: float) -> None:
        """Wait for it so many seconds at most; before that, the first time, for the memory to be opened."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._opened.wait(), _OPENING_SECONDS)
            waited = time.monotonic() - self._opened_at
            await wait_for([self._retrieval], max(0.0, seconds - waited))

    async def place(self, number: int) -> None:
        """Put what was found, if anything was, into the agent's memory before its round `number`."""
        if not self._retrieval.is_found:
            return
        agent, memories = self._agent, self._retrieval.memories
        if is_held(memories, await agent.memory.entries(), self._source, agent.memory_filter):
            self._retrieval.settle("known", round=number, detail="in the conversation already")
            return
        msg = injected_message(memories, self._source)
        await agent.memory.add(msg, marks=MEMORY)
        self._retrieval.settle("injected", round=number, msg_ids=(msg.id,))

    async def end(self, *, is_cancelled: bool) -> None:
        """The reply is over, and what has not been put in comes too late."""
        if not self._retrieval.is_settled:
            await self._retrieval.cancel("cancelled" if is_cancelled else "late")

    async def _find(self, question: str, on_stage: StageListener) -> tuple[RecalledMemory, ...]:
        try:
            await self._open_memory()
        finally:
            self._opened_at = time.monotonic()
            self._opened.set()
        started = time.perf_counter()
        facts = await self._search(question)
        memories = recalled(worth_telling(facts), self._source, self._max_tokens)
        related = sum(fact.is_related for fact in facts)
        told = f"{len(facts)} found, {related} related, {len(memories)} to be told"
        on_stage("search", time.perf_counter() - started, told)
        return memories
