"""What a tool gives back, and how much of it: from anybody's code, and never at the cost of the reply."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.compression import ContextConfig
from agent_core.event import PermissionAsked
from agent_core.message import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from tests.agent_core.agents import Change, Echo, make_agent, use


class Oddity(Echo):
    """Gives back whatever it was made with."""

    def __init__(self, output: Any) -> None:
        self.output = output

    async def call(self, *, text: str) -> Any:
        return self.output


class Blurred(Change):
    """Cannot say what it would change."""

    async def preview(self, arguments: dict[str, Any]) -> str:
        raise OSError("gone")


async def first_result(agent: Agent) -> ToolResultBlock:
    for entry in await agent.memory.entries():
        for block in entry.msg.get_content_blocks(ToolResultBlock):
            return block
    raise AssertionError("no call has a result")


@pytest.mark.parametrize("output", [None, 5, {"a": 1}, ["a"], TextBlock("a"), ThinkingBlock("a"), [ThinkingBlock("a")]])
async def test_neither_text_nor_blocks_costs_the_call_and_not_the_reply(output: Any) -> None:
    agent = make_agent([use("Echo")], "done", tools=[Oddity(output)])
    assert (await agent.reply("q")).content == "done"
    result = await first_result(agent)
    assert result.state == "error"
    assert result.text().startswith(f"Echo failed: TypeError: it gave back {output!r:.20}")


@pytest.mark.parametrize("output", [[TextBlock("a")], (TextBlock("a"), DataBlock("image/png", "aGk=")), [], ""])
async def test_text_and_blocks_are_the_result(output: Any) -> None:
    agent = make_agent([use("Echo")], "done", tools=[Oddity(output)])
    await agent.reply("q")
    assert (await first_result(agent)).output == (output if isinstance(output, str) else tuple(output))


async def test_a_tool_that_cannot_show_what_it_would_change_is_asked_about_all_the_same() -> None:
    async def approve(call: ToolCallBlock, diff: str) -> Any:
        return "once"

    blurred = Blurred()
    agent = make_agent([use("Change")], "done", tools=[blurred], approve=approve)
    await agent.reply("q")
    assert (len(blurred.done), agent.trace.of(PermissionAsked)[0].diff) == (1, "")


@pytest.mark.parametrize(("limit", "kept"), [(None, 300_005), (0, 0)])
async def test_none_is_no_limit_and_zero_is_zero(limit: int | None, kept: int) -> None:
    config = ContextConfig(tool_result_limit=limit)
    agent = make_agent([use("Echo", text="x" * 300_000)], "done", tools=[Echo()], context_config=config)
    await agent.reply("q")
    assert (await first_result(agent)).text().split("\n")[0] == f"echo {'x' * 300_000}"[:kept]
