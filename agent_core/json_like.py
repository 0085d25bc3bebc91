"""Values that every store gives back as they were: plain str, finite numbers, truth values, None, dicts and lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from agent_core.text import well_formed

_DEEPEST = 100
"""How far values may be nested: far below what readers of JSON and copying can take."""


def plain_str(value: object, name: str) -> str:
    """A str as a plain, well-formed one; of a str enum the value.

    Raises:
        TypeError: it is none; the value is named.
    """
    if type(value) is str:
        return well_formed(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {value!r}")
    text = value.value if isinstance(value, Enum) else value
    # A subclass may say something else than what it is.
    return well_formed(str.__str__(text))


def finite(value: object, name: str) -> float:
    """A number as a float.

    Raises:
        TypeError: it is none.
        ValueError: it is infinite, not a number or too large for a float; JSON has no word for that.
    """
    if type(value) is float and math.isfinite(value):
        return value
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return number


def json_object(value: object, name: str) -> dict[str, Any]:
    """A copy of a mapping, in the types that JSON gives back.

    Raises:
        TypeError: something in it is of another type; it is named.
        ValueError: a number in it is not finite, or it is nested more than 100 deep.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, not {value!r}")
    return _members(value, name, 1)


def _members(value: Mapping[Any, Any], name: str, depth: int) -> dict[str, Any]:
    return {plain_str(key, f"a key of {name}"): _value(inner, name, depth) for key, inner in value.items()}


def _value(value: object, name: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return plain_str(value, name)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return finite(value, f"a number in {name}")
    if depth >= _DEEPEST:
        raise ValueError(f"{name} is nested more than {_DEEPEST} deep")
    if isinstance(value, Mapping):
        return _members(value, name, depth + 1)
    if isinstance(value, list | tuple):
        return [_value(inner, name, depth + 1) for inner in value]
    raise TypeError(f"{name} must hold only what JSON can, not {value!r}")
