"""Where the fields of a header stand in its text, so that one of them can be changed and nothing else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memory.agentic.frontmatter import FREE_TEXT, KEY_LINE

if TYPE_CHECKING:
    import yaml

_DEEPEST = 2
_LINE = re.compile(r"[^\n]*\n?")


class FieldSpan(NamedTuple):
    """One field of a header.

    Args:
        key: its name; in a nested mapping, joined to that mapping's name by a dot.
        start: where the name begins.
        value_start: where the value begins, quotes and tags included.
        value_end: the first position behind it; the same as `value_start` when there is no value.
        style: how the value is written: `'`, `"`, `|`, `>`, or empty.
    """

    key: str
    start: int
    value_start: int
    value_end: int
    style: str


def find_fields(source: str) -> list[FieldSpan]:
    """The fields in the text between the fences, in order; positions are those of `source` as it is.

    What is not YAML is taken line by line, as the reader does it.
    """
    import yaml

    unix, positions = _unix_lines(source)
    try:
        spans = list(_by_yaml(unix))
    except (yaml.YAMLError, UnicodeError):
        spans = list(_by_line(unix))
    return [
        FieldSpan(key, positions(start), positions(value_start), positions(value_end), style)
        for key, start, value_start, value_end, style in spans
    ]


class _Positions:
    """From positions in a text with "\\n" line ends to those in the text as it was."""

    def __init__(self, collapsed: list[int]) -> None:
        self._collapsed = collapsed

    def __call__(self, position: int) -> int:
        return position + bisect_right(self._collapsed, position - 1)


def _unix_lines(source: str) -> tuple[str, _Positions]:
    collapsed = [match.start() - number for number, match in enumerate(re.finditer(r"\r\n", source))]
    return source.replace("\r\n", "\n").replace("\r", "\n"), _Positions(collapsed)


class _Mapping:
    """A mapping, or a list, that is being read."""

    def __init__(self, prefix: str, start: int, *, is_mapping: bool, is_block: bool) -> None:
        self.prefix = prefix
        self.start = start
        self.is_mapping = is_mapping
        self.is_block = is_block
        self.key: tuple[str, int] | None = None


def _by_yaml(source: str) -> Iterator[FieldSpan]:
    import yaml

    levels: list[_Mapping] = []
    last_end = 0
    for event in yaml.parse(source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        start, end = _span(event)
        style = ""
        if isinstance(event, yaml.CollectionStartEvent):
            prefix = levels[-1].key[0] if levels and levels[-1].key else ""
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            levels.append(_Mapping(prefix, start, is_mapping=is_mapping, is_block=not event.flow_style))
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            ended = levels.pop()
            # The mark at the end of a block stands behind the comments that follow it.
            start, end = ended.start, max(last_end, ended.start) if ended.is_block else end
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            style = getattr(event, "style", "") or ""
        else:
            continue
        last_end = end
        if not 0 < len(levels) <= _DEEPEST or not levels[-1].is_mapping:
            continue
        level = levels[-1]
        if level.key is None:
            name = event.value if isinstance(event, yaml.ScalarEvent) else source[start:end]
            level.key = (f"{level.prefix}.{name}" if level.prefix else name, start)
            continue
        key, key_start = level.key
        level.key = None
        yield FieldSpan(key, key_start, start, _value_end(source, key, start, end, style), style)


def _value_end(source: str, key: str, start: int, end: int, style: str) -> int:
    """Where a value really ends: a block's mark stands behind the blank lines after it; prose goes on after a `#`."""
    end = start + len(source[start:end].rstrip())
    line_end = source.find("\n", end)
    rest = source[end : line_end if line_end >= 0 else len(source)]
    is_prose = key in FREE_TEXT and not style and rest.lstrip().startswith("#")
    return end + len(rest.rstrip()) if is_prose else end


def _by_line(source: str) -> Iterator[FieldSpan]:
    found: FieldSpan | None = None
    for line in _LINE.finditer(source):
        text = line[0].removesuffix("\n")
        if match := KEY_LINE.match(text):
            if found:
                yield found
            start = line.start()
            colon = start + text.index(":", match.end(1)) + 1
            value = (match[2] or "").strip()
            value_start = start + match.start(2) if value else colon
            style = value[0] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else ""
            found = FieldSpan(match[1], start, value_start, value_start + len(value), style)
        elif found and text[:1].isspace() and text.strip():
            found = found._replace(value_end=line.start() + len(text.rstrip()), style="")
    if found:
        yield found


def _span(event: yaml.Event) -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)
