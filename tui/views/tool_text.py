"""A tool call in words: what it is about, how it stands, its arguments, what it changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from agent_core.text import first_line
from tui.views.chat_items import ToolItem, ToolState
from tui.views.figures import span

_SUBJECT_LIMIT = 120
# The argument that says most about a call, where there is one of these names.
_SUBJECTS = ("file_path", "path", "query", "keywords", "command", "url", "name")


class StateLook(NamedTuple):
    """How a state is shown: a sign, a word, and a style; the sign and the word do without the style."""

    sign: str
    word: str
    style: str


STATE_LOOKS: dict[ToolState, StateLook] = {
    "writing": StateLook("…", "is being written", "$text-muted"),
    "waiting": StateLook("…", "waits", "$text-muted"),
    "asking": StateLook("?", "asks you", "$text-warning"),
    "running": StateLook("…", "runs", "$text-warning"),
    "success": StateLook("✓", "done", "$text-success"),
    "error": StateLook("✗", "failed", "$text-error"),
    "interrupted": StateLook("■", "interrupted", "$text-warning"),
    "denied": StateLook("⊘", "refused", "$text-warning"),
}


def subject(item: ToolItem) -> str:
    """What the call is about, in one line; empty when its arguments do not tell (yet)."""
    arguments = _parsed(item.arguments)
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    chosen = next((texts[name] for name in _SUBJECTS if name in texts), next(iter(texts.values()), ""))
    return first_line(chosen, _SUBJECT_LIMIT)


def outcome(item: ToolItem) -> str:
    """How the call stands, with its time and what it changed: `done in 0.2 s, +3 -1`."""
    words = STATE_LOOKS[item.state].word
    if item.seconds is not None and item.state in ("success", "error"):
        words += f" in {span(item.seconds)}"
    added, removed = changed_lines(item.diff)
    if item.diff:
        words += f", +{added} -{removed}"
    return f"{words} ({item.note})" if item.note else words


def arguments_text(item: ToolItem) -> str:
    """The arguments, one a line; as they came when they are not an object."""
    arguments = _parsed(item.arguments)
    if not arguments:
        return "" if item.arguments.strip() in ("", "{}") else item.arguments
    return pretty_arguments(arguments)


def pretty_arguments(arguments: Mapping[str, object]) -> str:
    """Arguments one a line, long texts as they are."""
    return "\n".join(f"{name}: {_value(value)}" for name, value in arguments.items())


def changed_lines(diff: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes."""
    _, body = split_diff(diff)
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)


def split_diff(diff: str) -> tuple[list[str], list[str]]:
    """The lines of a unified diff that name the file, and the rest."""
    lines = diff.split("\n") if diff else []
    size = 2 if diff.startswith("--- ") else 0
    return lines[:size], lines[size:]


def _parsed(arguments: str) -> dict[str, object]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _value(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"\n{value}" if "\n" in value else value
