"""Chat models. Those behind an endpoint are loaded when they are first asked for: a program may never need them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from agent_core.model.offline_model import OfflineChatModel
from agent_core.model.scripted_model import ScriptedChatModel

if TYPE_CHECKING:
    from agent_core.model.limits import RetryPolicy, TimeLimits
    from agent_core.model.openai_model import OpenAIChatModel
    from agent_core.model.profile import EndpointProfile

_LOADED_LATE = {
    "EndpointProfile": "profile",
    "OpenAIChatModel": "openai_model",
    "RetryPolicy": "limits",
    "TimeLimits": "limits",
}

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


def __getattr__(name: str) -> Any:
    if name not in _LOADED_LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LOADED_LATE[name]}"), name)
