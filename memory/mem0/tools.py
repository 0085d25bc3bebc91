"""The two tools by which a model reads and writes mem0 itself, and what it is told about them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent_core.errors import MnemoscopeError, ToolError
from agent_core.event import FactsWritten
from agent_core.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agent_core.tool.base import ToolBase, ToolOutput
from memory.mem0.answers import Fact, worth_telling
from memory.mem0.injection import fact_line

Search = Callable[[str, int], Awaitable[list[Fact]]]
"""Finds at most so many memories for a question."""
Keep = Callable[[Sequence[str]], Awaitable[FactsWritten]]
"""Takes sentences into the memory."""

SEARCH = "search_memory"
ADD = "add_memory"
MOST = 50
"""Memories that one search gives, at most."""

_SEARCH_INSTRUCTION = f"Call {SEARCH} with a few short, distinct keywords when earlier conversations may help."
_ADD_INSTRUCTION = (
    f"Call {ADD} when you learn something about this user that will matter later: write complete sentences that can be"
    " understood alone, in the user's language. Do not store secrets, or what is only of use right now."
)


def tool_instructions(names: Sequence[str]) -> str:
    """What the model is told of those of the two tools that it has; empty when it has neither."""
    told = [text for name, text in ((SEARCH, _SEARCH_INSTRUCTION), (ADD, _ADD_INSTRUCTION)) if name in names]
    if not told:
        return ""
    return "\n".join(["You have a long-term memory of this user that outlasts this conversation.", *told])


class _MemoryTool(ToolBase):
    """Allowed without asking: it reaches this user's memory and nothing else."""

    is_concurrency_safe = True

    async def check_permissions(self, arguments: dict[str, Any], context: PermissionContext) -> PermissionDecision:
        """Always allow."""
        return PermissionDecision(PermissionBehavior.ALLOW, decision_reason="it reaches this user's memory only")


class SearchMemory(_MemoryTool):
    """Looks memories up by keywords, each a search of its own."""

    name = SEARCH
    is_read_only = True

    def __init__(self, search: Search, limit: int) -> None:
        self._search = search
        self._limit = limit
        self.description = (
            "Search the long-term memory of this user. Each keyword or short phrase is looked up by itself."
        )
        self.input_schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                "keywords": {"type": "array", "items": {"type": "string"}, "description": "A few short, precise ones."},
                "limit": {"type": "integer", "description": f"Memories wanted, at most; {limit} unless given."},
            },
            "required": ["keywords"],
        }

    async def call(self, *, keywords: Sequence[str], limit: int | None = None) -> ToolOutput:
        """The memories found, best first, without doubles.

        Raises:
            ToolError: no search could be made.
        """
        wanted = list(dict.fromkeys(_texts(keywords)))
        if not wanted:
            return "Nothing was searched for: give one or more keywords."
        count = min(MOST, self._limit if limit is None else limit)
        results = await asyncio.gather(*(self._search(word, count) for word in wanted), return_exceptions=True)
        found = [result for result in results if not isinstance(result, BaseException)]
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures and not found:
            raise ToolError(f"The memory could not be searched: {failures[0]}")
        facts = _merged([worth_telling(result) for result in found])[: max(0, count)]
        lines = [f"- {fact_line(fact)}{_score(fact)}" for fact in facts] or ["No memory fits these keywords."]
        if failures:
            lines.append(f"({len(failures)} of {len(results)} searches failed: {failures[0]})")
        return "\n".join(lines)


class AddMemory(_MemoryTool):
    """Stores sentences; what the model thought about them stays in the conversation."""

    name = ADD
    description = "Store what should be remembered about this user beyond this conversation."

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self.input_schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                "thinking": {"type": "string", "description": "Why this is worth remembering. It is not stored."},
                "content": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Complete sentences, each of which can be understood alone.",
                },
            },
            "required": ["thinking", "content"],
        }

    async def call(self, *, thinking: str, content: Sequence[str]) -> ToolOutput:
        """What became of each sentence.

        Raises:
            ToolError: nothing could be stored.
        """
        texts = _texts(content)
        if not texts:
            raise ToolError("There is nothing to store: content must hold at least one sentence.")
        try:
            written = await self._keep(texts)
        except MnemoscopeError as error:
            raise ToolError(f"Nothing was stored: {error}") from error
        return f"{_report(written)}\nThinking: {thinking}"


def _texts(values: Sequence[str]) -> list[str]:
    """What a model gave as a list of texts: blanks and nulls left out, one text taken for a list of one."""
    items = [values] if isinstance(values, str) else values
    return [text for one in items if one is not None and (text := str(one).strip())]


def _merged(results: Sequence[Sequence[Fact]]) -> list[Fact]:
    """All facts once each, the best first; where there are no scores, one of each search in turn."""
    ranked = sorted(
        ((rank, fact) for result in results for rank, fact in enumerate(result)),
        key=lambda pair: (-(pair[1].score or 0.0), pair[0]),
    )
    best: dict[str, Fact] = {}
    for _, fact in ranked:
        best.setdefault(" ".join(fact.text.split()), fact)
    return list(best.values())


def _score(fact: Fact) -> str:
    return "" if fact.score is None else f" [score {fact.score:.2f}]"


def _report(written: FactsWritten) -> str:
    verbs = {"added": "Stored", "known": "Known already", "superseded": "Marked as replaced", "updated": "Updated"}
    lines = [f"{verbs.get(change.action, change.action)}: {change.text}" for change in written.changes]
    if not lines:
        lines.append({"accepted": "Accepted", "unknown": "Perhaps stored"}.get(written.finish, "Nothing was new"))
    return "\n".join([*lines, *([f"({written.detail})"] if written.detail else [])])
