"""Cuts Markdown that would cost more to lay out than anyone will read: huge tables and code, deep nesting.

Every cut is said where it was made. What is cut here is cut on the screen only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_CHARACTERS = 200_000
MAX_TABLE_ROWS = 200
MAX_CODE_LINES = 400
MAX_LINE = 10_000
MAX_QUOTES = 6
MAX_INDENT = 24

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_QUOTES = re.compile(rf"(?: {{0,3}}>){{{MAX_QUOTES + 1},}}")
_INDENT = re.compile(rf" {{{MAX_INDENT + 1},}}")


def capped(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """`text` with everything beyond the limits replaced by a note; unchanged when nothing is."""
    rest = len(text) - max(0, max_characters)
    shown = text[:-rest] if rest > 0 else text
    lines = list(_capped_lines(shown.split("\n")))
    if rest > 0:
        lines += ["", _note(rest, "characters")]
    return "\n".join(lines)


def _capped_lines(lines: list[str]) -> Iterator[str]:
    fence, code_lines, table_rows = "", 0, 0
    for line in lines:
        if fence:
            if _closes(line, fence):
                if code_lines > MAX_CODE_LINES:
                    yield _note(code_lines - MAX_CODE_LINES, "lines")
                fence, code_lines = "", 0
                yield line
                continue
            code_lines += 1
            if code_lines <= MAX_CODE_LINES:
                yield _cut(line)
            continue
        opening = _FENCE.match(line)
        if opening is not None:
            fence = opening["fence"]
        is_row = "|" in line and opening is None
        if not is_row and table_rows > MAX_TABLE_ROWS:
            yield from ("", _note(table_rows - MAX_TABLE_ROWS, "rows"), "")
        table_rows = table_rows + 1 if is_row else 0
        if table_rows <= MAX_TABLE_ROWS:
            yield _cut(_flattened(line))
    if code_lines > MAX_CODE_LINES:
        yield _note(code_lines - MAX_CODE_LINES, "lines")
    if table_rows > MAX_TABLE_ROWS:
        yield from ("", _note(table_rows - MAX_TABLE_ROWS, "rows"))


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found["fence"].startswith(fence) and not line[found.end() :].strip()


def _flattened(line: str) -> str:
    """The line with no more quote marks and no more indentation than the limits allow."""
    if quotes := _QUOTES.match(line):
        depth = quotes[0].count(">")
        line = f"{'>' * MAX_QUOTES} ({depth} quotes deep) {line[quotes.end() :].lstrip()}"
    return _INDENT.sub(" " * MAX_INDENT, line, count=1) if line.startswith(" " * MAX_INDENT) else line


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} {_note(len(line) - MAX_LINE, 'characters')}"


def _note(number: int, what: str) -> str:
    return f"… {number:,} more {what} are not shown; /copy has all of it."
