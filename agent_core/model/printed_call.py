"""Recognise a tool call that a model printed as text instead of making it, so that a person can be told."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from agent_core.json_text import objects_in

_NAME_KEYS = ("name", "tool", "tool_name", "function", "action", "method", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "input", "args", "action_input", "tool_input", "kwargs", "params")
_WRAPPERS = ("function", "function_call", "tool_call", "tool_calls", "tool_uses")
_MARKER = r"""(?xi: <[|｜/]?(?:\w{1,20}[:｜])?(?:start_)?(?:tool|function|invoke|python_tag)[\w▁]{0,40}
    | \[TOOL_CALLS?\] | ```tool_code | \bto=functions\. | \bfunctools\[ | ^>>> )"""
"""What models put before a call: tags of many shapes, some with bars and a prefix, and a few words."""
_MARKER_REACH = 200


def looks_like_printed_tool_call(text: str, tool_names: Collection[str]) -> bool:
    """Whether `text` holds what looks like a call of one of `tool_names`: as JSON, behind a call tag, or as code.

    Nothing is to be done with such a call but to tell of it: the text may well be an example or a quotation.
    """
    if not any(name in text for name in tool_names):
        return False
    names = "|".join(map(re.escape, tool_names))
    if any(re.search(shape, text, re.MULTILINE) for shape in _shapes(names)):
        return True
    # Code is a call where it is all there is, or comes last.
    said = text.strip()
    if any(re.fullmatch(_code(names), said.rpartition(gap)[2], re.DOTALL) for gap in (said, "\n\n", "\n")):
        return True
    return any(_is_call(candidate, tool_names) for value in objects_in(text) for candidate in _candidates(value))


def _shapes(names: str) -> Iterator[str]:
    """What may stand anywhere. Every repetition is bounded, or has one way to match only: texts may be long."""
    yield rf"{_MARKER}(?s:.{{0,{_MARKER_REACH}}}?)(?<!\w)(?:{names})(?!\w)"
    yield rf"<(?:{names})>\s{{0,9}}<\w"
    # ReAct's two lines.
    yield rf"^Action:\s{{0,9}}`?(?:{names})`?\s{{0,9}}\nAction Input:"
    # JSON, or what is nearly JSON, that need not have come to its end.
    name_keys, argument_keys = "|".join(_NAME_KEYS), "|".join(_ARGUMENT_KEYS)
    yield rf"""["'](?:{name_keys})["']\s*:\s*["'](?:\w+\.)?(?:{names})["']\s*,\s*["'](?:{argument_keys})["']\s*:"""


def _code(names: str) -> str:
    arguments = r"""(?:\s*(?:\w+\s*=|["'{]).*)?"""
    return rf"(?:```\w*\s*)?\[?(?:print\()?(?:\w+\.)?(?:{names})\({arguments}\){{1,2}}\]?(?:\s*```)?"


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
    # Some put the tools into a namespace.
    said = (value[key].rpartition(".")[2] for key in _NAME_KEYS if isinstance(value.get(key), str))
    return any(name in tool_names for name in said)
