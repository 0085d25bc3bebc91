"""What every chat model offers to the agent, and the pieces in which an answer streams in."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from agent_core.errors import StructuredOutputError
from agent_core.event import Usage
from agent_core.json_text import objects_in
from agent_core.message import Msg, UserMsg
from agent_core.reasoning_tags import without_reasoning


class TextDelta(NamedTuple):
    """More answer text."""

    text: str


class ThinkingDelta(NamedTuple):
    """More reasoning text."""

    text: str


class ToolCallDelta(NamedTuple):
    """More of a tool call: a new `id` starts a call and brings its name; `arguments` is a piece of raw JSON."""

    id: str
    name: str
    arguments: str


class Retrying(NamedTuple):
    """The call failed before its first token and is made again after `delay` seconds; told so that it can be shown."""

    attempt: int
    delay: float
    error: str


class Finished(NamedTuple):
    """The answer is complete. `reason` is the endpoint's word (`stop`, `tool_calls`, `length`, ...) or None."""

    reason: str | None
    usage: Usage | None = None


ModelDelta = TextDelta | ThinkingDelta | ToolCallDelta | Retrying | Finished


class ToolSchema(Struct, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]

    def wire(self) -> dict[str, Any]:
        """The form of the chat completions API."""
        return {"type": "function", "function": {k: getattr(self, k) for k in self.__struct_fields__}}


class StructuredReply(NamedTuple):
    """An object that fits the schema that was asked for, and what it cost."""

    value: dict[str, Any]
    usage: Usage | None = None


class ChatModelBase(ABC):
    """A model that answers messages with a stream of deltas.

    Attributes:
        model: the model's name, for people and for the endpoint.
        endpoint: where it runs, for people.
        context_size: the window in tokens, or None when nobody knows.
        is_language_model: false for the offline model, which only follows fixed rules.
    """

    model: str
    endpoint: str = ""
    context_size: int | None = None
    is_language_model: bool = True

    @abstractmethod
    def stream(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> AsyncIterator[ModelDelta]:
        """Answer `messages`; a complete answer ends with exactly one `Finished`.

        Closing or cancelling the iterator stops the request at once.

        Raises:
            ModelError: see `agent_core.errors`; deltas given before it stand.
        """

    async def generate_structured(self, messages: Sequence[Msg], schema: Mapping[str, Any]) -> StructuredReply:
        """Answer `messages` with one JSON object that has the properties of `schema`.

        This default asks in words, which any model can be asked; endpoints with better means override it.

        Raises:
            StructuredOutputError: the answer holds no such object.
            ModelError: the call failed.
        """
        text, usage = "", None
        async for delta in self.stream([*messages, object_wish(schema)]):
            if isinstance(delta, TextDelta):
                text += delta.text
            elif isinstance(delta, Finished):
                usage = delta.usage
        return StructuredReply(parse_object(text, schema), usage)

    async def aclose(self) -> None:  # noqa: B027 - most models have nothing to let go of
        """Let go of connections."""


def object_wish(schema: Mapping[str, Any]) -> Msg:
    """The message that asks, in words, for a JSON object of `schema`."""
    return UserMsg("user", f"Answer with one JSON object only, of this JSON schema:\n{json.dumps(schema)}")


def parse_object(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object in `text` that `schema` describes; reasoning, prose and code fences around it are ignored.

    It has what the schema requires, and goes before others where it has any property of it; it may lie in a wrapper.

    Raises:
        StructuredOutputError: there is none.
    """
    required, properties = schema.get("required", ()), schema.get("properties", {})
    fitting = [value for value in _objects(text) if all(name in value for name in required)]
    if not fitting:
        raise StructuredOutputError(f"the model gave no JSON object of the wanted form, but: {text[:200]!r}")
    return next((value for value in fitting if any(name in properties for name in value)), fitting[0])


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for value in objects_in(without_reasoning(text)):
        yield value
        yield from (inner for inner in value.values() if isinstance(inner, dict))
