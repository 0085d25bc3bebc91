"""Recognise a tool call that a model printed as text instead of making it, so that a person can be told."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "input", "args")
_WRAPPERS = ("function", "function_call", "tool_call", "tool_calls")
_MARKER = r"(?:<\|?(?:tool_call|function_call|function|invoke|python_tag)\b|\[TOOL_CALLS?\])"
_MARKER_REACH = 200
_MOST_OBJECTS = 50


def looks_like_printed_tool_call(text: str, tool_names: Collection[str]) -> bool:
    """Whether `text` holds what looks like a call of one of `tool_names`: as JSON, behind a call tag, or as code.

    Nothing is to be done with such a call but to tell of it: the text may well be an example or a quotation.
    """
    if not any(name in text for name in tool_names):
        return False
    names = "|".join(re.escape(name) for name in tool_names)
    if re.search(rf"{_MARKER}(?s:.{{0,{_MARKER_REACH}}}?)(?<!\w)(?:{names})(?!\w)", text):
        return True
    if re.fullmatch(rf"(?:```\w*\s*)?\[?(?:{names})\((?:\s*\w+\s*=.*)?\)\]?(?:\s*```)?", text.strip(), re.DOTALL):
        return True
    return any(_is_call(candidate, tool_names) for value in _objects(text) for candidate in _candidates(value))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in `text`; bounded, since every brace may start one."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _candidates(value: dict[str, Any]) -> Iterator[Any]:
    """The object itself and what the usual wrappers in it hold."""
    yield value
    for key in _WRAPPERS:
        inner = value.get(key)
        for item in inner if isinstance(inner, list) else [inner]:
            yield item
            if isinstance(item, dict):
                yield item.get("function")


def _is_call(value: Any, tool_names: Collection[str]) -> bool:
    if not isinstance(value, dict) or not any(key in value for key in _ARGUMENT_KEYS):
        return False
    return any(isinstance(value.get(key), str) and value[key] in tool_names for key in _NAME_KEYS)
