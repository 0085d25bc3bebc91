"""A YAML mapping read as nothing but strings.

It works on the parser's events: no object is ever constructed, no alias followed, no tag obeyed, and nesting is
bounded, so that a header can neither run code nor grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import yaml

_MAX_DEPTH = 8
_TAGGED = "tags and anchors are taken as text"


class StringMapping(NamedTuple):
    """Keys with the text of their values, and remarks for people on what was odd."""

    fields: dict[str, str]
    remarks: tuple[str, ...]


class NotAMapping(ValueError):
    """The text is valid YAML of another kind: a sentence, a list, a comment alone."""


def read_mapping(source: str, free_text: frozenset[str] = frozenset()) -> StringMapping:
    """Read `source`, which must use "\\n" between lines.

    A nested mapping is given by keys joined with a dot, and whole as written; a list or deeper nesting as written only.

    Args:
        source: YAML.
        free_text: keys whose unquoted values are prose, in which a `#` starts no comment.

    Raises:
        NotAMapping: see there.
        yaml.YAMLError: the text is not YAML, or nested too deeply.
    """
    return _Reader(source, free_text).read()


class _Level:
    """A mapping or a list that is being read: where it begins, and the key that waits for its value."""

    def __init__(self, start: int, *, is_mapping: bool) -> None:
        self.start = start
        self.is_mapping = is_mapping
        self.key: str | None = None


class _Reader:
    def __init__(self, source: str, free_text: frozenset[str]) -> None:
        self._source = source
        self._free_text = free_text
        self._levels: list[_Level] = []
        self._fields: dict[str, str] = {}
        self._remarks: list[str] = []

    def read(self) -> StringMapping:
        import yaml

        for event in self._events():
            start, end = _span(event)
            if isinstance(event, yaml.CollectionStartEvent):
                self._open(event, start)
            elif isinstance(event, yaml.CollectionEndEvent):
                ended = self._levels.pop()
                if self._levels:
                    self._put(self._source[ended.start : end].rstrip())
            elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
                # A document without content is one empty scalar.
                if not self._levels and start < end:
                    raise NotAMapping
                self._put(self._scalar(event, start, end))
        if not self._fields and self._source.strip():
            raise NotAMapping
        return StringMapping(self._fields, tuple(dict.fromkeys(self._remarks)))

    def _events(self) -> Iterator[yaml.Event]:
        import yaml

        for event in yaml.parse(self._source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            if isinstance(event, yaml.DocumentEndEvent):
                return
            yield event

    def _open(self, event: yaml.CollectionStartEvent, start: int) -> None:
        import yaml

        self._remark_tags(event.tag, event.anchor)
        self._levels.append(_Level(start, is_mapping=isinstance(event, yaml.MappingStartEvent)))
        if not self._levels[0].is_mapping:
            raise NotAMapping
        if len(self._levels) > _MAX_DEPTH:
            raise yaml.YAMLError("nested too deeply")

    def _scalar(self, event: yaml.ScalarEvent | yaml.AliasEvent, start: int, end: int) -> str:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            self._remark_tags(None, event.anchor)
            return self._source[start:end]
        if event.tag or event.anchor:
            self._remark_tags(event.tag, event.anchor)
            return self._source[start:end]
        is_prose = len(self._levels) == 1 and self._levels[0].key in self._free_text and not event.style
        return self._with_hash(event.value, end) if is_prose else str(event.value)

    def _with_hash(self, value: str, end: int) -> str:
        """Prose together with what YAML takes for a comment behind it."""
        rest = self._source[end:].split("\n", maxsplit=1)[0]
        if not rest.lstrip().startswith("#"):
            return value
        return (value + rest if value else rest).strip()

    def _put(self, text: str) -> None:
        """Take `text` as the key, or as the value of the key that waits."""
        if not 0 < len(self._levels) <= 2 or not self._levels[-1].is_mapping:
            return
        level = self._levels[-1]
        if level.key is None:
            level.key = text
            return
        key = ".".join(str(one.key) for one in self._levels)
        level.key = None
        if key in self._fields:
            self._remarks.append(f"{key} is given twice")
        self._fields[key] = text

    def _remark_tags(self, tag: str | None, anchor: str | None) -> None:
        if tag or anchor:
            self._remarks.append(_TAGGED)


def _span(event: yaml.Event) -> tuple[int, int]:
    """Where the event stands in the source. Parsers give marks to all events, though the types do not say so."""
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)
