"""Lines as they stand on the screen, and how text is broken into them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from rich.cells import chop_cells
from textual.content import Content


class Line(NamedTuple):
    """One line on the screen.

    Args:
        content: what is seen.
        skipped: how many characters at its start are no part of the text, such as the bars of quotes.
        joint: what a copy of the text has between the line before and this one: a newline, or what a soft break
            swallowed.
        ground: the style in which the line is filled up to the right edge.
    """

    content: Content
    skipped: int = 0
    joint: str = "\n"
    ground: str = ""


class Prefix(NamedTuple):
    """What stands before the lines of a block: before the first one, and before the rest.

    `skipped` characters of it are no part of the text.
    """

    first: Content = Content("")
    rest: Content = Content("")
    skipped: int = 0

    def before(self, index: int) -> Content:
        """What stands before the line of this index."""
        return self.rest if index else self.first


def wrapped(content: Content, width: int) -> list[Line]:
    """`content` broken at blanks, and inside words that are too long, so that no line is wider than `width` cells."""
    lines: list[Line] = []
    for logical in content.split("\n", allow_blank=True):
        end = 0
        for index, piece in enumerate(logical.wrap(max(1, width))):
            start = logical.plain.index(piece.plain, end)
            lines.append(Line(piece, joint=logical.plain[end:start] if index else "\n"))
            end = start + len(piece.plain)
    return lines


def folded(content: Content, width: int) -> list[Line]:
    """`content` broken where the width ends, as suits code."""
    lines: list[Line] = []
    for logical in content.split("\n", allow_blank=True):
        # `Content.fold` goes through all styles at each line, and stops at the first that has marks without a width.
        pieces = chop_cells(logical.plain, max(2, width))
        for index, piece in enumerate(logical.divide(list(accumulate(map(len, pieces[:-1]))))):
            lines.append(Line(piece, joint="" if index else "\n"))
    return lines


def prefixed(lines: Iterable[Line], prefix: Prefix) -> list[Line]:
    """The same lines with a prefix before each."""
    return [_prefixed(line, prefix.before(index), prefix.skipped) for index, line in enumerate(lines)]


def _prefixed(line: Line, before: Content, skipped: int) -> Line:
    if line.skipped or line.joint != "\n":
        # Code is copied without any indentation, and a line that continues another one without what is put before it.
        skipped = len(before) + line.skipped
    return line._replace(content=before + line.content, skipped=skipped)


def copied(lines: Sequence[Line], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two places, each a line and a character in it, as it was before it was broken into lines."""
    (first, first_x), (last, last_x) = start, end
    pieces: list[str] = []
    for index in range(first, min(last, len(lines) - 1) + 1):
        line = lines[index]
        if index > first:
            pieces.append(line.joint)
        stop = last_x if index == last else len(line.content.plain)
        begin = max(line.skipped, first_x if index == first else 0)
        pieces.append(line.content.plain[begin:stop])
    return "".join(pieces)
