"""What is peculiar to an endpoint, as data: a table of profiles, and how one learns from a refusal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent_core.model.endpoint import Endpoint
from agent_core.model.structured import Means


class EndpointProfile(Struct, frozen=True):
    """The quirks of an endpoint, or of a model at it.

    Args:
        context_size: the window in tokens; None when it is not known.
        reasoning_field: the field in which reasoning goes back with the tool calls that it led to; None: it stays here.
        structured: the strictest means of getting a JSON object that the endpoint has.
        call_only_content: the `content` of an assistant message that only calls tools: null or an empty string.
        stream_usage: whether it can be asked for its token counts at the end of a stream.
        max_tokens_field: what the limit of output tokens is called.
        alternating_roles: whether messages of the same role must not follow each other.
        short_call_ids: whether the ids of calls must be nine letters and digits, as Mistral's own are.
    """

    context_size: int | None = None
    reasoning_field: str | None = None
    structured: Means = "json_schema"
    call_only_content: str | None = None
    stream_usage: bool = True
    max_tokens_field: str = "max_tokens"
    alternating_roles: bool = False
    short_call_ids: bool = False


class _Known(Struct, frozen=True):
    """A profile for the hosts and models that match; both are regular expressions, searched for."""

    host: str
    profile: EndpointProfile
    model: str = ""


_OPENAI = EndpointProfile(max_tokens_field="max_completion_tokens")
_KNOWN = (
    _Known(r"^api\.openai\.com$", replace(_OPENAI, context_size=1_047_576), r"^gpt-4\.1"),
    _Known(r"^api\.openai\.com$", replace(_OPENAI, context_size=128_000), r"^(?:gpt-4o|gpt-4-turbo)"),
    _Known(r"^api\.openai\.com$", replace(_OPENAI, context_size=200_000), r"^o(?:1(?!-mini|-preview)|3|4)"),
    _Known(r"^api\.openai\.com$", _OPENAI),
    _Known(r"\.deepseek\.com$", EndpointProfile(reasoning_field="reasoning_content", structured="json_object")),
    _Known(r"\.moonshot\.(?:ai|cn)$", EndpointProfile(reasoning_field="reasoning_content", structured="json_object")),
    _Known(
        r"\.(?:z\.ai|bigmodel\.cn)$", EndpointProfile(reasoning_field="reasoning_content", structured="json_object")
    ),
    _Known(r"^openrouter\.ai$", EndpointProfile(reasoning_field="reasoning")),
)
_CALL_ID = re.compile(r"tool[_ ]call[_ ]id|tool_calls(?:\[\d+\]|\.\d+)\.id")
"""How refusals name the id of a call, in lower case."""


def profile_for(endpoint: Endpoint, model: str) -> EndpointProfile:
    """The first profile of the table that matches; the plain one where none does."""
    for known in _KNOWN:
        if re.search(known.host, endpoint.host) and re.search(known.model, model):
            return known.profile
    return EndpointProfile()


def learn(
    profile: EndpointProfile, status: int | None, said: str, request: Mapping[str, Any]
) -> EndpointProfile | None:
    """The profile with which a refused request is worth making once more; None when nothing in it explains the refusal.

    Args:
        profile: with which the request was made.
        status: the HTTP status of the refusal.
        said: the endpoint's words.
        request: what was refused.
    """
    if status not in (400, 415, 422, 500):
        return None
    words = said.lower()
    if "stream_options" in request and ("stream_options" in words or "include_usage" in words):
        return replace(profile, stream_usage=False)
    if "max_completion_tokens" in words and "max_tokens" in request:
        return replace(profile, max_tokens_field="max_completion_tokens")
    if "max_completion_tokens" in words and "max_completion_tokens" in request:
        return replace(profile, max_tokens_field="max_tokens")
    if field := re.search(r"\b(?:reasoning_content|reasoning)\b", words):
        wanted = None if profile.reasoning_field == field.group() else field.group()
        return replace(profile, reasoning_field=wanted) if _has_calls(request) else None
    if re.search(r"roles? must alternate|alternating roles|alternate (?:between )?user", words):
        return replace(profile, alternating_roles=True)
    if _has_calls(request) and _CALL_ID.search(words) and re.search(r"length|too long|a-z", words):
        return replace(profile, short_call_ids=True)
    if _has_call_only(request) and (not words or re.search(r"\b(?:content|null|nonetype)\b", words)):
        other = "" if profile.call_only_content is None else None
        return replace(profile, call_only_content=other)
    return None


_WINDOW_FIELDS = (
    ("context_length",),
    ("context_window",),
    ("max_model_len",),
    ("max_context_length",),
    ("meta", "n_ctx"),
    ("meta", "n_ctx_train"),
)
"""Where endpoints say how large a model's window is, in their answer to `/models`."""


def reported_context_size(answer: object, model: str) -> int | None:
    """The window that an answer to `/models` gives for `model`; None when it says nothing usable."""
    entries = _mappings(answer.get("data")) if isinstance(answer, Mapping) else []
    # A server that holds a single model answers with it whatever it is called.
    for entry in entries if len(entries) == 1 else [entry for entry in entries if entry.get("id") == model]:
        for path in _WINDOW_FIELDS:
            value: Any = entry
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(value, int) and value > 0:
                return value
    return None


def _has_calls(request: Mapping[str, Any]) -> bool:
    return any(message.get("tool_calls") for message in _mappings(request.get("messages")))


def _has_call_only(request: Mapping[str, Any]) -> bool:
    return any(message.get("tool_calls") and not message["content"] for message in _mappings(request.get("messages")))


def _mappings(values: object) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []
