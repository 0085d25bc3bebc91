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
from agent_core.model.scripted_model import ScriptedChatModel

__all__ = [
    "ChatModelBase",
    "Finished",
    "ModelDelta",
    "Retrying",
    "ScriptedChatModel",
    "StructuredReply",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallDelta",
    "ToolSchema",
]
