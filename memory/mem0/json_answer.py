"""A list of memories out of whatever a model wrote. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent_core.reasoning_tags import without_reasoning
from agent_core.text import well_formed

_OPENING = re.compile(r"[{\[]")
_STRING_OR_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|,(?=\s*[}\]])', re.DOTALL)
_BACKSLASH = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_LISTS = ("memory", "memories", "facts", "results")
_TEXTS = ("text", "memory", "fact", "content", "data")
_MAX_LENGTH = 200_000
_MAX_TRIES = 200
"""Places in an answer where it is tried to read JSON; one that is nothing but braces must not take for ever."""


class Extracted(NamedTuple):
    """One memory as the model wrote it; `replaces` holds the ids of older ones, as the model was told them."""

    text: str
    replaces: tuple[str, ...] = ()
    attributed_to: str = ""


def extracted_in(answer: str) -> list[Extracted] | None:
    """The memories in a model's answer; an empty list where it says that there are none, None where it says nothing.

    Reasoning, prose and fences around the JSON, trailing commas, broken escapes and lone surrogates are seen through,
    and a text alone is taken for an object that holds it. Of several such objects the last counts.
    """
    found: list[Extracted] | None = None
    text = _repaired(without_reasoning(answer[:_MAX_LENGTH]))
    for value, is_inside_broken in _values(text):
        memories = _memories(value, alone=not is_inside_broken)
        if memories is not None and (found is None or isinstance(value, Mapping)):
            found = memories
    return found


def _repaired(text: str) -> str:
    """Without trailing commas, and with backslashes that begin no escape, as in `C:\\dir` or `\\u12`, doubled."""
    text = _BACKSLASH.sub(lambda match: match[0] if len(match[0]) > 1 else r"\\", text)
    return _STRING_OR_TRAILING_COMMA.sub(lambda match: "" if match[0] == "," else match[0], text)


def _values(text: str) -> Iterator[tuple[Any, bool]]:
    """Every JSON object or list in a text that is not inside another, and whether it may be a piece of a broken one."""
    decoder = json.JSONDecoder(strict=False)
    position, broken = 0, False
    for _ in range(_MAX_TRIES):
        match = _OPENING.search(text, position)
        if match is None:
            return
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position, broken = match.start() + 1, True
        else:
            yield value, broken


def _memories(value: Any, *, alone: bool) -> list[Extracted] | None:
    """The memories of a value; None when it is no list of memories in any form. One object counts only if `alone`."""
    if isinstance(value, list):
        return _memories_of(value)
    name = next((name for name in _LISTS if isinstance(value.get(name), list | dict | None) and name in value), None)
    if name is not None:
        return _memories_of(value[name])
    return _memories_of(value) if alone else None


def _memories_of(value: Any) -> list[Extracted] | None:
    if value is None:
        return []
    items = [item for item in (value if isinstance(value, list) else [value]) if not _is_nothing_new(item)]
    memories = [one for item in items if (one := _one(item))]
    # A list of nothing that can be read is not the same as an empty list.
    return memories if memories or not items else None


def _is_nothing_new(item: Any) -> bool:
    """Whether an item says, as mem0 once had models say it, that a memory stays as it is or is to go."""
    return isinstance(item, Mapping) and str(item.get("event") or "").strip().upper() in ("NONE", "DELETE")


def _one(item: Any) -> Extracted | None:
    if isinstance(item, str):
        text = well_formed(item).strip()
        return Extracted(text) if text else None
    if not isinstance(item, Mapping):
        return None
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str) and item[name].strip()), "")
    if not text:
        return None
    replaces = item.get("replaces") or ()
    ids = replaces if isinstance(replaces, list) else [replaces] if isinstance(replaces, str | int) else []
    author = item.get("attributed_to")
    return Extracted(
        well_formed(text).strip(),
        tuple(str(one) for one in ids if isinstance(one, str | int)),
        author if author in ("user", "assistant") else "",
    )
