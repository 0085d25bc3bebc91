"""Cuts Markdown that would cost more to lay out than anyone will read: huge tables and code, deep nesting.

Every cut is said where it was made. What is cut here is cut on the screen only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_CHARACTERS = 200_000
MAX_LINES = 5_000
MAX_TABLE_ROWS = 200
MAX_TABLE_CELLS = 4_000
MAX_CODE_LINES = 400
MAX_LINE = 10_000
MAX_QUOTES = 6
MAX_LEVELS = 12
MAX_INDENT = 24
_FEWEST_ROWS = 3

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_QUOTES = re.compile(rf"(?: {{0,3}}>){{{MAX_QUOTES + 1},}}")
_MARKER = r" {0,3}(?:>|(?:[-*+]|\d{1,9}[.)]) )"
_LEVELS = re.compile(rf"((?:{_MARKER}){{{MAX_LEVELS}}})(?:{_MARKER})+")
_INDENT = re.compile(rf" {{{MAX_INDENT + 1},}}")


def capped(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """`text` with everything beyond the limits replaced by a note; unchanged when nothing is."""
    rest = len(text) - max(0, max_characters)
    shown = text[:-rest] if rest > 0 else text
    lines = list(_capped_lines(shown.split("\n")))
    if len(lines) > MAX_LINES:
        rest = max(0, rest) + sum(len(line) + 1 for line in lines[MAX_LINES:])
        del lines[MAX_LINES:]
    if rest > 0:
        lines += ["", _note(rest, "characters")]
    return "\n".join(lines)


def _capped_lines(lines: list[str]) -> Iterator[str]:
    fence, code_lines, table_rows, max_rows = "", 0, 0, MAX_TABLE_ROWS
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
        if not is_row and table_rows > max_rows:
            yield from ("", _note(table_rows - max_rows, "rows"), "")
        table_rows = table_rows + 1 if is_row else 0
        if table_rows == 1:
            max_rows = _rows_with(line.count("|") + 1)
        if table_rows <= max_rows:
            yield _cut(_flattened(line))
    if code_lines > MAX_CODE_LINES:
        yield _note(code_lines - MAX_CODE_LINES, "lines")
    if table_rows > max_rows:
        yield from ("", _note(table_rows - max_rows, "rows"))


def _rows_with(columns: int) -> int:
    """How many rows of so many columns are shown; the line below the header counts as one."""
    return max(_FEWEST_ROWS, min(MAX_TABLE_ROWS, MAX_TABLE_CELLS // columns))


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found["fence"].startswith(fence) and not line[found.end() :].strip()


def _flattened(line: str) -> str:
    """The line with no more quotes, lists in one another and indentation than the limits allow."""
    if quotes := _QUOTES.match(line):
        depth = quotes[0].count(">")
        line = f"{'>' * MAX_QUOTES} ({depth} quotes deep) {line[quotes.end() :].lstrip()}"
    elif (levels := _LEVELS.match(line)) and (rest := line[levels.end() :].lstrip()).strip("-*_ "):
        # A parser gives up on so many, and shows nothing of them.
        line = f"{levels[1]} ({len(re.findall(_MARKER, levels[0]))} levels deep) {rest}"
    return _INDENT.sub(" " * MAX_INDENT, line, count=1) if line.startswith(" " * MAX_INDENT) else line


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} {_note(len(line) - MAX_LINE, 'characters')}"


def _note(number: int, what: str) -> str:
    return f"… {number:,} more {what} are not shown; /copy has all of it."
