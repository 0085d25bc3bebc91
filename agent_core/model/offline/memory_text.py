"""What a memory says: the statements of a topic file, or of a hint that carries one."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import NamedTuple

_HEADER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^(name|description):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_SAVED = re.compile(r"\bsaved (\d{4}-\d\d-\d\d|[a-z]+)")
_FROM = re.compile(r"(?:\bfrom |: )([^\n:]+?):?$")
_LONGEST_TITLE = 500
_BULLET = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+")
_ADVICE = re.compile(r"^\*\*(?:Why|How to apply)\b", re.IGNORECASE)
_DATED = re.compile(r"\s*\((\d{4}-\d\d-\d\d)\)$")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_SAME = re.compile(r"[^\w]+")


class Statement(NamedTuple):
    """One thing that a memory or a person says. `source` is a file's name or empty; `date` as written, or empty."""

    text: str
    source: str = ""
    date: str = ""


class Memory(NamedTuple):
    """A memory: what its header says that it is about, and its statements."""

    source: str
    about: str
    statements: tuple[Statement, ...]


def memory_in_file(text: str, source: str, date: str = "") -> Memory:
    """Read the text of a topic file. `date` is when it was saved, where a statement does not say it itself."""
    header = _HEADER.match(text)
    fields = [plain_value(match[2]) for match in _FIELD.finditer(header[1])] if header else []
    body = text[header.end() :] if header else text
    return Memory(source, " ".join([*fields, source]), tuple(_statements(body, source, date)))


def memory_in_hint(text: str, source: str) -> Memory:
    """Read a hint: a line that says when and where the memory was saved, the memory, notes in parentheses."""
    title, _, content = text.partition("\n")
    saved = _SAVED.search(title[:_LONGEST_TITLE])
    origin = _FROM.search(title[-_LONGEST_TITLE:]) if saved else None
    lines = (content if saved else text).rstrip().split("\n")
    while lines and (not lines[-1].strip() or (lines[-1].startswith("(") and lines[-1].endswith(")"))):
        lines.pop()
    name = origin[1].strip() if origin else source.removeprefix("memory:")
    return memory_in_file("\n".join(lines), name, saved[1] if saved else "")


def plain_value(written: str) -> str:
    """The text of a YAML value of one line."""
    if written.startswith('"'):
        try:
            return str(json.loads(written))
        except ValueError:
            return written.strip('"')
    if written.startswith("'"):
        return written.strip("'").replace("''", "'")
    return written


def canonical(text: str) -> str:
    """A form that is equal for statements that differ only in capitals, width, blank space and punctuation."""
    return _SAME.sub("", unicodedata.normalize("NFKC", text).casefold()) or text.strip()


def printable(text: str) -> str:
    """`text` without the control characters that YAML refuses and that make a file look binary."""
    return _UNPRINTABLE.sub("", text)


def one_line(text: str) -> str:
    """`text` in one line, without control characters."""
    return printable(" ".join(text.split()))


def _statements(body: str, source: str, date: str) -> list[Statement]:
    texts: list[str] = []
    continues = False
    for line in body.split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith("#") or _ADVICE.match(stripped) or set(stripped) <= set("-*_="):
            continues = False
        elif continues and line[0] in " \t" and not _BULLET.match(stripped):
            texts[-1] += f"\n{stripped}"
        else:
            texts.append(_BULLET.sub("", stripped))
            continues = True
    return [_dated(text, source, date) for text in texts]


def _dated(text: str, source: str, date: str) -> Statement:
    match = _DATED.search(text)
    return Statement(text[: match.start()], source, match[1]) if match else Statement(text, source, date)
