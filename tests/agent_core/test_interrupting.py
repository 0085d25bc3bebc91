"""C01, C02, C05: wherever a reply is interrupted, nothing is lost, and a strict server takes the next request."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.event import (
    Answer,
    BlockEnded,
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    ModelCallEnded,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    ToolEnded,
    ToolStarted,
)
from agent_core.marks import Entry
from agent_core.message import AssistantMsg, Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model.profile import EndpointProfile
from agent_core.model.scripted_model import ScriptedChatModel
from agent_core.model.wire import wire_messages
from agent_core.tool.base import Toolkit, ToolOutput
from memory import InMemoryMemory
from tests.agent_core.agents import Change, Echo, use
from tests.fake_server.strictness import history_complaint

PAIRS = (
    (ReplyStarted, ReplyEnded),
    (PromptSent, ModelCallEnded),
    (BlockStarted, BlockEnded),
    (PermissionAsked, PermissionAnswered),
    (CompressionStarted, CompressionEnded),
)


class SlowMemory(InMemoryMemory):
    """Gives up control before and after all it does, as one does that is elsewhere."""

    async def add(self, *arguments: Any, **options: Any) -> None:
        await asyncio.sleep(0)
        await super().add(*arguments, **options)
        await asyncio.sleep(0)

    async def entries(self) -> list[Entry]:
        await asyncio.sleep(0)
        return await super().entries()


class SlowEcho(Echo):
    name = "Slow"

    def __init__(self) -> None:
        self.done: list[str] = []

    async def call(self, *, text: str) -> ToolOutput:
        await asyncio.sleep(0)
        self.done.append(text)
        return text


async def approve(call: ToolCallBlock, diff: str) -> Answer:
    await asyncio.sleep(0)
    return "once"


class Case:
    """A reply of several rounds, calls side by side and alone, a question to a person and a compression."""

    def __init__(self) -> None:
        self.slow, self.change = SlowEcho(), Change()
        first = [TextBlock("Look."), use("Slow", "a", "a"), use("Slow", "b", "b"), use("Change", "c", "c")]
        self.model = ScriptedChatModel(
            [first, [use("Change", "d", "d"), use("Slow", "e", "e")], "Done."],
            structured=[{"task_overview": "much"}],
            repeat_last=True,
            context_size=150,
        )
        toolkit = Toolkit([self.slow, self.change])
        self.agent = Agent("a", "You help.", self.model, toolkit, memory=SlowMemory(), approve=approve)

    async def reply(self, is_stream: bool) -> None:
        questions = ["one", "two"]
        if is_stream:
            async for _ in self.agent.reply_stream(questions):
                pass
        else:
            await self.agent.reply(questions)

    async def check(self) -> None:
        trace = list(self.agent.trace)
        for start, end in PAIRS:
            begun, ended = ([one for one in trace if isinstance(one, kind)] for kind in (start, end))
            assert len(begun) == len(ended), (start, trace)
        tools = ({one.call_id for one in trace if isinstance(one, kind)} for kind in (ToolStarted, ToolEnded))
        assert next(tools) <= next(tools)
        messages = [entry.msg for entry in await self.agent.memory.entries()]
        assert [msg.content for msg in messages if msg.role == "user"][1:] == ["one", "two"]
        results = _blocks(messages, ToolResultBlock)
        assert Counter(one.id for one in results) == Counter(one.id for one in _blocks(messages, ToolCallBlock))
        assert {*self.slow.done, *self.change.done} == {one.id for one in results if one.state == "success"}
        await self.agent.reply("go on")
        for request in self.model.requests:
            assert not history_complaint(wire_messages(request.messages, EndpointProfile()))


def _blocks(messages: list[Msg], kind: type[Any]) -> list[Any]:
    return [block for msg in messages for block in msg.get_content_blocks(kind)]


@pytest.mark.parametrize(("is_stream", "again"), [(False, None), (True, None), (False, 1), (True, 3)])
async def test_at_every_step_of_a_reply(is_stream: bool, again: int | None) -> None:
    steps = 1
    while await _is_interrupted_at(steps, is_stream, again):
        steps += 1
    assert steps > 100


async def _is_interrupted_at(step: int, is_stream: bool, again: int | None) -> bool:
    """Interrupt a reply at a step, and once more `again` steps later; False when the reply has ended before."""
    case = Case()
    await case.agent.observe([UserMsg("user", "old " * 60), AssistantMsg("a", "old " * 60)])
    replying = asyncio.ensure_future(case.reply(is_stream))
    await _pass(step)
    is_running = not replying.done()
    replying.cancel()
    if again is not None:
        await _pass(again)
        replying.cancel()
    await asyncio.wait([replying])
    # What was begun when the second interruption came goes on by itself.
    await _pass(30)
    if step > 1:
        await case.check()
    return is_running


async def _pass(steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)
