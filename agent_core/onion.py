"""Middlewares around a piece of work: the first one outermost, each calling the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from agent_core.event import Event
from agent_core.finishing import close, closing
from agent_core.middleware import Kwargs, MiddlewareBase, StreamHandler

if TYPE_CHECKING:
    from agent_core.agent import Agent

T = TypeVar("T")
Adopt = Callable[[Event], Event]


def overriding(middlewares: Sequence[MiddlewareBase], hook: str) -> list[MiddlewareBase]:
    """The middlewares that have a hook of their own."""
    return [one for one in middlewares if getattr(type(one), hook) is not getattr(MiddlewareBase, hook)]


def stream_through(
    agent: Agent, hook: str, innermost: StreamHandler, adopt: Adopt, **kwargs: Any
) -> AsyncIterator[Event]:
    """Run a stream of events through the middlewares that override `hook`.

    Args:
        agent: handed to each hook.
        hook: `on_reply`, `on_reasoning` or `on_acting`.
        innermost: the work itself.
        adopt: appends an event that a middleware made to the trace, and gives back any other as it is.
        kwargs: the arguments of `innermost`.
    """
    handler = innermost
    for middleware in reversed(overriding(agent.middlewares, hook)):
        handler = _stream_layer(agent, getattr(middleware, hook), handler, adopt)
    return handler(**kwargs)


async def call_through(agent: Agent, hook: str, innermost: Callable[..., Awaitable[T]], **kwargs: Any) -> T:
    """Run one awaitable piece of work through the middlewares that override `hook`."""
    handler = innermost
    for middleware in reversed(overriding(agent.middlewares, hook)):
        handler = _call_layer(agent, getattr(middleware, hook), handler)
    return await handler(**kwargs)


def _stream_layer(agent: Agent, hook: Callable[..., Any], following: StreamHandler, adopt: Adopt) -> StreamHandler:
    async def layer(**kwargs: Any) -> AsyncIterator[Event]:
        async with AsyncExitStack() as begun:

            def next_handler(**changes: Any) -> AsyncIterator[Event]:
                stream = following(**{**kwargs, **changes})
                # A hook that fails or stops early leaves what it has begun where it stands.
                begun.push_async_callback(close, stream)
                return stream

            async with closing(hook(agent, Kwargs(kwargs), next_handler)) as events:
                async for event in events:
                    yield adopt(event)

    return layer


def _call_layer(
    agent: Agent, hook: Callable[..., Awaitable[T]], following: Callable[..., Awaitable[T]]
) -> Callable[..., Awaitable[T]]:
    async def layer(**kwargs: Any) -> T:
        async def next_handler(**changes: Any) -> T:
            return await following(**{**kwargs, **changes})

        return await hook(agent, Kwargs(kwargs), next_handler)

    return layer


async def merged(streams: Sequence[AsyncIterator[T]]) -> AsyncIterator[T]:
    """Run several streams at the same time and yield what comes, as it comes.

    When one fails, or the caller stops, the others are cancelled and waited for.
    """
    if len(streams) == 1:
        async with closing(streams[0]) as only:
            async for item in only:
                yield item
        return
    queue: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

    async def drain(stream: AsyncIterator[T]) -> None:
        try:
            async for item in stream:
                queue.put_nowait((item,))
        finally:
            queue.put_nowait(None)

    tasks = [asyncio.create_task(drain(stream)) for stream in streams]
    try:
        for _ in tasks:
            while (boxed := await queue.get()) is not None:
                yield boxed[0]
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
