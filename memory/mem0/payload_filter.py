"""mem0's filters over what is stored with a memory: a pure predicate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Filters = Mapping[str, Any]

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda stored, wanted: bool(stored == wanted),
    "ne": lambda stored, wanted: bool(stored != wanted),
    "gt": lambda stored, wanted: bool(stored > wanted),
    "gte": lambda stored, wanted: bool(stored >= wanted),
    "lt": lambda stored, wanted: bool(stored < wanted),
    "lte": lambda stored, wanted: bool(stored <= wanted),
    "in": lambda stored, wanted: stored in wanted,
    "nin": lambda stored, wanted: stored not in wanted,
    "contains": lambda stored, wanted: str(wanted) in str(stored),
    "icontains": lambda stored, wanted: str(wanted).casefold() in str(stored).casefold(),
}
_NEGATIVE = frozenset({"ne", "nin"})


def matches(payload: Mapping[str, Any], filters: Filters | None) -> bool:
    """Whether a payload passes all filters.

    A value means equality, a list one of several, `*` any value at all, a mapping comparisons by name; `$or` and `$not`
    hold lists of filters.

    Raises:
        ValueError: there is no such comparison.
    """
    return all(_passes(payload, key, wanted) for key, wanted in (filters or {}).items())


def _passes(payload: Mapping[str, Any], key: str, wanted: Any) -> bool:
    if key == "$or":
        return any(matches(payload, one) for one in wanted)
    if key == "$not":
        return not any(matches(payload, one) for one in wanted)
    if wanted == "*":
        return key in payload
    if isinstance(wanted, Mapping):
        return all(_compare(payload.get(key), name, value) for name, value in wanted.items())
    stored = payload.get(key)
    return stored in wanted if isinstance(wanted, list) else bool(stored == wanted)


def _compare(stored: Any, name: str, wanted: Any) -> bool:
    comparison = _COMPARISONS.get(name)
    if comparison is None:
        raise ValueError(f"unknown comparison {name!r}; there are {', '.join(_COMPARISONS)}")
    if stored is None:
        return name in _NEGATIVE
    try:
        return comparison(stored, wanted)
    except TypeError:
        # A number and a text, say: neither is larger.
        return False
