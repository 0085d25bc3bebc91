"""Replacing text inside the bytes of a file so that every byte outside of the change stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from agent_core.errors import ToolError
from agent_core.text import well_formed
from agent_core.tool.read_record import Span

MOST_PLACES = 100_000
"""Places that one edit may change."""
MOST_BYTES = 16 * 2**20
"""Bytes that one edit may put in."""
_LISTED = 5


class Replacement(NamedTuple):
    """One place: the text that was looked for is at `found`, and the bytes from `start` to `end` become `new`."""

    found: Span
    start: int
    end: int
    new: bytes


def find_replacements(data: bytes, old: str, new: str, replace_all: bool) -> list[Replacement]:
    """Find where to put `new` for `old`.

    A line end in `old` matches both kinds in the file, and those in `new` become the kind that is used there. What
    `old` and `new` have in common at their start and end is not touched, so that its line ends stay too.

    Raises:
        ToolError: `old` is empty, or the same as `new`, or not in the file, or in it more than once without
            `replace_all`; the message says where.
    """
    old, new = (well_formed(text).replace("\r\n", "\n") for text in (old, new))
    if not old:
        raise ToolError("old_string is empty: give the text to be replaced, or use Write for a new file")
    if old == new:
        raise ToolError("old_string and new_string are the same: nothing was changed")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    parts = (old[:head], old[head : len(old) - tail], old[len(old) - tail :])
    pattern = re.compile(b"".join(b"(" + _pattern(part) + b")" for part in parts))
    matches = list(islice(_matches(pattern, data, overlapping=not replace_all), MOST_PLACES + 1))
    if not matches:
        raise ToolError(_not_found(data, old))
    if len(matches) > 1 and not replace_all:
        raise ToolError(
            f"old_string is in the file {_times(matches)}, at {lines_of(data, [match.start() for match in matches])}: "
            "add text from around it until it is unique, or set replace_all"
        )
    if len(matches) > MOST_PLACES:
        raise ToolError(f"old_string is in the file {_times(matches)}, which is too many to replace in one edit")
    inserted = new[head : len(new) - tail].encode()
    if len(inserted) * len(matches) > MOST_BYTES:
        raise ToolError(f"replacing old_string {_times(matches)} would add more than {MOST_BYTES // 2**20} MiB")
    line_end = _line_ends(data)
    return [
        Replacement(match.span(), *match.span(2), inserted.replace(b"\n", line_end(match.start(2))))
        for match in matches
    ]


def replaced(data: bytes, replacements: Sequence[Replacement]) -> bytes:
    """The bytes after all replacements, which are in order and apart from each other."""
    pieces, position = [], 0
    for replacement in replacements:
        pieces += [data[position : replacement.start], replacement.new]
        position = replacement.end
    return b"".join([*pieces, data[position:]])


def moved(spans: Iterable[Span], replacements: Sequence[Replacement]) -> list[Span]:
    """Where spans of the bytes before lie afterwards. Each replacement lies in one of them, or in none."""

    def growth(behind: int) -> int:
        return sum(len(each.new) - (each.end - each.start) for each in replacements if each.end < behind)

    # What is put in at the very start or end of a span belongs to it.
    return [(start + growth(start), end + growth(end + 1)) for start, end in spans]


def lines_of(data: bytes, positions: Sequence[int]) -> str:
    """The numbers of the lines in which positions lie, in words; of many only the first."""
    numbers = list(dict.fromkeys(data.count(b"\n", 0, position) + 1 for position in positions[:_LISTED]))
    listed = ", ".join(f"{number:,}" for number in numbers)
    more = " and others" if len(positions) > _LISTED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {listed}{more}"


def _common(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    pairs = zip(one, other, strict=False)
    return next((count for count, (mine, its) in enumerate(pairs) if mine != its), min(len(one), len(other)))


def _pattern(text: str) -> bytes:
    return rb"\r?\n".join(re.escape(line) for line in text.encode().split(b"\n"))


def _matches(pattern: re.Pattern[bytes], data: bytes, overlapping: bool) -> Iterator[re.Match[bytes]]:
    position = 0
    while match := pattern.search(data, position):
        yield match
        start, end = match.span()
        # Both bytes of a line end are one step, else the second would be found again on its own.
        position = end if not overlapping else start + (2 if data.startswith(b"\r\n", start) else 1)


def _line_ends(data: bytes) -> Callable[[int], bytes]:
    """Tells the line end in use around a position: that of its line, or else of the line before."""
    returns, newlines = data.count(b"\r\n"), data.count(b"\n")
    if returns in (0, newlines):
        return lambda position: b"\r\n" if returns else b"\n"

    def around(position: int) -> bytes:
        newline = data.find(b"\n", position)
        if newline < 0:
            newline = data.rfind(b"\n", 0, position)
        return b"\r\n" if data[newline - 1 : newline] == b"\r" else b"\n"

    return around


def _not_found(data: bytes, old: str) -> str:
    words = old.encode().split()
    if words and (match := re.search(rb"\s+".join(map(re.escape, words)), data)):
        near = lines_of(data, [match.start()])
        return f"old_string is not in the file as given; {near} has it with other white space or line breaks"
    if "\ufffd" in old:
        return "old_string is not in the file: a � stands for bytes that are not UTF-8, so leave it out of old_string"
    if re.match(r" *\d+\t", old):
        return "old_string is not in the file: leave out the line numbers, which Read puts before each line"
    return "old_string is not in the file: it must be the exact text, white space included; Read shows it"


def _times(matches: Sequence[object]) -> str:
    return f"more than {MOST_PLACES:,} times" if len(matches) > MOST_PLACES else f"{len(matches):,} times"
