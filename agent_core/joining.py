"""Joins small deltas into larger ones, so that a fast stream does not drown its listeners in events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

from agent_core.finishing import closing
from agent_core.model.base import ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta

JOIN_SECONDS = 0.05


async def joined(deltas: AsyncIterator[ModelDelta], seconds: float = JOIN_SECONDS) -> AsyncIterator[ModelDelta]:
    """Yield the same stream with neighbouring deltas of one block joined, none held longer than `seconds`."""
    loop = asyncio.get_running_loop()
    held: ModelDelta | None = None
    due = 0.0
    async with closing(deltas) as source:
        pending = asyncio.ensure_future(anext(source, None))
        try:
            while True:
                timeout = None if held is None else max(0.0, due - loop.time())
                await asyncio.wait({pending}, timeout=timeout)
                if not pending.done():
                    yield cast("ModelDelta", held)
                    held = None
                    continue
                delta = pending.result() if pending.exception() is None else None
                larger = _join(held, delta)
                if held is not None and larger is None:
                    yield held
                if delta is None:
                    pending.result()
                    return
                if held is None or larger is None:
                    due = loop.time() + seconds
                held = larger or delta
                pending = asyncio.ensure_future(anext(source, None))
        finally:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)


def _join(first: ModelDelta | None, second: ModelDelta | None) -> ModelDelta | None:
    """The two as one; None when they are not pieces of one block."""
    match first, second:
        case TextDelta(a), TextDelta(b):
            return TextDelta(a + b)
        case ThinkingDelta(a), ThinkingDelta(b):
            return ThinkingDelta(a + b)
        case ToolCallDelta(id_, name, a), ToolCallDelta(other, _, b) if id_ == other:
            return ToolCallDelta(id_, name, a + b)
    return None
