"""Marks and the filter over them: one pure predicate that the store, the prompt and every pane share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr

from agent_core.message import Msg

HINT = "hint"
"""Set by the program on messages that hold a `HintBlock`."""
COMPRESSED = "compressed"
"""Set by the program on messages that the summary covers."""
MEMORY = "memory"
"""Set by the program on memories that mem0 injected."""
TOOL = "tool"
"""Set by the program on tool results and on messages that are only calls."""

Marks = str | Sequence[str] | None


class Entry(NamedTuple):
    """One stored message with its marks, in the order in which they were set."""

    msg: Msg
    marks: tuple[str, ...]


class Decision(NamedTuple):
    """Whether a message passes a filter, and why (a short phrase for people; empty when nothing filters)."""

    included: bool
    reason: str


def normalize_marks(marks: object, argument: str = "marks") -> tuple[str, ...]:
    """Return `marks` as a tuple of distinct plain strings, in the order given.

    Args:
        marks: None, a str, a str enum, or a list or tuple of them.
        argument: how the caller calls this value, for the error.

    Raises:
        TypeError: a value is of another type; the message names it.
        ValueError: a mark is empty.
    """
    if marks is None:
        return ()
    values = (marks,) if isinstance(marks, str) else marks
    # A set has no order that would be the same in every run.
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{argument} must be a str or a list of str, not {marks!r}")
    return tuple(dict.fromkeys(_normalize_mark(value, argument) for value in values))


def _normalize_mark(mark: object, argument: str) -> str:
    if not isinstance(mark, str):
        raise TypeError(f"{argument} must be a str or a list of str, not {mark!r}")
    # A str enum is a str whose str() may be "Class.MEMBER"; its value is the mark. Any subclass may say what it likes.
    text = str.__str__(mark.value if isinstance(mark, Enum) else mark)
    if not text:
        raise ValueError(f"{argument} must not hold an empty mark: {mark!r}")
    return text


class MemoryFilter(Struct, frozen=True):
    """What is let through to the model.

    Args:
        mark: only messages with this mark, or with any of these; None for all.
        exclude_mark: not those with this mark, or with any of these; wins over `mark`.
        prepend_summary: whether the summary goes first; while it does, messages marked `compressed` stay out.
    """

    mark: str | tuple[str, ...] | None = None
    exclude_mark: str | tuple[str, ...] | None = None
    prepend_summary: bool = True

    def __post_init__(self) -> None:
        for name in ("mark", "exclude_mark"):
            marks = normalize_marks(value := getattr(self, name), name)
            if isinstance(value, list):
                # Later edits of the caller's list must not change the filter.
                force_setattr(self, name, marks)

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """The marks of which a message needs one; None when any message will do."""
        return None if self.mark is None else normalize_marks(self.mark, "mark")

    @property
    def unwanted(self) -> tuple[str, ...]:
        """The marks of which a message may have none."""
        return normalize_marks(self.exclude_mark, "exclude_mark")


def decide(marks: Sequence[str], memory_filter: MemoryFilter) -> Decision:
    """Decide whether a message with these marks passes the filter, with the reason."""
    for mark in memory_filter.unwanted:
        if mark in marks:
            return Decision(False, f"filtered out by mark {_named(mark)}")
    wanted = memory_filter.wanted
    if wanted is None:
        return Decision(True, "")
    for mark in wanted:
        if mark in marks:
            return Decision(True, f"has mark {_named(mark)}")
    return Decision(False, f"lacks mark {' or '.join(map(_named, wanted))}")


def _named(mark: str) -> str:
    """The mark as a person writes it: in quotes where blanks, commas or quotes would make it look like several."""
    return json.dumps(mark, ensure_ascii=False) if re.search(r'[\s,，"]', mark) else mark


def select(entries: Iterable[Entry], memory_filter: MemoryFilter) -> list[tuple[Entry, Decision]]:
    """Pair every entry with its decision, in the order given."""
    return [(entry, decide(entry.marks, memory_filter)) for entry in entries]
