"""Agents with an agentic memory, and gates that decide in which order things happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_core.agent import Agent
from agent_core.event import Event, RetrievalEnded, RetrievalSettled
from agent_core.marks import HINT
from agent_core.message import HintBlock, Msg, ToolCallBlock
from agent_core.model.base import ToolSchema
from agent_core.model.scripted_model import ObjectMaker, PlainObject, PlainTurn, ScriptedChatModel, Turn
from agent_core.tool.base import ToolBase, Toolkit
from agent_core.trace import Trace
from memory.agentic import AgenticMemoryMiddleware, Parameters
from tests.agent_core.agents import Echo


def pick(*names: str) -> PlainObject:
    """The selector's answer."""
    return {"selected_files": list(names)}


def pick_for(question: str, *names: str) -> ObjectMaker:
    """A selector that gives these names for one question and none for any other."""

    def answer(messages: Sequence[Msg], schema: Mapping[str, Any]) -> PlainObject:
        return pick(*names) if question in (messages[-1].get_text_content() or "") else pick()

    return answer


class Selector:
    """A selection that waits until it is let through."""

    def __init__(self, answer: PlainObject) -> None:
        self.asked = asyncio.Event()
        self.opened = asyncio.Event()
        self._answer = answer

    async def __call__(self, messages: Sequence[Msg], schema: Mapping[str, Any]) -> PlainObject:
        self.asked.set()
        await self.opened.wait()
        return self._answer


def make(
    workdir: Path,
    *turns: Turn,
    selector: Sequence[PlainObject | ObjectMaker] = (),
    memory: AgenticMemoryMiddleware | None = None,
    trace: Trace | None = None,
    tools: Sequence[ToolBase] | None = None,
    name: str = "a",
    **parameters: Any,
) -> Agent:
    """An agent that plays `turns`; its model also plays `selector`."""
    middleware = memory or AgenticMemoryMiddleware(workdir, parameters=Parameters(**parameters))
    model = ScriptedChatModel(turns, structured=selector)
    toolkit = Toolkit([Echo()] if tools is None else tools)
    return Agent(name, "You help.", model, toolkit, [middleware], trace=trace)


def memory_of(agent: Agent) -> AgenticMemoryMiddleware:
    (middleware,) = agent.middlewares
    assert isinstance(middleware, AgenticMemoryMiddleware)
    return middleware


def call(number: int = 1) -> list[ToolCallBlock]:
    """A turn that calls a tool, so that there is another round."""
    return [ToolCallBlock(f"call-{number}", "Echo", '{"text": "x"}')]


async def until(trace: Trace, kind: type[Event], count: int = 1) -> None:
    """Wait until the trace holds so many events of a kind."""
    enough = asyncio.Event()

    def look(_: Event | None = None) -> None:
        if len(trace.of(kind)) >= count:
            enough.set()

    unsubscribe = trace.subscribe(look)
    look()
    await enough.wait()
    unsubscribe()


def after(trace: Callable[[], Trace], kind: type[Event], turn: PlainTurn, count: int = 1) -> Turn:
    """A turn that is played only once the trace holds so many events of a kind."""

    async def play(messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> PlainTurn:
        await until(trace(), kind, count)
        return turn

    return play


def outcomes(agent: Agent) -> list[tuple[str, int, bool]]:
    """How each retrieval ended: outcome, round, whether it was carried over."""
    return [(event.outcome, event.round, event.carried_over) for event in agent.trace.of(RetrievalSettled)]


def finishes(agent: Agent) -> list[str]:
    return [event.finish for event in agent.trace.of(RetrievalEnded)]


async def hints(agent: Agent) -> list[str]:
    """The hints that memory holds, each as source and content."""
    found = []
    for msg, marks in await agent.memory.entries():
        for block in msg.get_content_blocks(HintBlock):
            assert HINT in marks
            found.append(f"{block.source}: {content_of(block)}")
    return found


def hints_sent(agent: Agent, request: int) -> list[str]:
    """The hints in one request to the model, selection requests not counted."""
    sent = [one for one in agent.model.requests if one.schema is None]
    return [content_of(block) for msg in sent[request].messages for block in msg.get_content_blocks(HintBlock)]


def content_of(block: HintBlock) -> str:
    return block.hint.split("\n", maxsplit=1)[1].rsplit("\n\n(", maxsplit=1)[0]
