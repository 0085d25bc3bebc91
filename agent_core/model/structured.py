"""The means by which an endpoint can be made to answer with a JSON object, as pieces of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from agent_core.model.base import ToolSchema

Means = Literal["json_schema", "json_object", "tool", "prompt"]
LADDER: tuple[Means, ...] = ("json_schema", "json_object", "tool", "prompt")
"""The strictest first. `prompt` is words alone, which go along with every other means too."""

_ANSWER = "answer"
_ABOUT_MEANS = re.compile(r"response_format|json|schema|grammar|tool|function|structured|format|support", re.IGNORECASE)


def means_of_request(means: Means, schema: Mapping[str, Any]) -> tuple[tuple[ToolSchema, ...], dict[str, Any]]:
    """The tools and the request fields that ask for an object of `schema` by one means."""
    match means:
        case "json_schema":
            wanted = {"name": _ANSWER, "schema": dict(schema)}
            return (), {"response_format": {"type": "json_schema", "json_schema": wanted}}
        case "json_object":
            return (), {"response_format": {"type": "json_object"}}
        case "tool":
            tool = ToolSchema(_ANSWER, "Give the answer.", dict(schema))
            return (tool,), {"tool_choice": {"type": "function", "function": {"name": _ANSWER}}}
        case "prompt":
            return (), {}


def is_about_means(refusal: str) -> bool:
    """Whether the words of a refusal may mean that the endpoint lacks the means, and another is worth trying."""
    return bool(_ABOUT_MEANS.search(refusal))
