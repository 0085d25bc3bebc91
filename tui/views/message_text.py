"""What a message says, as text: one line for a list, or all of it to be searched and copied."""

from __future__ import annotations

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
from agent_core.text import first_line

_LIMIT = 200


def preview(msg: Msg) -> str:
    """The first line that says something: of the answer if there is one, else of whatever there is."""
    if isinstance(msg.content, str):
        return first_line(msg.content, _LIMIT)
    blocks = sorted(msg.blocks, key=lambda block: isinstance(block, ThinkingBlock))
    lines = (line for block in blocks if (line := first_line(block_text(block), _LIMIT)))
    return next(lines, "")


def speaker(msg: Msg) -> str:
    """The role, and the name where it says something else."""
    return msg.role if msg.name == msg.role else f"{msg.role} {msg.name}"


def whole_text(msg: Msg) -> str:
    """Everything that a message holds, reasoning included."""
    return "\n".join(map(block_text, msg.blocks))


def block_title(block: ContentBlock) -> str:
    """What kind of block it is, in words."""
    match block:
        case ToolCallBlock():
            return f"call of {block.name}"
        case ToolResultBlock():
            return f"result of {block.name}, {block.state}"
        case HintBlock(source=str() as source):
            return f"hint from {source}"
        case DataBlock():
            return f"data, {block.media_type}"
    return block.type


def block_text(block: ContentBlock) -> str:
    """The text of a block; of a call its name and arguments, of data what can be said of it."""
    match block:
        case TextBlock(text) | ThinkingBlock(text) | HintBlock(text):
            return text
        case ToolCallBlock():
            return f"{block.name} {block.input}"
        case ToolResultBlock(output=str() as output):
            return output
        case ToolResultBlock(output=parts):
            return "\n".join(block_text(part) for part in parts if not isinstance(part, str))
        case DataBlock():
            place = block.url or (f"{len(block.data) * 3 // 4} bytes" if block.data else "no data")
            return " ".join(filter(None, (block.name, block.media_type, place)))
