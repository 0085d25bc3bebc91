"""`ScriptedChatModel` plays what it was given, in the form of every model."""

import asyncio
from collections.abc import Sequence

import pytest

from agent_core.errors import ModelError, ModelInterrupted
from agent_core.message import Msg, TextBlock, ThinkingBlock, ToolCallBlock, UserMsg
from agent_core.model import (
    Finished,
    ModelDelta,
    ScriptedChatModel,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSchema,
)

HELLO = [UserMsg("user", "hello")]
READ = ToolSchema("Read", "reads", {"type": "object"})


async def play(model: ScriptedChatModel, messages: Sequence[Msg] = HELLO) -> list[ModelDelta]:
    return [delta async for delta in model.stream(messages, [READ])]


def text_of(deltas: list[ModelDelta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_turns_are_played_in_order() -> None:
    model = ScriptedChatModel(["one", "two"])
    assert [text_of(await play(model)) for _ in range(2)] == ["one", "two"]


async def test_text_streams_in_pieces_and_ends_with_usage() -> None:
    deltas = await play(ScriptedChatModel(["abcdefg"], piece_size=3))
    assert deltas[:-1] == [TextDelta("abc"), TextDelta("def"), TextDelta("g")]
    end = deltas[-1]
    assert isinstance(end, Finished)
    assert end.reason == "stop"
    assert end.usage is not None
    assert end.usage.input_tokens > 0
    assert end.usage.output_tokens == 2


async def test_blocks_stream_as_their_own_kind() -> None:
    turn = [ThinkingBlock("hm"), TextBlock("I look"), ToolCallBlock("c1", "Read", '{"a": 1}')]
    deltas = await play(ScriptedChatModel([turn]))
    assert deltas[0] == ThinkingDelta("hm")
    assert deltas[2] == ToolCallDelta("c1", "Read", "")
    assert "".join(delta.arguments for delta in deltas if isinstance(delta, ToolCallDelta)) == '{"a": 1}'
    assert isinstance(deltas[-1], Finished)
    assert deltas[-1].reason == "tool_calls"


async def test_a_function_makes_the_turn_from_the_request() -> None:
    def echo(messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> str:
        return f"{messages[-1].get_text_content()} {tools[0].name}"

    assert text_of(await play(ScriptedChatModel([echo]))) == "hello Read"


async def test_a_coroutine_function_may_wait_for_something() -> None:
    gate = asyncio.Event()

    async def wait(messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> str:
        await gate.wait()
        return "now"

    task = asyncio.create_task(play(ScriptedChatModel([wait])))
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    assert text_of(await task) == "now"


async def test_an_exception_is_raised_where_it_stands() -> None:
    model = ScriptedChatModel([ModelError("down"), [TextBlock("half"), ModelInterrupted("broke off")]])
    with pytest.raises(ModelError, match="down"):
        await play(model)
    stream = aiter(model.stream(HELLO))
    assert await anext(stream) == TextDelta("half")
    with pytest.raises(ModelInterrupted):
        await anext(stream)


async def test_a_used_up_script_says_so() -> None:
    model = ScriptedChatModel(["only"])
    await play(model)
    with pytest.raises(ModelError, match="all 1 of its turns were played"):
        await play(model)


async def test_the_last_turn_may_repeat() -> None:
    model = ScriptedChatModel(["first", "again"], repeat_last=True)
    assert [text_of(await play(model)) for _ in range(4)] == ["first", "again", "again", "again"]
    with pytest.raises(ModelError, match="all 0 of its structured answers"):
        await model.generate_structured(HELLO, {})


async def test_structured_answers_have_a_list_of_their_own() -> None:
    model = ScriptedChatModel(
        [], structured=[{"a": 1}, lambda messages, schema: {"asked": schema["x"]}, ModelError("no")]
    )
    assert (await model.generate_structured(HELLO, {})).value == {"a": 1}
    assert (await model.generate_structured(HELLO, {"x": 2})).value == {"asked": 2}
    with pytest.raises(ModelError, match="no"):
        await model.generate_structured(HELLO, {})


async def test_requests_are_kept() -> None:
    model = ScriptedChatModel(["ok"], structured=[{}])
    await play(model)
    await model.generate_structured(HELLO, {"x": 1})
    assert [request.schema for request in model.requests] == [None, {"x": 1}]
    assert model.requests[0].messages == tuple(HELLO)
    assert model.requests[0].tools == (READ,)


def test_pieces_must_have_a_size() -> None:
    with pytest.raises(ValueError, match="piece_size"):
        ScriptedChatModel([], piece_size=0)
