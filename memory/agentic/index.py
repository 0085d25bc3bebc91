"""MEMORY.md, the index: its links, and what of it goes into a prompt.

Links are read as people write them, which is more than Markdown allows: raw spaces, percent-encoding, `<...>`, titles,
balanced parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from agent_core.tokens import estimate_tokens

_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINK_TEXT = re.compile(r"(?<!!)\[((?:\\.|[^\[\]\\])*)\]\(")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# What is escaped, or in angle brackets behind the parenthesis, neither opens nor closes.
_PARENTHESIS = re.compile(r"\\.|\(\s*<[^<>]{0,1000}>|[()]")
_HOOK_LENGTH = 500
_QUOTES = {'"': '"', "'": "'", ")": "("}
SEPARATORS = " \t-–—:·|"


class IndexEntry(NamedTuple):
    """A link of the index.

    Args:
        title: its text.
        target: where it leads, as written, without angle brackets and title; see `spellings`.
        hook: the rest of its line, without the dash.
        line: where it stands, from 1.
        is_example: it stands in code or in a comment, where a link need not lead anywhere.
    """

    title: str
    target: str
    hook: str
    line: int
    is_example: bool = False


class LinkSpan(NamedTuple):
    """Where a link stands in its line.

    Args:
        start: its opening bracket.
        end: the first position behind it.
        title: its text as written, start and end.
        inside: what is between its parentheses, start and end.
        target: where it leads; see `IndexEntry`.
    """

    start: int
    end: int
    title: tuple[int, int]
    inside: tuple[int, int]
    target: str


class FittedIndex(NamedTuple):
    """The part of an index that fits a limit.

    Args:
        text: whole lines from the top, with a note at the end when lines were left out.
        lines: how many lines the index has.
        injected_lines: how many of them are in `text`.
        cut_line: the first line left out, from 1; None when there is none.
    """

    text: str
    lines: int
    injected_lines: int
    cut_line: int | None


def parse_index(text: str) -> list[IndexEntry]:
    """All links of an index, in order; pictures are none."""
    lines = _NEWLINE.split(text)
    examples = example_lines(lines)
    return [
        _entry(line, number, link, number - 1 in examples or is_code(line, link))
        for number, line in enumerate(lines, 1)
        for link in find_links(line)
    ]


def example_lines(lines: Sequence[str]) -> set[int]:
    """Which lines, from 0, stand in fenced code or begin in a comment."""
    found: set[int] = set()
    fence, is_comment = "", False
    for number, line in enumerate(lines):
        marks = _FENCE.match(line)
        is_comment = is_comment or (not fence and line.lstrip().startswith("<!--"))
        if fence or is_comment:
            found.add(number)
        if is_comment:
            is_comment = "-->" not in line
        elif marks and not fence:
            fence = marks[1]
        elif marks and marks[1].startswith(fence) and not line[marks.end() :].strip():
            fence = ""
    return found


def is_code(line: str, link: LinkSpan) -> bool:
    """Whether a link stands between backticks."""
    return line[link.start - 1 : link.start] == "`" == line[link.end : link.end + 1]


def find_links(line: str) -> Iterator[LinkSpan]:
    """The links of one line, in order; pictures are none, nor is what stands within the parentheses of a link."""
    closing = _matching_parentheses(line)
    behind = 0
    for match in _LINK_TEXT.finditer(line):
        end = closing.get(match.end() - 1)
        if end is None or match.start() < behind:
            continue
        behind = end + 1
        if target := _target(line[match.end() : end]):
            yield LinkSpan(match.start(), behind, match.span(1), (match.end(), end), target)


def title_of(line: str, link: LinkSpan) -> str:
    """The text of a link, without what escapes brackets in it."""
    return _unescaped(line[slice(*link.title)])


def hook_of(line: str, link: LinkSpan) -> str:
    """What the line says behind a link, without the dash."""
    return line[link.end : link.end + _HOOK_LENGTH].strip(SEPARATORS)


def spellings(target: str) -> list[str]:
    """The file names that a link may mean, the likeliest first."""
    decoded = unquote(target)
    names = [decoded, target, unquote(decoded), decoded.split("#", maxsplit=1)[0], decoded.replace("\\", "/")]
    return [name for name in dict.fromkeys(name.removeprefix("./") for name in names) if name]


def fit_index(text: str, max_tokens: int | None) -> FittedIndex:
    """Keep as many whole lines from the top as `max_tokens` allows, the note on what is missing included."""
    lines = _NEWLINE.split(text.rstrip())
    total = len(lines) if lines != [""] else 0
    if not total or max_tokens is None or estimate_tokens(text) <= max_tokens:
        return FittedIndex("\n".join(lines), total, total, None)
    left = max_tokens - estimate_tokens(_cut_note(total, total))
    if left < 0:
        return FittedIndex("", total, 0, 1)
    kept = 0
    for line in lines:
        # Rounded up line by line, this is never less than the estimate of the whole.
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            break
        kept += 1
    note = _cut_note(kept + 1, total)
    return FittedIndex("\n".join([*lines[:kept], note]), total, kept, kept + 1)


def _cut_note(cut_line: int, lines: int) -> str:
    return f"(Cut here: lines {cut_line} to {lines} of {lines} did not fit; the file has them.)"


def _entry(line: str, number: int, link: LinkSpan, is_example: bool) -> IndexEntry:
    return IndexEntry(title_of(line, link), link.target, hook_of(line, link), number, is_example)


def _matching_parentheses(line: str) -> dict[int, int]:
    """Where each parenthesis that is closed again is closed, in one pass."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for match in _PARENTHESIS.finditer(line):
        if match[0].startswith("("):
            opened.append(match.start())
        elif match[0] == ")" and opened:
            closing[opened.pop()] = match.start()
    return closing


def _target(inside: str) -> str:
    """The destination of a link without its angle brackets or title."""
    inside = inside.strip()
    if inside.startswith("<") and ">" in inside:
        return _unescaped(inside[1 : inside.index(">")])
    opening = _QUOTES.get(inside[-1:])
    # A title stands behind a blank.
    start = inside.rfind(f" {opening}", 0, len(inside) - 1) if opening else -1
    if start > 0:
        inside = inside[:start]
    return _unescaped(inside)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text).strip()
