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
from agent_core.model.limits import RetryPolicy, TimeLimits
from agent_core.model.offline_model import OfflineChatModel
from agent_core.model.openai_model import OpenAIChatModel
from agent_core.model.profile import EndpointProfile
from agent_core.model.scripted_model import ScriptedChatModel

__all__ = [
    "ChatModelBase",
    "EndpointProfile",
    "Finished",
    "ModelDelta",
    "OpenAIChatModel",
    "RetryPolicy",
    "OfflineChatModel",
    "Retrying",
    "ScriptedChatModel",
    "StructuredReply",
    "TextDelta",
    "ThinkingDelta",
    "TimeLimits",
    "ToolCallDelta",
    "ToolSchema",
]
