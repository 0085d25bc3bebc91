"""What a person does to the memories of mem0, told in the trace like all other writes."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

from agent_core.agent import Agent
from agent_core.event import FactChange, FactsFinish, FactsWritten

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware


class FactsEditor:
    """Changes the memories of a user, and gives what a person should be told of it, often nothing.

    Everything may raise a `MnemoscopeError`, or what a client of the user's own does.

    Args:
        agent: whose trace tells of it.
        middleware: whose memories are changed.
    """

    def __init__(self, agent: Agent, middleware: Mem0Middleware) -> None:
        self._agent = agent
        self._middleware = middleware

    async def add(self, text: str) -> str:
        """Store a text as it is, unless it is there already."""
        started = time.perf_counter()
        written = await self._middleware.facts.add(text)
        self._tell(started, written.changes, written.finish, written.detail)
        return "That is known already." if written.finish == "nothing" else ""

    async def update(self, memory_id: str, text: str) -> str:
        """Give a memory another text."""
        started = time.perf_counter()
        self._tell(started, (await self._middleware.facts.update(memory_id, text),))
        return ""

    async def delete(self, memory_id: str) -> str:
        """Delete a memory."""
        started = time.perf_counter()
        self._tell(started, (await self._middleware.facts.delete(memory_id),))
        return ""

    def _tell(
        self, started: float, changes: tuple[FactChange, ...], finish: FactsFinish = "stored", detail: str = ""
    ) -> None:
        self._agent.trace.append(
            FactsWritten(
                write_id=uuid.uuid4().hex,
                source=self._middleware.scope.source,
                finish=finish,
                how="by_hand",
                changes=changes,
                detail=detail,
                seconds=time.perf_counter() - started,
            )
        )
