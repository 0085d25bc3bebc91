"""Text as a YAML value on one line: plain where that is safe for every reader, else in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BREAKS_LINE = re.compile(r"[^\t\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def written(value: str, style: str = "") -> Iterator[str]:
    """The ways to write `value`, the best first; none of them breaks the line.

    Args:
        value: what is to be read.
        style: the quotes that are to be kept if they can be: `'`, `"`, or anything else for none.
    """
    ways = {"'": _single(value), '"': _double(value)}
    order = [ways.get(style), _plain(value), ways["'"], ways['"'], _bare(value)]
    yield from dict.fromkeys(way for way in order if way is not None)


def _plain(value: str) -> str | None:
    """Without quotes, if all of it is read as the value, whatever stands in it."""
    import yaml

    text = _bare(value)
    if text is None:
        return None
    values: list[str] = []
    try:
        for event in yaml.parse(f"key: {text}\n", Loader=yaml.BaseLoader):
            if isinstance(event, yaml.SequenceStartEvent) or (values and isinstance(event, yaml.MappingStartEvent)):
                # Not read to its end: deep nesting costs the square of its depth.
                return None
            if isinstance(event, yaml.ScalarEvent) and not event.tag:
                values.append(event.value)
    except (yaml.YAMLError, UnicodeError):
        return None
    return text if values == ["key", value] else None


def _bare(value: str) -> str | None:
    """As it is, for a header that is read line by line."""
    return value if value and value == value.strip() and not _BREAKS_LINE.search(value) else None


def _single(value: str) -> str | None:
    return None if _BREAKS_LINE.search(value) else f"'{value.replace(chr(39), chr(39) * 2)}'"


def _double(value: str) -> str:
    return '"' + "".join(_ESCAPES.get(letter) or _escaped(letter) for letter in value) + '"'


def _escaped(letter: str) -> str:
    if not _BREAKS_LINE.match(letter):
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
