"""The content of a working memory as JSON can hold it, in the form that AgentScope 1.x writes too."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

from agent_core.marks import Entry, normalize_marks
from agent_core.message import Msg


def content_to_json(content: Iterable[tuple[Msg, Iterable[str]]]) -> list[list[Any]]:
    """Pairs of a message's dictionary and the list of its marks."""
    return [[msg.to_dict(), list(marks)] for msg, marks in content]


def content_from_json(data: Any) -> list[Entry]:
    """The way back; bare messages too, as AgentScope once wrote them.

    Raises:
        ValueError: the data is no list, or something in it is no message.
        TypeError: a mark is not a str.
    """
    if not isinstance(data, list):
        raise ValueError(f"content must be a list, not {reprlib.repr(data)}")
    return [_entry_from_json(place, item) for place, item in enumerate(data)]


def _entry_from_json(place: int, item: Any) -> Entry:
    msg, marks = item if isinstance(item, (list, tuple)) and len(item) == 2 else (item, [])
    try:
        return Entry(Msg.from_dict(msg), normalize_marks(marks))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"content[{place}]: {error}") from error
