"""JSON objects as models write them: read where the meaning is plain, and written so that every server reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from agent_core.text import well_formed

_MOST_OBJECTS = 1_000
_EMPTY_FIRST = re.compile(r"\A\s*\{\s*\}(?=\s*\{)")


def load_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`. Raw line breaks inside strings are let pass; nothing is unescaped but by JSON's rules.

    An empty object before another one is passed over: proxies begin with it, and no model can mend that.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        ValueError: it is JSON, but no object, or one that nobody can read (NaN, endless nesting or digits).
    """
    return _object(_EMPTY_FIRST.sub(lambda empty: " " * len(empty[0]), text), strict=False)


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text, whatever is around them; raw line breaks inside strings are let pass.

    Bounded, since every brace may start one: what stands behind the thousandth that did not is not looked at.
    """
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


def valid_object_text(text: str) -> str:
    """An object that stands for `text` and that every server can parse.

    Text that is valid already comes back byte for byte; what can be read is written anew; what cannot is kept as
    the value of `raw_arguments`, so that the model sees what it wrote.
    """
    try:
        value = _object(text, strict=True)
        # A lone escaped half, such as \ud83d, is valid JSON for Python and an error for most other parsers.
        if "\\u" not in text or not _has_lone_surrogate(value):
            return text
    except ValueError:
        try:
            value = load_object(text)
        except ValueError:
            value = {"raw_arguments": text} if text.strip() else {}
    return well_formed(json.dumps(value, ensure_ascii=False))


def _object(text: str, strict: bool) -> dict[str, Any]:
    try:
        value = json.loads(text, strict=strict, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object is needed, not {_KINDS.get(type(value), 'a number')}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _has_lone_surrogate(value: object) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return well_formed(text) != text


_KINDS = {str: "a string", list: "a list", bool: "true or false", type(None): "null"}
