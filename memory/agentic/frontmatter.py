"""The header of a memory file: a few lines of YAML between two `---` fences at the very start of the file.

Read through python-frontmatter, never written here. Lenient: what cannot be read costs the header, never the body.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memory.agentic.yaml_strings import NotAMapping, StringMapping, read_mapping

HEADER_LIMIT = 16_384
"""A header that does not end within so many characters is not looked at."""

FREE_TEXT = frozenset({"name", "description"})
"""Fields whose unquoted values are prose, in which a `#` starts no comment."""
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
KEY_LINE = re.compile(r"(\w[^:\n]{0,100}?)[ \t]*:(?:[ \t]+(.*))?$")
"""How a field looks in a header that is not YAML."""
_BLOCK_INDICATOR = re.compile(r"[|>][+-]?[1-9]?$")


class Header(NamedTuple):
    """A memory file taken apart.

    Args:
        fields: every key with the text of its value; the keys of a nested mapping are joined by a dot.
        body: what follows the header, byte for byte; the whole text when there is no header.
        problem: what was odd about the header, a few words for people; empty when nothing was.
    """

    fields: dict[str, str]
    body: str
    problem: str = ""


def parse_header(text: str) -> Header:
    """Take the text of a memory file apart; never fails.

    A byte order mark is dropped. Values are text as it was written: dates, numbers, booleans, tags and anchors mean
    nothing. A key given twice counts with its last value. What stands between fences but is no mapping is body.
    """
    text = text.removeprefix("\ufeff")
    start = _unix_lines(text[:HEADER_LIMIT])
    opening = _FENCE.match(start)
    if opening is None:
        return Header({}, text)
    closing = _FENCE.search(start, opening.end())
    if closing is None:
        is_header = KEY_LINE.match(start[opening.end() + 1 :].split("\n", maxsplit=1)[0])
        return Header({}, text, "the header has no end" if is_header else "")
    try:
        fields, remarks = _read(start[: closing.end()])
    except NotAMapping:
        return Header({}, text)
    lines = start.count("\n", 0, closing.end()) + 1
    return Header(fields, _without_lines(text, lines), "; ".join(remarks))


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_lines(text: str, count: int) -> str:
    """What follows the first `count` lines, whatever their line ends."""
    lines = re.compile(r"\r\n|\r|\n").finditer(text)
    end = next((match.end() for number, match in enumerate(lines, 1) if number == count), len(text))
    return text[end:]


def _read(header: str) -> StringMapping:
    """The fields of a header with its fences."""
    # Imported late: they cost more than the rest of the start together.
    import frontmatter
    import yaml
    from frontmatter.default_handlers import BaseHandler

    remarks: list[str] = []

    class Strings(BaseHandler):
        FM_BOUNDARY = _FENCE

        def load(self, fm: str) -> dict[str, str]:
            fields, found = read_mapping(fm, FREE_TEXT)
            remarks.extend(found)
            return fields

    try:
        fields, _ = frontmatter.parse(header, handler=Strings())
    except (yaml.YAMLError, UnicodeError) as error:
        remark = f"the header is not valid YAML{_place(error)}: read line by line"
        return StringMapping(_read_by_line(header), (remark,))
    return StringMapping({key: str(value) for key, value in fields.items()}, tuple(remarks))


def _read_by_line(header: str) -> dict[str, str]:
    """Read what is not YAML as people mean it: `key: the rest of the line`, indented lines going on with it."""
    fields: dict[str, str] = {}
    key = ""
    for line in header.split("\n")[1:-1]:
        if match := KEY_LINE.match(line):
            key = match[1]
            fields[key] = _unquoted((match[2] or "").strip())
        elif key and line[:1].isspace():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    if not fields:
        raise NotAMapping
    return fields


def _unquoted(value: str) -> str:
    if _BLOCK_INDICATOR.match(value):
        return ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark is not None else ""
