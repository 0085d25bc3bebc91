"""`MiddlewareBase`: seven hooks around what an agent does. Hooks and their arguments follow AgentScope 2.x."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_core.event import Event, PromptPart
from agent_core.model.base import ModelDelta
from agent_core.permission import PermissionDecision
from agent_core.tool.base import ToolBase

if TYPE_CHECKING:
    from agent_core.agent import Agent

Kwargs = dict[str, Any]
StreamHandler = Callable[..., AsyncIterator[Event]]
"""The next handler of `on_reply`, `on_reasoning` and `on_acting`: called with keyword arguments, it yields events."""
SystemPrompt = str | Sequence[PromptPart]


class MiddlewareBase:
    """Override the hooks that you need; the others cost nothing.

    The first middleware of an agent is the outermost. `next_handler(**input_kwargs)` goes on inwards; arguments left
    out keep their values. Events that a hook yields of its own are appended to the trace once; events that it swallows
    are hidden from its caller only.
    """

    async def on_reply(self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler) -> AsyncIterator[Event]:
        """Around a whole reply. `input_kwargs`: `inputs`, the messages to be answered."""
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_reasoning(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler
    ) -> AsyncIterator[Event]:
        """Around one model round. `input_kwargs`: `round`, from 1."""
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_acting(self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler) -> AsyncIterator[Event]:
        """Around one allowed tool call. `input_kwargs`: `tool_call`, the `ToolCallBlock`.

        A call that is made several times, such as after a failure, keeps its last result.
        """
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_check_permission(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: Callable[..., Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        """Around the decision on a call. `input_kwargs`: `tool_call`, `tool`, `tool_input` (the arguments)."""
        return await next_handler(**input_kwargs)

    async def on_model_call(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: Callable[..., Awaitable[AsyncIterator[ModelDelta]]]
    ) -> AsyncIterator[ModelDelta]:
        """Around one request. `input_kwargs`: `messages` (list of `Msg`), `tools` (tuple of `ToolSchema`), `model`."""
        return await next_handler(**input_kwargs)

    async def on_compress_context(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: Callable[..., Awaitable[bool]]
    ) -> bool:
        """Around a compression. `input_kwargs`: `context_config`, `instructions`. True when it did anything."""
        return await next_handler(**input_kwargs)

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> SystemPrompt:
        """Change the system prompt: return it with something added, another text, or parts to be appended to it."""
        return current_prompt

    async def list_tools(self) -> list[ToolBase]:
        """Tools that go with this middleware; whoever builds the agent passes them to its toolkit."""
        return []
