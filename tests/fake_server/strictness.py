"""What the server refuses with 400, as real servers do: contradictory histories, fields that it does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass
class Strictness:
    """Switches; a test may set them on `server.strictness` at any time.

    Args:
        history: refuse calls without results, results without calls, arguments that do not parse, bad roles.
        refuse_null_content: refuse `content: null` on messages that only call tools.
        refuse_empty_content: refuse `content: ""` there.
        need_reasoning: refuse messages with tool calls that lack this field.
        refused_fields: request fields that are refused.
        response_formats: kinds of `response_format` that are known; None knows all.
        alternating_roles: refuse two user messages, or two assistant messages, in a row.
    """

    history: bool = True
    refuse_null_content: bool = False
    refuse_empty_content: bool = False
    need_reasoning: str | None = None
    refused_fields: tuple[str, ...] = ()
    response_formats: tuple[str, ...] | None = None
    alternating_roles: bool = False

    def complaint(self, body: Mapping[str, Any]) -> str | None:
        """What is wrong with a chat request; None when nothing is."""
        for name in self.refused_fields:
            if name in body:
                return f"Unrecognized request argument supplied: {name}"
        wanted = (body.get("response_format") or {}).get("type")
        if wanted and self.response_formats is not None and wanted not in self.response_formats:
            return f"response_format of type {wanted} is not supported"
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            return "messages must be a list that is not empty"
        for number, message in enumerate(messages):
            if found := self._message_complaint(message):
                return f"messages.{number}: {found}"
        if self.alternating_roles and (found := _turn_complaint(messages)):
            return found
        return history_complaint(messages) if self.history else None

    def _message_complaint(self, message: Mapping[str, Any]) -> str | None:
        if message.get("role") not in _ROLES:
            return f"unknown role {message.get('role')!r}"
        content, calls = message.get("content"), message.get("tool_calls")
        if content is None and (not calls or self.refuse_null_content):
            return "content: Input should be a valid string, got null"
        if content == "" and (not calls or self.refuse_empty_content):
            return "content: must not be empty"
        if content is not None and not isinstance(content, (str, list)):
            return "content must be a string or a list of parts"
        if calls and self.need_reasoning and self.need_reasoning not in message:
            return f"The `{self.need_reasoning}` in the thinking mode must be passed back to the API."
        return None


def history_complaint(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong with calls and results: each call needs its result right behind it, and the other way round."""
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"messages.{number}: the tool result answers no call: {message.get('tool_call_id')!r}"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"messages.{number}: these tool calls have no result: {', '.join(waiting)}"
        for call in message.get("tool_calls") or ():
            if found := _call_complaint(call, waiting):
                return f"messages.{number}: {found}"
            waiting.append(call["id"])
    return f"these tool calls have no result: {', '.join(waiting)}" if waiting else None


def _call_complaint(call: Mapping[str, Any], seen: Sequence[str]) -> str | None:
    if not call.get("id") or call["id"] in seen:
        return f"a tool call needs an id of its own, not {call.get('id')!r}"
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
        return f"a tool call needs a plain name, not {call['function']['name']!r}"
    try:
        arguments = json.loads(call["function"]["arguments"])
    except (TypeError, ValueError) as error:
        return f"the arguments of a tool call are not JSON: {error}"
    return None if isinstance(arguments, dict) else "the arguments of a tool call are not an object"


def _turn_complaint(messages: Sequence[Mapping[str, Any]]) -> str | None:
    for before, after in pairwise(messages):
        if before["role"] == after["role"] != "tool":
            return "After the optional system message, conversation roles must alternate user/assistant/user/..."
    return None
