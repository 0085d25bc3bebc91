"""Changing single fields of a memory file's header; every byte outside of them stays as it is.

Whatever is written is read back before it is given out: the changed field must read as wanted, all others and the body
as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agent_core.text import well_formed
from memory.agentic.frontmatter import Header, parse_header
from memory.agentic.header_spans import FieldSpan, find_fields
from memory.agentic.memory_file import is_binary
from memory.agentic.yaml_text import written

_LINE_END = re.compile(r"\r\n|\r|\n")
_COLON = re.compile(r":(?=\s)")
_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)?")
_NOT_UTF8 = re.compile(r"[\udc80-\udcff]")
_BOM = "\ufeff"


class HeaderError(ValueError):
    """The header cannot be changed; the text says why, in one line for people."""


class NoHeader(HeaderError):
    """The file has no header."""


class _Frame(NamedTuple):
    """A file as three parts: up to the fields of its header, the fields, and the rest from the closing fence on."""

    head: str
    fields: str
    tail: str
    line_end: str


def set_fields(data: bytes, changes: Mapping[str, str | None], *, make_header: bool = False) -> bytes:
    """Change fields of the header of a file.

    A value that is there keeps its quotes where the new one allows them; a new field goes last. What reads as wanted
    already is left alone.

    Args:
        data: the file.
        changes: the new value of each field, None to remove it. A dot names a field of a nested mapping that is there.
        make_header: put a header in front of a file that has none.

    Raises:
        NoHeader: there is no header, and none was to be made.
        HeaderError: the file is no text, or its header is broken, or too long with the change, or of a form in which
            the field cannot be set.
        ValueError: a name is not fit to be one.
    """
    if is_binary(data):
        raise HeaderError("the file is binary")
    # Bytes that are not UTF-8 come back as they were.
    text = data.decode("utf-8", "surrogateescape")
    for key, value in changes.items():
        if not _NAME.fullmatch(key):
            raise ValueError(f"not a name for a field: {key!r}")
        text = _with_field(text, key, None if value is None else _LINE_END.sub("\n", well_formed(value)), make_header)
    return text.encode("utf-8", "surrogateescape")


def _with_field(text: str, key: str, value: str | None, make_header: bool) -> str:
    before = _read(text)
    if before.fields.get(key) == value:
        return text
    frame = _frame(text, before) or _new_frame(text, before, make_header)
    for fields in _candidates(frame, key, value):
        changed = frame.head + fields + frame.tail
        if _reads_as_wanted(_read(changed), before, key, value):
            return changed
    raise HeaderError(f"{key} cannot be changed in a header of this form or length: edit the file by hand")


def _read(text: str) -> Header:
    return parse_header(_NOT_UTF8.sub("\ufffd", text))


def _frame(text: str, header: Header) -> _Frame | None:
    """The file around its fields; None when it has no header."""
    end = len(text) - len(header.body)
    start = len(_bom_of(text))
    opening = _LINE_END.search(text, start, end)
    if opening is None:
        return None
    lines = [opening.end(), *(match.end() for match in _LINE_END.finditer(text, opening.end(), end))]
    # The last line is the closing fence, with or without an end.
    fence = lines[-2] if lines[-1] == end else lines[-1]
    return _Frame(text[: opening.end()], text[opening.end() : fence], text[fence:], opening[0])


def _new_frame(text: str, header: Header, make_header: bool) -> _Frame:
    if header.problem:
        raise HeaderError(f"{header.problem}: mend it by hand first")
    if not make_header:
        raise NoHeader("there is no header to change")
    found = _LINE_END.search(text)
    line_end = found[0] if found else "\n"
    bom = _bom_of(text)
    return _Frame(f"{bom}---{line_end}", "", f"---{line_end}{text[len(bom) :]}", line_end)


def _bom_of(text: str) -> str:
    return _BOM if text.startswith(_BOM) else ""


def _candidates(frame: _Frame, key: str, value: str | None) -> Iterator[str]:
    """The fields with the change made, in every way that there is, the best first."""
    source = _NOT_UTF8.sub("\ufffd", frame.fields)
    spans = [span for span in find_fields(source) if span.key == key]
    if value is None:
        yield _without(frame.fields, spans)
    elif spans:
        # Of a field that is given twice, the last one counts.
        span = spans[-1]
        start = _value_start(frame.fields, span)
        gap = " " if frame.fields[start - 1] == ":" else ""
        for text in written(value, span.style):
            yield frame.fields[:start] + gap + text + frame.fields[span.value_end :]
    else:
        for text in written(value):
            yield f"{frame.fields}{key}: {text}{frame.line_end}"


def _value_start(fields: str, span: FieldSpan) -> int:
    """Where the new value goes: one that began on a line of its own moves up to its name."""
    between = fields[span.start : span.value_start]
    colon = _COLON.search(between)
    return span.start + colon.end() if colon and _LINE_END.search(between) else span.value_start


def _without(fields: str, spans: list[FieldSpan]) -> str:
    """The fields without the lines of some of them."""
    for span in reversed(spans):
        start = max((match.end() for match in _LINE_END.finditer(fields, 0, span.start)), default=0)
        line_end = _LINE_END.search(fields, span.value_end)
        fields = fields[:start] + fields[line_end.end() if line_end else len(fields) :]
    return fields


def _reads_as_wanted(after: Header, before: Header, key: str, value: str | None) -> bool:
    if after.body != before.body or (after.problem and not before.problem):
        return False
    kept = {name: text for name, text in before.fields.items() if _is_apart(name, key)}
    others = {name: text for name, text in after.fields.items() if _is_apart(name, key)}
    return others == kept and after.fields.get(key) == value


def _is_apart(name: str, key: str) -> bool:
    """Whether neither of two fields is the other, or part of it."""
    return name != key and not name.startswith(f"{key}.") and not key.startswith(f"{name}.")
