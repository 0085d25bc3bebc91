"""MEMORY.md, as far as the offline model reads and writes it: one link a line."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

_LINE = re.compile(r"^\s*[-*+]\s+\[([^\]]*)\]\((?:<([^>]+)>|([^)]+?)(?:\s+\"[^\"]*\")?)\)[\s—–:-]*(.*?)\s*$")
_LONGEST_LINE = 1_000


class IndexEntry(NamedTuple):
    """A line of the index: `- [title](file) — hook`. `line` is the line as written."""

    title: str
    file: str
    hook: str
    line: str


def parse_index(text: str) -> list[IndexEntry]:
    """The lines that link a file of the memory folder, in order; links that lead elsewhere are left out."""
    entries = []
    for line in text.splitlines():
        match = _LINE.match(line) if len(line) <= _LONGEST_LINE else None
        if match is None:
            continue
        file = unquote(match[2] or match[3]).removeprefix("./")
        if not file.startswith("/") and ".." not in file and "://" not in file:
            entries.append(IndexEntry(match[1], file, match[4], line))
    return entries


def index_line(title: str, file: str, hook: str) -> str:
    """A line of the index."""
    return f"- [{title}]({file}) — {hook}"
