from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agent_core.errors import ModelInterrupted
from agent_core.joining import joined
from agent_core.model.base import Finished, ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta


async def stream(deltas: Sequence[ModelDelta | Exception]) -> AsyncIterator[ModelDelta]:
    for delta in deltas:
        if isinstance(delta, Exception):
            raise delta
        yield delta


async def test_a_burst_becomes_one_delta_per_block_and_nothing_is_lost() -> None:
    burst = [
        ThinkingDelta("hm"),
        ThinkingDelta("m"),
        TextDelta("a"),
        TextDelta("b"),
        ToolCallDelta("1", "f", ""),
        ToolCallDelta("1", "f", "{}"),
        ToolCallDelta("2", "f", "{"),
        ToolCallDelta("2", "f", "}"),
        Finished("stop"),
    ]
    assert [delta async for delta in joined(stream(burst), 60)] == [
        ThinkingDelta("hmm"),
        TextDelta("ab"),
        ToolCallDelta("1", "f", "{}"),
        ToolCallDelta("2", "f", "{}"),
        Finished("stop"),
    ]


async def test_what_came_before_an_error_is_given_before_it() -> None:
    got = []
    with pytest.raises(ModelInterrupted):
        async for delta in joined(stream([TextDelta("a"), TextDelta("b"), ModelInterrupted("gone")]), 60):
            got.append(delta)
    assert got == [TextDelta("ab")]


async def test_nothing_is_held_while_the_stream_is_silent() -> None:
    gate = asyncio.Event()

    async def halting() -> AsyncIterator[ModelDelta]:
        yield TextDelta("first")
        await gate.wait()
        yield TextDelta("second")

    deltas = joined(halting(), 0.001)
    assert await anext(deltas) == TextDelta("first")
    gate.set()
    assert await anext(deltas) == TextDelta("second")
    assert [delta async for delta in deltas] == []


async def test_closing_it_closes_the_source() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[ModelDelta]:
        try:
            while True:
                yield TextDelta("x")
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    deltas = joined(endless(), 0.001)
    await anext(deltas)
    await deltas.aclose()  # type: ignore[attr-defined]
    assert closed.is_set()
