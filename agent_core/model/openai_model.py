"""`OpenAIChatModel`: any endpoint that speaks OpenAI's chat completions, over the `openai` package."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any

from msgspec.structs import replace

from agent_core.errors import ModelBadRequest, ModelError, ModelNotFound, ModelOverloaded, StructuredOutputError
from agent_core.event import Usage
from agent_core.message import Msg, ToolCallBlock
from agent_core.model.answer_stream import AnswerStream, Chunk
from agent_core.model.base import (
    ChatModelBase,
    Finished,
    ModelDelta,
    StructuredReply,
    TextDelta,
    ToolCallDelta,
    ToolSchema,
    object_wish,
    parse_object,
)
from agent_core.model.failure import Failure
from agent_core.model.limits import RetryPolicy, TimeLimits
from agent_core.model.openai_client import OpenAIClient
from agent_core.model.profile import EndpointProfile, profile_for, reported_context_size
from agent_core.model.stream_parts import StreamParts
from agent_core.model.structured import LADDER, Means, is_about_means, means_of_request
from agent_core.model.tries import Tries
from agent_core.model.wire import wire_messages, wire_tools

_TAIL_SECONDS = 5.0
"""How long the end of a stream is waited for once the answer has said that it is finished."""
_FAILED = frozenset(
    ("error", "failed", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled")
)
"""What endpoints say of an answer that they could not finish, where others report an error."""


class OpenAIChatModel(ChatModelBase):
    """A model behind an OpenAI-compatible API.

    Args:
        model: the model's name at the endpoint.
        api_key: `OPENAI_API_KEY` when None; an endpoint that needs no key works without.
        base_url: `OPENAI_BASE_URL` when None, else OpenAI's own.
        context_size: the window in tokens. When None, the profile's; when that has none, `discover_context_size` asks.
        profile: the endpoint's quirks; looked up by address and model when None.
        max_tokens: the limit of output tokens; the endpoint's own when None.
        options: more fields for every request, such as `{"temperature": 0}`.
        limits: how long the endpoint may take.
        retry: how often a call is made again that failed before its first token.

    Attributes:
        profile: the quirks that are assumed now; what a refusal teaches is kept here.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        context_size: int | None = None,
        profile: EndpointProfile | None = None,
        *,
        max_tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
        limits: TimeLimits | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.model = model
        self._client = OpenAIClient(model, api_key, base_url, limits or TimeLimits(), retry or RetryPolicy())
        self.endpoint = str(self._client.endpoint)
        self.profile = profile or profile_for(self._client.endpoint, model)
        self.context_size = context_size if context_size is not None else self.profile.context_size
        self._max_tokens = max_tokens
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self.model!r}, base_url={self.endpoint!r})"

    async def stream(
        self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()
    ) -> AsyncGenerator[ModelDelta, None]:
        """Answer `messages`; see `ChatModelBase.stream`.

        Failures before the first token are retried as `retry` says, with a `Retrying` before each wait. A request that
        is refused for a known quirk is made once more in the other form, which is kept when it helps.
        """
        async with aclosing(self._answer(messages, tools, {})) as deltas:
            async for delta in deltas:
                yield delta

    async def generate_structured(self, messages: Sequence[Msg], schema: Mapping[str, Any]) -> StructuredReply:
        """Answer `messages` with one JSON object of `schema`, by the strictest means that the endpoint has.

        When the endpoint refuses a means, or answers with something else, the next weaker one is tried; what worked is
        used first from then on.

        Raises:
            StructuredOutputError: no means gave such an object.
            ModelError: the call failed.
        """
        *stricter, last = LADDER[LADDER.index(self.profile.structured) :]
        for means in stricter:
            try:
                return await self._ask_for_object(messages, schema, means)
            except StructuredOutputError:
                continue
            except (ModelBadRequest, ModelNotFound, ModelOverloaded) as error:
                # Some call a means that they lack a fault of their own, and routers say that nobody has it.
                if not is_about_means(str(error)):
                    raise
        return await self._ask_for_object(messages, schema, last)

    async def discover_context_size(self) -> int | None:
        """Ask the endpoint how large the model's window is, and keep the answer where nothing was known.

        Meant for the background: no reply waits for it, and when it fails the window stays unknown.
        """
        try:
            answer = await self._client.fetch(lambda sdk: sdk.models.with_raw_response.list())
            size = reported_context_size(json.loads(answer.content), self.model)
        except (ModelError, ValueError):
            return self.context_size
        if self.context_size is None:
            self.context_size = size
        return self.context_size

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    async def _ask_for_object(
        self, messages: Sequence[Msg], schema: Mapping[str, Any], means: Means
    ) -> StructuredReply:
        tools, fields = means_of_request(means, schema)
        usage: Usage | None = None
        text: list[str] = []
        async with aclosing(self._answer([*messages, object_wish(schema)], tools, fields)) as deltas:
            async for delta in deltas:
                match delta:
                    case TextDelta(piece) | ToolCallDelta(arguments=piece):
                        text.append(piece)
                    case Finished(usage=usage):
                        pass
        value = parse_object("".join(text), schema)
        self.profile = replace(self.profile, structured=means)
        return StructuredReply(value, usage)

    async def _answer(
        self, messages: Sequence[Msg], tools: Sequence[ToolSchema], fields: Mapping[str, Any]
    ) -> AsyncGenerator[ModelDelta, None]:
        """Make the call, and again where that makes sense, until it has begun to answer."""
        await self._client.prepare()
        tries = Tries(self.profile, self._client.limits, self._client.retry)
        begun = False
        while True:
            request = self._request(messages, tools, fields, tries.profile)
            try:
                async with aclosing(self._attempt(request, _call_ids(messages), tries)) as deltas:
                    async for delta in deltas:
                        if not begun:
                            begun, self.profile = True, tries.profile
                        yield delta
                return
            except Failure as failure:
                if begun:
                    raise failure.error from failure.__cause__
                retrying = tries.after(failure, request)
            if retrying is not None:
                yield retrying
                await asyncio.sleep(retrying.delay)

    async def _attempt(
        self, request: dict[str, Any], taken_ids: set[str], tries: Tries
    ) -> AsyncGenerator[ModelDelta, None]:
        """Make one request and give what comes of it."""
        parts = StreamParts(taken_ids)
        failure: Failure | None = None
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout_at(tries.deadline):
                    response = await stack.enter_async_context(self._client.open_stream(request))
            except TimeoutError:
                raise self._silence(parts) from None
            answer = AnswerStream(response, self._client)
            heard = asyncio.get_running_loop().time()
            try:
                while not answer.ended:
                    for chunk in await self._next_chunks(answer, parts, tries, heard):
                        was_finished = parts.finish_reason is not None
                        for delta in parts.feed(chunk):
                            yield delta
                            heard = asyncio.get_running_loop().time()
                        if parts.finish_reason is not None and not was_finished:
                            heard = asyncio.get_running_loop().time()
            except Failure as caught:
                failure = caught
            for delta in parts.close():
                yield delta
            failure = failure or self._incomplete(answer, parts)
            if failure is not None:
                raise failure
            yield parts.finished()
            await answer.drain()

    async def _next_chunks(self, answer: AnswerStream, parts: StreamParts, tries: Tries, heard: float) -> list[Chunk]:
        """Read once, for as long as this stage of the answer may take; `heard` is when something was said last."""
        finished = parts.finish_reason is not None
        if finished:
            seconds: float | None = max(0.0, heard + _TAIL_SECONDS - asyncio.get_running_loop().time())
        else:
            seconds = self._idle_left(heard) if parts.begun else tries.remaining()
        try:
            return await answer.read(seconds)
        except TimeoutError:
            if not finished:
                raise self._silence(parts) from None
        except Failure:
            if not finished:
                raise
        # An answer that is finished stays so, however its stream ends.
        answer.ended = True
        return []

    def _incomplete(self, answer: AnswerStream, parts: StreamParts) -> Failure | None:
        """The failure of a stream that ended too early, though nothing else went wrong."""
        reason = parts.finish_reason
        if reason in _FAILED:
            return self._client.failures.interrupted(f"the endpoint says that it failed: {reason}")
        if reason is not None:
            return None
        return answer.broke_off() if parts.begun else answer.nothing_came()

    def _idle_left(self, heard: float) -> float | None:
        """Seconds that an answer which has begun may be silent from now on."""
        idle, longest = self._client.limits.idle, self._client.limits.first_token
        if idle is None or longest is None:
            return idle
        return max(0.0, min(idle, heard + max(idle, longest) - asyncio.get_running_loop().time()))

    def _silence(self, parts: StreamParts) -> Failure:
        limits = self._client.limits
        seconds = limits.idle if parts.begun else limits.first_token
        return self._client.failures.silent(seconds or 0.0, answering=parts.begun)

    def _request(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSchema],
        fields: Mapping[str, Any],
        profile: EndpointProfile,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": wire_messages(messages, profile), "stream": True}
        if tools:
            request["tools"] = wire_tools(tools)
        if profile.stream_usage:
            request["stream_options"] = {"include_usage": True}
        if self._max_tokens is not None:
            request[profile.max_tokens_field] = self._max_tokens
        return {**request, **self._options, **fields}


def _call_ids(messages: Sequence[Msg]) -> set[str]:
    return {call.id for msg in messages for call in msg.get_content_blocks(ToolCallBlock)}
