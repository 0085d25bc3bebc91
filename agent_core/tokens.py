"""Token estimates for when the server's own count is not known. Everything here is marked `≈` on the screen.

One token per four ASCII characters and one per other character: within about a fifth of the tokenizers of current
models on English, Chinese and code, and never far below, which matters for a limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agent_core.message import (
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)

MESSAGE_OVERHEAD = 4
"""Tokens that role markers and separators cost per message."""
DATA_TOKENS = 1000
"""What an image costs, roughly, whatever its size."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text; 0 for an empty one."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = sum(1 for character in text if character > "\u024f")
    return wide + -(-(len(text) - wide) // 4)


def estimate_message_tokens(msg: Msg) -> int:
    """Estimate what a message costs in a prompt, its overhead included; reasoning is not sent and costs nothing."""
    return msg.remember_tokens(_message_tokens)


def estimate_schema_tokens(schemas: Iterable[Mapping[str, Any]]) -> int:
    """Estimate what tool schemas cost in a prompt."""
    return sum(estimate_tokens(json.dumps(schema, ensure_ascii=False)) for schema in schemas)


def _message_tokens(msg: Msg) -> int:
    return MESSAGE_OVERHEAD + sum(map(_block_tokens, msg.blocks))


def _block_tokens(block: ContentBlock) -> int:
    match block:
        case TextBlock(text):
            return estimate_tokens(text)
        case HintBlock(hint):
            return estimate_tokens(hint)
        case ToolCallBlock():
            return estimate_tokens(block.name) + estimate_tokens(block.input)
        case ToolResultBlock(output=str() as output):
            return estimate_tokens(output)
        case ToolResultBlock(output=parts):
            return sum(_block_tokens(part) for part in parts if not isinstance(part, str))
        case DataBlock():
            return DATA_TOKENS
        case ThinkingBlock():
            return 0
