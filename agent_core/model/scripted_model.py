"""`ScriptedChatModel`: plays a given list of answers, for demos and tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

from agent_core.errors import ModelError
from agent_core.message import AssistantMsg, ContentBlock, Msg, TextBlock, ToolCallBlock
from agent_core.model.base import ChatModelBase, Finished, ModelDelta, StructuredReply, ToolSchema
from agent_core.model.pieces import deltas_of, estimate_usage

PlainTurn = str | Sequence[ContentBlock | Exception] | Exception
"""Text, or blocks to stream; an exception is raised where it stands, after the blocks before it."""
TurnMaker = Callable[[Sequence[Msg], Sequence[ToolSchema]], PlainTurn | Awaitable[PlainTurn]]
Turn = PlainTurn | TurnMaker
PlainObject = Mapping[str, Any] | Exception
ObjectMaker = Callable[[Sequence[Msg], Mapping[str, Any]], PlainObject | Awaitable[PlainObject]]
Step = TypeVar("Step")


class Request(NamedTuple):
    """What the model was asked: `schema` is set for structured answers only."""

    messages: tuple[Msg, ...]
    tools: tuple[ToolSchema, ...] = ()
    schema: Mapping[str, Any] | None = None


class ScriptedChatModel(ChatModelBase):
    """Answers each request with the next turn of a script, streamed in pieces like any other answer.

    Args:
        script: the turns: text, blocks, an exception to raise, or a function of messages and tools that gives one of
            these; it may be a coroutine function.
        structured: what `generate_structured` gives, in order: objects, exceptions, functions of messages and schema.
        piece_size: characters in each piece.
        delay: seconds before each piece.
        repeat_last: go on with the last turn, and the last object, when they are used up.
        model: the name that it goes by.
        context_size: its window in tokens.

    Attributes:
        requests: what it was asked so far, oldest first.

    Raises:
        ValueError: `piece_size` is below 1.
        ModelError: asked for more than the script holds.
    """

    endpoint = "this machine"

    def __init__(
        self,
        script: Iterable[Turn],
        *,
        structured: Iterable[PlainObject | ObjectMaker] = (),
        piece_size: int = 16,
        delay: float = 0.0,
        repeat_last: bool = False,
        model: str = "scripted",
        context_size: int | None = None,
    ) -> None:
        if piece_size < 1:
            raise ValueError(f"piece_size must be at least 1, not {piece_size}")
        self.model = model
        self.context_size = context_size
        self.requests: list[Request] = []
        self._turns = _Script("turns", script, repeat_last)
        self._objects = _Script("structured answers", structured, repeat_last)
        self._piece_size = piece_size
        self._delay = delay

    async def stream(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> AsyncIterator[ModelDelta]:
        """Stream the next turn of the script."""
        self.requests.append(Request(tuple(messages), tuple(tools)))
        items = _items(cast("PlainTurn", await _made(self._turns.next(), messages, tools)))
        for item in items:
            if isinstance(item, Exception):
                raise item
            for delta in deltas_of(item, self._piece_size):
                await asyncio.sleep(self._delay)
                yield delta
        blocks = cast("Sequence[ContentBlock]", items)
        calls = any(isinstance(block, ToolCallBlock) for block in blocks)
        yield Finished("tool_calls" if calls else "stop", estimate_usage(messages, tools, blocks))

    async def generate_structured(self, messages: Sequence[Msg], schema: Mapping[str, Any]) -> StructuredReply:
        """Give the next object of `structured`, whatever the schema."""
        self.requests.append(Request(tuple(messages), schema=schema))
        value = cast("PlainObject", await _made(self._objects.next(), messages, schema))
        if isinstance(value, Exception):
            raise value
        return StructuredReply(dict(value), estimate_usage(messages, (), (TextBlock(str(value)),)))


class _Script(Generic[Step]):
    """Steps given out one by one."""

    def __init__(self, what: str, steps: Iterable[Step], repeat_last: bool) -> None:
        self._what = what
        self._steps = list(steps)
        self._repeat_last = repeat_last
        self._given = 0

    def next(self) -> Step:
        last = len(self._steps) - 1
        if self._given > last and not (self._repeat_last and self._steps):
            raise ModelError(f"the script is used up: all {last + 1} of its {self._what} were played")
        step = self._steps[min(self._given, last)]
        self._given += 1
        return step


async def _made(step: object, *arguments: object) -> object:
    """The step itself, or what it makes when it is a function."""
    made = step(*arguments) if callable(step) else step
    return await made if inspect.isawaitable(made) else made


def _items(turn: PlainTurn) -> Sequence[ContentBlock | Exception]:
    if isinstance(turn, str):
        return AssistantMsg("assistant", turn).blocks
    return (turn,) if isinstance(turn, Exception) else tuple(turn)
