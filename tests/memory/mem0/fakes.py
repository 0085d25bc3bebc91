"""A client with the signatures of mem0's, for what no real one can be made to do."""

from __future__ import annotations

import asyncio
from typing import Any


class FakeClient:
    """Finds, and fails, as it is told; refuses what the real ones refuse.

    Attributes:
        calls: the methods called, with their arguments by name.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: list[Any] = []
        self._found: list[dict[str, Any]] = []
        self._failure: Exception | None = None
        self._gate: asyncio.Event | None = None
        self._add_gate: asyncio.Event | None = None

    def will_find(self, *texts: str) -> None:
        self._found = [{"id": text, "memory": text, "score": 0.9 - n / 10} for n, text in enumerate(texts)]

    def will_fail(self, failure: Exception) -> None:
        """The next call fails."""
        self._failure = failure

    def will_answer(self, *answers: Any) -> None:
        """What `add` gives, in order; one result each when there is nothing left."""
        self.answers += answers

    def hold_search(self) -> asyncio.Event:
        """Searches wait until the event is set."""
        self._gate = asyncio.Event()
        return self._gate

    def hold_add(self) -> asyncio.Event:
        """Writes wait until the event is set."""
        self._add_gate = asyncio.Event()
        return self._add_gate

    def added(self) -> list[Any]:
        """The messages of every write."""
        return [arguments["messages"] for name, arguments in self.calls if name == "add"]

    async def search(self, query: str, *, filters: dict[str, Any], **options: Any) -> Any:
        if "user_id" in options or "user_id" not in filters:
            raise ValueError("Top-level entity parameters are not supported in search(). Use filters instead.")
        self.calls.append(("search", {"query": query, "filters": filters, **options}))
        if self._gate is not None:
            await self._gate.wait()
        self._fail()
        return {"results": list(self._found)}

    async def add(self, messages: Any, *, user_id: str, **options: Any) -> Any:
        self.calls.append(("add", {"messages": messages, "user_id": user_id, **options}))
        if self._add_gate is not None:
            await self._add_gate.wait()
        self._fail()
        if self.answers:
            return self.answers.pop(0)
        return {"results": [{"id": str(len(self.calls)), "memory": messages[0]["content"], "event": "ADD"}]}

    def _fail(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
