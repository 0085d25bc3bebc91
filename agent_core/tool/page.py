"""The window of a file that `Read` shows: numbered lines, bounded whatever the file is, with notes on the rest."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from agent_core.tool.read_record import Span

MOST_LINES = 2_000
"""Lines shown at once."""
LINE_LIMIT = 2_000
"""Characters shown of one line among others."""
PAGE_LIMIT = 40_000
"""Characters shown in all, also of a line that is asked for alone."""
_BLOCK = 1 << 16
_WIDEST = 4
"""Bytes that a character may take in UTF-8."""


class Page(NamedTuple):
    """What is shown, and which bytes of the file it shows."""

    text: str
    spans: tuple[Span, ...]


class _Line(NamedTuple):
    text: str
    shown_to: int
    is_utf8: bool
    is_cut: bool


def make_page(data: bytes, offset: int, limit: int, *, is_whole_file: bool = True) -> Page:
    """Show the lines `offset` (from 1) to `offset + limit - 1`.

    Args:
        data: the file, or its start when `is_whole_file` is false.
        offset: number of the first line.
        limit: how many lines, at most `MOST_LINES`.
        is_whole_file: whether the file ends where `data` does.
    """
    if not data:
        return Page("[the file is empty]", ((0, 0),))
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    start = line_start(data, offset)
    if start is None:
        return Page(f"[the file has {_count(total, 'line')}{_more(is_whole_file)}; there is no line {offset:,}]", ())
    widest = PAGE_LIMIT if limit == 1 else LINE_LIMIT
    shown: list[str] = []
    spans: list[Span] = []
    left, is_utf8, number = PAGE_LIMIT, True, offset
    while number < offset + min(limit, MOST_LINES) and start < len(data):
        found = data.find(b"\n", start)
        end = len(data) if found < 0 else found + 1
        line = _show_line(data, start, end, widest, found >= 0 or is_whole_file)
        if shown and len(line.text) > left:
            break
        advice = "" if limit == 1 else "; read it alone, with limit=1, to see more"
        note = f" … [cut: the line has {end - start:,} bytes{_more(is_whole_file or found >= 0)}{advice}]"
        shown.append(f"{number:6d}\t{line.text}{note if line.is_cut else ''}")
        spans.append((start, line.shown_to))
        left -= len(line.text)
        is_utf8 = is_utf8 and line.is_utf8
        start, number = end, number + 1
    notes = _notes(offset, number, total, is_utf8, is_whole_file, at_end=start >= len(data))
    return Page("\n".join([*shown, *notes]), tuple(spans))


def line_start(data: bytes, number: int) -> int | None:
    """Where line `number` (from 1) starts; None when there are fewer lines. Needs no memory, however many there are."""
    missing, position = number - 1, 0
    while missing:
        block_end = min(position + _BLOCK, len(data))
        if (there := data.count(b"\n", position, block_end)) < missing:
            if block_end == len(data):
                return None
            missing, position = missing - there, block_end
            continue
        for _ in range(missing):
            position = data.index(b"\n", position) + 1
        missing = 0
    return position if position < len(data) else None


def _show_line(data: bytes, start: int, end: int, widest: int, is_complete: bool) -> _Line:
    """Decode a line without its ending, or as much of it as may be shown, without looking at the rest."""
    piece = data[start : min(end, start + widest * _WIDEST + len(codecs.BOM_UTF8))]
    is_all = start + len(piece) == end
    first = len(codecs.BOM_UTF8) if start == 0 and piece.startswith(codecs.BOM_UTF8) else 0
    text, is_utf8 = _decode(piece[first:], is_all and is_complete)
    if is_all:
        text = text.removesuffix("\n").removesuffix("\r")
        if len(text) <= widest:
            return _Line(text, end, is_utf8, False)
    text = text[:widest]
    # With replaced bytes in it, nobody can say how far the text reaches; nothing counts as shown then.
    shown_to = start + first + len(text.encode()) if is_utf8 else start
    return _Line(text, shown_to, is_utf8, True)


def _decode(piece: bytes, is_complete: bool) -> tuple[str, bool]:
    """Text, and whether all of it was UTF-8; a character cut off at the end of an incomplete piece is left out."""
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(piece, is_complete), True
    except UnicodeDecodeError:
        return piece.decode("utf-8", "replace"), False


def _notes(offset: int, following: int, total: int, is_utf8: bool, is_whole_file: bool, at_end: bool) -> list[str]:
    notes = []
    if not is_utf8:
        notes.append("[not UTF-8: bytes that could not be read are shown as �; Edit leaves them as they are]")
    if not at_end:
        lines = f"lines {offset:,} to {following - 1:,} of {total:,}{_more(is_whole_file)}"
        notes.append(f"[{lines}; go on with offset={following}]")
    elif not is_whole_file:
        notes.append(f"[the file is too large: what follows after line {total:,} cannot be read]")
    return notes


def _more(is_all: bool) -> str:
    return "" if is_all else " or more"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
