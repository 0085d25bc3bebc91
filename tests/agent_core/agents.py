"""Small agents and tools that the tests of the agent share."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from agent_core.agent import Agent
from agent_core.message import ToolCallBlock
from agent_core.model.scripted_model import ScriptedChatModel, Turn
from agent_core.tool.base import ToolBase, Toolkit, ToolOutput


class Echo(ToolBase):
    """Gives back what it gets; touches nothing, and so needs no permission."""

    name = "Echo"
    description = "Gives back the text."
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }
    is_read_only = True
    is_concurrency_safe = True

    async def call(self, *, text: str) -> ToolOutput:
        return f"echo {text}"


class Change(Echo):
    """Changes something, and so needs permission."""

    name = "Change"
    is_read_only = False
    is_concurrency_safe = False

    def __init__(self) -> None:
        self.done: list[str] = []

    async def call(self, *, text: str) -> ToolOutput:
        self.done.append(text)
        return "changed"

    async def preview(self, arguments: dict[str, Any]) -> str:
        return f"+{arguments['text']}"


class Gate(Echo):
    """Says when it has begun, and waits to be let through."""

    name = "Gate"

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.opened = asyncio.Event()

    async def call(self, *, text: str) -> ToolOutput:
        self.begun.set()
        await self.opened.wait()
        return f"through {text}"


class Broken(Echo):
    name = "Broken"

    async def call(self, *, text: str) -> ToolOutput:
        raise OSError(f"no luck with [/{text}]")


def use(name: str, call_id: str = "c1", text: str = "x") -> ToolCallBlock:
    return ToolCallBlock(call_id, name, f'{{"text": "{text}"}}')


def make_agent(*turns: Turn, tools: list[ToolBase] | None = None, **options: Any) -> Agent:
    model = options.pop("model", None) or ScriptedChatModel(turns)
    return Agent("a", "You help.", model, Toolkit(tools or []), **options)
