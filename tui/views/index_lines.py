"""The lines of MEMORY.md that lead to memory files, and whether they are in the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent_core.tokens import estimate_tokens
from memory.agentic.links import Link
from memory.agentic.memory_file import MemoryFile

INJECTED = "✓"
CUT = "✂"
UNLISTED = "○"
DISABLED = "–"
UNUSABLE = "✗"
MEANINGS = {
    INJECTED: "in the index",
    CUT: "cut off",
    UNLISTED: "not in the index",
    DISABLED: "disabled",
    UNUSABLE: "unusable",
}
"""What stands before a file, and what it means."""
_NEWLINE = re.compile(r"\r\n|\r|\n")


class IndexLines(NamedTuple):
    """Where the index leads to a file: the lines, from 1, and what they cost in the prompt."""

    numbers: tuple[int, ...]
    tokens: int


def lines_by_file(text: str, links: Iterable[Link]) -> dict[str, IndexLines]:
    """The lines of an index that lead to files, by the paths of these."""
    lines = _NEWLINE.split(text)
    found: dict[str, dict[int, None]] = {}
    for link in links:
        if link.file is not None:
            found.setdefault(link.file.path, {})[link.entry.line] = None
    return {
        path: IndexLines(tuple(numbers), sum(estimate_tokens(lines[number - 1]) for number in numbers))
        for path, numbers in found.items()
    }


def standing(file: MemoryFile, lines: IndexLines | None, cut_line: int | None) -> str:
    """The sign for how a file stands in the prompt; see `MEANINGS`.

    Args:
        file: the file.
        lines: where the index leads to it; None when it does not.
        cut_line: the first line of the index that is left out of the prompt; None when none is.
    """
    if not file.is_text:
        return UNUSABLE
    if file.is_disabled:
        return DISABLED
    if lines is None:
        return UNLISTED
    return INJECTED if cut_line is None or lines.numbers[0] < cut_line else CUT


def badges(lines: IndexLines | None, cut_line: int | None) -> list[str]:
    """What a person should know about the lines of a file, a few words each."""
    if lines is None:
        return ["not in the index"]
    found = []
    if cut_line is not None and lines.numbers[0] >= cut_line:
        found.append(f"line {lines.numbers[0]} is cut off")
    if len(lines.numbers) > 1:
        found.append(f"{len(lines.numbers)} lines in the index")
    return found


def count_signs(signs: Mapping[str, int]) -> str:
    """How many files stand how, in one line."""
    return " · ".join(f"{sign} {signs[sign]} {meaning}" for sign, meaning in MEANINGS.items() if signs.get(sign))
