"""Finished blocks turned into the stream and the usage that a served model would have given: for models of our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_core.event import Usage
from agent_core.message import AssistantMsg, ContentBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock
from agent_core.model.base import ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta, ToolSchema
from agent_core.tokens import MESSAGE_OVERHEAD, estimate_message_tokens, estimate_schema_tokens


def deltas_of(block: ContentBlock, piece_size: int) -> Iterator[ModelDelta]:
    """The deltas in which `block` streams in, `piece_size` characters each; nothing for blocks no model sends."""
    match block:
        case TextBlock(text):
            yield from map(TextDelta, _pieces(text, piece_size))
        case ThinkingBlock(thinking):
            yield from map(ThinkingDelta, _pieces(thinking, piece_size))
        case ToolCallBlock(id, name, arguments):
            yield ToolCallDelta(id, name, "")
            yield from (ToolCallDelta(id, "", piece) for piece in _pieces(arguments, piece_size))
        case _:
            return


def estimate_usage(messages: Iterable[Msg], tools: Iterable[ToolSchema], answer: Sequence[ContentBlock]) -> Usage:
    """What the request and the answer would have cost, estimated."""
    request = sum(map(estimate_message_tokens, messages)) + estimate_schema_tokens(tool.wire() for tool in tools)
    return Usage(request, estimate_message_tokens(AssistantMsg("assistant", answer)) - MESSAGE_OVERHEAD)


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
