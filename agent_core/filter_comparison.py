"""Two mark filters side by side: what both let through, and what only one does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_core.marks import Decision, Entry, MemoryFilter, decide
from agent_core.tokens import estimate_message_tokens


class Compared(NamedTuple):
    """One stored message (`number` counts from 0) under two filters."""

    number: int
    entry: Entry
    first: Decision
    second: Decision


class Comparison(NamedTuple):
    """Every message under two filters, in four groups that keep insertion order."""

    both: tuple[Compared, ...]
    only_first: tuple[Compared, ...]
    only_second: tuple[Compared, ...]
    neither: tuple[Compared, ...]


def compare_filters(entries: Sequence[Entry], first: MemoryFilter, second: MemoryFilter) -> Comparison:
    """Put every entry under both filters."""
    groups: dict[tuple[bool, bool], list[Compared]] = {
        (True, True): [],
        (True, False): [],
        (False, True): [],
        (False, False): [],
    }
    for number, entry in enumerate(entries):
        compared = Compared(number, entry, decide(entry.marks, first), decide(entry.marks, second))
        groups[compared.first.included, compared.second.included].append(compared)
    return Comparison(*map(tuple, groups.values()))


def count_tokens(compared: Iterable[Compared]) -> int:
    """The estimated tokens of a group."""
    return sum(estimate_message_tokens(one.entry.msg) for one in compared)
