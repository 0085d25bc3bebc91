"""A model whose answer a test feeds piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from agent_core.message import Msg
from agent_core.model.base import (
    ChatModelBase,
    Finished,
    ModelDelta,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSchema,
)


class FedModel(ChatModelBase):
    """Streams what `feed` is given, until a `Finished` or an exception."""

    model = "fed"
    endpoint = "this machine"

    def __init__(self, context_size: int | None = None) -> None:
        self.context_size = context_size
        self.asked = asyncio.Event()
        self.requests: list[tuple[Msg, ...]] = []
        self._pieces: asyncio.Queue[ModelDelta | Exception] = asyncio.Queue()

    def feed(self, *pieces: ModelDelta | Exception | str) -> None:
        """Give pieces of the answer; a str is text."""
        for piece in pieces:
            self._pieces.put_nowait(TextDelta(piece) if isinstance(piece, str) else piece)

    async def stream(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> AsyncIterator[ModelDelta]:
        self.requests.append(tuple(messages))
        self.asked.set()
        while True:
            piece = await self._pieces.get()
            if isinstance(piece, Exception):
                raise piece
            yield piece
            if isinstance(piece, Finished):
                return


__all__ = ["FedModel", "Finished", "TextDelta", "ThinkingDelta", "ToolCallDelta"]
