"""Chat models."""

from agent_core.model.base import (
    ChatModelBase,
    Finished,
    ModelDelta,
    Retrying,
    StructuredReply,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSchema,
)

__all__ = [
    "ChatModelBase",
    "Finished",
    "ModelDelta",
    "Retrying",
    "StructuredReply",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallDelta",
    "ToolSchema",
]
