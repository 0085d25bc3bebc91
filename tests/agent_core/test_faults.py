"""What faults in other people's code cost: the call, or the reply, and never what was said and done before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

import pytest

from agent_core.agent import Agent
from agent_core.errors import ReplyError
from agent_core.event import BlockDelta, Event, ModelCallEnded, PermissionAnswered, ReplyEnded, ToolEnded
from agent_core.marks import Entry
from agent_core.message import TextBlock, ToolCallBlock, ToolResultBlock
from agent_core.middleware import Kwargs, MiddlewareBase, StreamHandler
from agent_core.model.base import ChatModelBase, Finished, ModelDelta, TextDelta, ToolCallDelta
from agent_core.model.profile import EndpointProfile
from agent_core.model.scripted_model import ScriptedChatModel
from agent_core.model.wire import wire_messages
from agent_core.tool.base import ToolOutput
from memory import InMemoryMemory
from tests.agent_core.agents import Change, Echo, make_agent, use
from tests.fake_server.strictness import history_complaint


async def await_what_is_cancelled() -> None:
    task = asyncio.ensure_future(asyncio.sleep(60))
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


async def leave() -> None:
    raise SystemExit(2)


async def fail_in_a_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(lambda: 1 / 0))


class Faulty(Echo):
    name = "Faulty"

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work

    async def call(self, *, text: str) -> ToolOutput:
        await self.work()
        return text


async def results(agent: Agent) -> dict[str, str]:
    blocks = [block for msg, _ in await agent.memory.entries() for block in msg.get_content_blocks(ToolResultBlock)]
    return {block.id: block.state for block in blocks}


@pytest.mark.parametrize("work", [await_what_is_cancelled, leave, fail_in_a_group])
@pytest.mark.parametrize("others", [[], [use("Echo", "c2")]])
async def test_a_tool_that_is_cancelled_inside_or_exits_fails_and_the_reply_goes_on(
    work: Callable[[], Any], others: list[ToolCallBlock]
) -> None:
    calls = [use("Faulty", "c1"), *others]
    agent = make_agent(calls, [use("Faulty", "c3")], "Done.", tools=[Faulty(work), Echo()])
    assert (await agent.reply("go")).content == "Done."
    assert await results(agent) == {"c1": "error", "c3": "error", **{call.id: "success" for call in others}}


async def test_a_cancellation_that_nobody_asked_for_is_a_failure_of_the_reply() -> None:
    class Cancelled(MiddlewareBase):
        async def on_model_call(self, *_: Any) -> NoReturn:
            raise asyncio.CancelledError

    agent = make_agent("never said", middlewares=[Cancelled()])
    with pytest.raises(ReplyError, match="was cancelled"):
        await agent.reply("go")
    assert agent.trace.of(ReplyEnded)[-1].finish == "error"


@pytest.mark.parametrize("hook", ["on_reply", "on_reasoning"])
@pytest.mark.parametrize("fails", [True, False])
async def test_a_middleware_that_leaves_in_mid_answer_ends_it_there(hook: str, fails: bool) -> None:
    async def leave_early(self: Any, agent: Agent, kwargs: Kwargs, following: StreamHandler) -> AsyncIterator[Event]:
        async for event in following(**kwargs):
            yield event
            if isinstance(event, BlockDelta):
                if fails:
                    raise OSError("no more of this")
                return

    middleware = type("Leaving", (MiddlewareBase,), {hook: leave_early})()
    agent = make_agent([TextBlock("said so far"), use("Echo")], tools=[Echo()], middlewares=[middleware])
    if fails:
        with pytest.raises(ReplyError, match="no more of this"):
            await agent.reply("go")
    else:
        assert (await agent.reply("go")).content == "said so far"
    assert [type(one) for one in agent.trace if isinstance(one, ModelCallEnded | ReplyEnded)] == [
        ModelCallEnded,
        ReplyEnded,
    ]
    assert [msg.content for msg, _ in await agent.memory.entries()] == ["go", "said so far"]


@pytest.mark.parametrize("hook", ["on_reply", "on_reasoning"])
async def test_a_middleware_that_lets_nothing_through_is_told_as_the_reason(hook: str) -> None:
    async def hold_back(self: Any, agent: Agent, kwargs: Kwargs, following: StreamHandler) -> AsyncIterator[Event]:
        return
        yield

    agent = make_agent("never said", middlewares=[type("Wall", (MiddlewareBase,), {hook: hold_back})()])
    with pytest.raises(ReplyError, match="a middleware"):
        await agent.reply("go")
    assert [msg.content for msg, _ in await agent.memory.entries()] == ["go"]


async def test_calls_have_results_though_a_middleware_fails_before_they_are_made() -> None:
    class Failing(MiddlewareBase):
        async def on_reasoning(
            self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler
        ) -> AsyncIterator[Event]:
            async for event in next_handler(**input_kwargs):
                yield event
            raise OSError("too late")

    agent = make_agent([use("Echo", "c1"), use("Echo", "c2")], tools=[Echo()], middlewares=[Failing()])
    with pytest.raises(ReplyError, match="too late"):
        await agent.reply("go")
    assert await results(agent) == {"c1": "interrupted", "c2": "interrupted"}


async def test_of_a_call_that_a_middleware_tries_again_the_last_result_counts() -> None:
    class Flaky(Echo):
        name = "Flaky"
        failures = 2

        async def call(self, *, text: str) -> ToolOutput:
            self.failures -= 1
            if self.failures >= 0:
                raise OSError("not yet")
            return "at last"

    class Retry(MiddlewareBase):
        async def on_acting(
            self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler
        ) -> AsyncIterator[Event]:
            for _ in range(3):
                async for event in next_handler(**input_kwargs):
                    yield event
                if isinstance(event, ToolEnded) and event.state == "success":
                    return

    model = ScriptedChatModel([[use("Flaky", "c1"), use("Echo", "c2")], "Done."])
    agent = make_agent(model=model, tools=[Flaky(), Echo()], middlewares=[Retry()])
    await agent.reply("go")
    assert await results(agent) == {"c1": "success", "c2": "success"}
    sent = [block for msg in model.requests[-1].messages for block in msg.get_content_blocks(ToolResultBlock)]
    assert [block.text() for block in sent] == ["at last", "echo x"]


async def test_a_question_that_fails_counts_as_answered() -> None:
    async def approve(call: ToolCallBlock, diff: str) -> NoReturn:
        raise OSError("the window is gone")

    agent = make_agent([use("Change")], tools=[Change()], approve=approve)
    with pytest.raises(ReplyError, match="the window is gone"):
        await agent.reply("go")
    assert [one.reason for one in agent.trace.of(PermissionAnswered)] == ["the window is gone"]


class FailingOnce(InMemoryMemory):
    """Fails at one of the times that it is read or written, before or after doing what it was asked for."""

    def __init__(self, at: int, *, is_done: bool) -> None:
        super().__init__()
        self.times_left = at
        self._is_done = is_done

    async def add(self, *arguments: Any, **options: Any) -> None:
        await self._once(lambda: super(FailingOnce, self).add(*arguments, **options))

    async def entries(self) -> list[Entry]:
        return await self._once(lambda: super(FailingOnce, self).entries())

    async def _once(self, work: Callable[[], Awaitable[Any]]) -> Any:
        self.times_left -= 1
        if self.times_left == 0 and not self._is_done:
            raise OSError("the disk is full")
        result = await work()
        if self.times_left == 0:
            raise OSError("the disk is full")
        return result


@pytest.mark.parametrize("is_done", [False, True])
async def test_wherever_a_memory_fails_once_the_conversation_goes_on(is_done: bool) -> None:
    """C05: what was said is stored, the reply ends as failed, and a strict server takes the next request."""
    at, has_failed = 1, True
    while has_failed:
        memory = FailingOnce(at, is_done=is_done)
        model = ScriptedChatModel([[use("Echo", "c1"), use("Echo", "c2")], "Done."], repeat_last=True)
        agent = make_agent(model=model, tools=[Echo()], memory=memory)
        try:
            await agent.reply(["one", "two"])
        except ReplyError:
            assert agent.trace.of(ReplyEnded)[-1].finish == "error"
        has_failed = memory.times_left <= 0
        memory.times_left = 0
        said = [msg.content for msg, _ in await memory.entries() if msg.role == "user"]
        assert said == ["one", "two"]
        await agent.reply("go on")
        for request in model.requests:
            assert not history_complaint(wire_messages(request.messages, EndpointProfile()))
        at += 1
    assert at > 10


class Peculiar(ChatModelBase):
    """Streams by an iterator that is no generator, and calls tools by no id."""

    model = "peculiar"

    def stream(self, *_: Any) -> AsyncIterator[ModelDelta]:
        self.left: list[ModelDelta] = [TextDelta("Look."), ToolCallDelta("", "Nope", "{}"), Finished("stop")]
        return self

    def __aiter__(self) -> AsyncIterator[ModelDelta]:
        return self

    async def __anext__(self) -> ModelDelta:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


async def test_a_model_of_another_make_is_taken_as_it_is() -> None:
    agent = make_agent(model=Peculiar(), max_iters=1)
    await agent.reply("go")
    assert list((await results(agent)).values()) == ["error"]
