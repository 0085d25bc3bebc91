"""One model round: deltas become events as they come, and a message at the end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Literal

from agent_core.event import BlockDelta, BlockEnded, BlockStarted, Event, ModelCallEnded, ModelRetried, Usage
from agent_core.message import AssistantMsg, ContentBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock
from agent_core.model.base import Finished, ModelDelta, Retrying, TextDelta, ThinkingDelta, ToolCallDelta

BlockKind = Literal["text", "thinking", "tool_call"]


class _OpenBlock:
    """A block that is still streaming in."""

    def __init__(self, key: str, kind: BlockKind, block_id: str, name: str = "") -> None:
        self.key = key
        self.kind: BlockKind = kind
        self.block_id = block_id
        self.name = name
        self.pieces: list[str] = []

    def finish(self) -> ContentBlock:
        text = "".join(self.pieces)
        if self.kind == "text":
            return TextBlock(text)
        return ThinkingBlock(text) if self.kind == "thinking" else ToolCallBlock(self.block_id, self.name, text)


class Round:
    """Collects the answer of one model call.

    `take` turns each delta into the events that it means; `message` gives what has come so far. Tool calls may stream
    in turns, text and reasoning may not: when one begins the other has ended.
    """

    def __init__(self, number: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.number = number
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self._clock = clock
        self._started = clock()
        self._first_token: float | None = None
        self._blocks: list[_OpenBlock] = []
        self._open: dict[str, _OpenBlock] = {}

    def take(self, delta: ModelDelta) -> Iterator[Event]:
        """The events that a delta means, in order."""
        match delta:
            case TextDelta(text):
                yield from self._grow("text", None, "", text)
            case ThinkingDelta(text):
                yield from self._grow("thinking", None, "", text)
            case ToolCallDelta(call_id, name, arguments):
                yield from self._grow("tool_call", call_id, name, arguments)
            case Retrying(attempt, delay, error):
                yield ModelRetried(attempt=attempt, delay=delay, error=error)
            case Finished(reason, usage):
                self.finish_reason, self.usage = reason, usage

    def close_blocks(self) -> Iterator[Event]:
        """End every block that is open still."""
        for block in list(self._open.values()):
            yield self._end(block)

    def ended(self, error: str = "") -> ModelCallEnded:
        """The event that closes the call."""
        first = None if self._first_token is None else self._first_token - self._started
        seconds = self._clock() - self._started
        return ModelCallEnded(
            round=self.number,
            seconds=seconds,
            first_token_seconds=first,
            usage=self.usage,
            finish_reason=self.finish_reason,
            error=error,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all has come."""
        return not any(block.pieces or block.kind == "tool_call" for block in self._blocks)

    def message(self, name: str, model: str, *, cut_short: Literal["", "interrupted", "error"] = "") -> Msg:
        """The answer as a message. Calls of an answer that was cut short are dropped: they may be incomplete."""
        blocks = [block.finish() for block in self._blocks]
        if cut_short:
            blocks = [block for block in blocks if not isinstance(block, ToolCallBlock)]
        facts = {"model": model, "finish_reason": self.finish_reason, "cut_short": cut_short}
        metadata = {key: value for key, value in facts.items() if value}
        only_text = blocks[0].text if len(blocks) == 1 and isinstance(blocks[0], TextBlock) else None
        return AssistantMsg(name, blocks if only_text is None else only_text, metadata=metadata)

    def _grow(self, kind: BlockKind, block_id: str | None, name: str, text: str) -> Iterator[Event]:
        if not text and kind != "tool_call":
            return
        if self._first_token is None:
            self._first_token = self._clock()
        key = block_id or kind
        block = self._open.get(key)
        if block is None:
            for other in [other for other in self._open.values() if other.kind != "tool_call" or kind != "tool_call"]:
                yield self._end(other)
            block = self._open[key] = _OpenBlock(key, kind, block_id or uuid.uuid4().hex, name)
            self._blocks.append(block)
            yield BlockStarted(block_id=block.block_id, kind=kind, name=name)
        if text:
            block.pieces.append(text)
            yield BlockDelta(block_id=block.block_id, kind=kind, text=text)

    def _end(self, block: _OpenBlock) -> Event:
        del self._open[block.key]
        return BlockEnded(block_id=block.block_id)
