"""Adding, rewording and removing lines of MEMORY.md; every other byte of it stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agent_core.text import shorten, well_formed
from memory.agentic.index import SEPARATORS, LinkSpan, example_lines, find_links, hook_of, is_code, title_of
from memory.agentic.link_edit import link_target

TITLE_LENGTH = 80
HOOK_LENGTH = 150
"""Characters: a longer line costs every prompt more than it tells."""

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BULLET = re.compile(r"\s*(?:([-*+])|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_ROW = re.compile(r"\s*\|\s*")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)

IsLink = Callable[[str], bool]
"""Whether a link's target, as `find_links` gives it, is the one that is meant."""


class IndexLine(NamedTuple):
    """What an index says of one memory.

    Args:
        title: the text of the link.
        relative: the file, from the memory folder.
        hook: when to look at it; may be empty.
    """

    title: str
    relative: str
    hook: str = ""

    def __str__(self) -> str:
        title = _escaped(one_line(self.title, TITLE_LENGTH) or self.relative)
        hook = one_line(self.hook, HOOK_LENGTH).replace("](", "] (")
        return f"[{title}]({link_target(self.relative)})" + (f" — {hook}" if hook else "")


class _Line(NamedTuple):
    text: str
    end: str


def add_entries(index: str, entries: Sequence[IndexLine]) -> str:
    """Put lines behind the last one that is an entry, else at the end; written as that one is."""
    lines = list(_lines(index))
    last = max((number for number, line in enumerate(lines) if _entry_link(line.text)), default=None)
    if last is None:
        before, after, bullet = lines, [], "-"
    else:
        end = last + 1 + len(_continuation(lines, last))
        before, after = lines[:end], lines[end:]
        bullet = _bullet_of(lines[last].text)
    line_end = _line_end(index, before)
    start = line_end if before and not before[-1].end else ""
    added = [f"{start}{bullet} {entry}{'' if start else line_end}" for entry in entries]
    return "".join([_joined(before), *added, _joined(after)])


def remove_entry(index: str, is_link: IsLink, *, is_careful: bool = False) -> str:
    """Remove the lines that are entries of a link, with what is indented below them.

    Where a line has another entry too, or is no entry but text, the link gives way to its title.

    Args:
        index: what MEMORY.md says.
        is_link: see `IsLink`.
        is_careful: examples stay as they are, and of a line that goes on as a sentence only the link goes.
    """
    lines = list(_lines(index))
    examples = example_lines([line.text for line in lines]) if is_careful else ()
    kept: list[_Line] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        links = list(find_links(line.text))
        wanted = [link for link in links if is_link(link.target) and not (is_careful and is_code(line.text, link))]
        if not wanted or number in examples:
            kept.append(line)
        elif _is_whole_line(line.text, links, wanted) and not (is_careful and _is_sentence(line.text, links[0])):
            number += len(_continuation(lines, number))
        else:
            kept.append(_Line(_unlinked(line.text, wanted), line.end))
        number += 1
    return _joined(kept)


def reword_entry(index: str, is_link: IsLink, old: IndexLine, new: IndexLine) -> str:
    """Have the entries of a link say what `new` says where they say what `old` says; other words stay."""
    return _joined(_Line(_reworded(line.text, is_link, old, new), line.end) for line in _lines(index))


def one_line(text: str, limit: int) -> str:
    """`text` fit for a line of an index: without line breaks and control characters, `limit` characters at most."""
    shown = "".join(letter if letter.isprintable() else " " for letter in well_formed(text))
    return shorten(" ".join(shown.split()), limit)


def _lines(index: str) -> Iterator[_Line]:
    for match in _LINE.finditer(index):
        if match[0]:
            yield _Line(match[1], match[2])


def _joined(lines: Iterator[_Line] | list[_Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def _entry_link(line: str) -> LinkSpan | None:
    """The link that a line of a list, or of a table, begins with."""
    if "](" not in line:
        return None
    start = _BULLET.match(line) or _ROW.match(line)
    first = next(find_links(line), None)
    return first if start and first and first.start == start.end() else None


def _line_end(index: str, before: list[_Line]) -> str:
    """The line end in use where a line is added."""
    if before and before[-1].end:
        return before[-1].end
    found = _LINE_END.search(index)
    return found[0] if found else "\n"


def _bullet_of(line: str) -> str:
    match = _BULLET.match(line)
    return match[1] or "-" if match else "-"


def _is_whole_line(line: str, links: list[LinkSpan], wanted: list[LinkSpan]) -> bool:
    others = [link for link in links if link not in wanted and not _ELSEWHERE.match(link.target)]
    return _entry_link(line) in wanted and not others


def _is_sentence(line: str, link: LinkSpan) -> bool:
    """Whether what follows a link goes on with it, and is no hook behind a dash or the like."""
    rest = line[link.end :].strip()
    return rest != "" and rest[0] not in SEPARATORS


def _continuation(lines: list[_Line], number: int) -> list[_Line]:
    """The lines below an entry that go on with it: indented further, neither a list nor a link."""
    indent = _indent(lines[number].text)
    found = []
    for line in lines[number + 1 :]:
        text = line.text
        if not text.strip() or _indent(text) <= indent or _BULLET.match(text) or next(find_links(text), None):
            break
        found.append(line)
    return found


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _unlinked(line: str, links: list[LinkSpan]) -> str:
    for link in reversed(links):
        line = line[: link.start] + line[slice(*link.title)] + line[link.end :]
    return line


def _reworded(line: str, is_link: IsLink, old: IndexLine, new: IndexLine) -> str:
    if "](" not in line:
        return line
    for link in reversed(list(find_links(line))):
        if not is_link(link.target):
            continue
        hook = hook_of(line, link)
        if hook and hook == one_line(old.hook, HOOK_LENGTH) and new.hook.strip():
            start = line.index(hook, link.end)
            line = line[:start] + one_line(new.hook, HOOK_LENGTH).replace("](", "] (") + line[start + len(hook) :]
        if title_of(line, link) == one_line(old.title, TITLE_LENGTH) and new.title.strip():
            line = line[: link.title[0]] + _escaped(one_line(new.title, TITLE_LENGTH)) + line[link.title[1] :]
    return line


def _escaped(title: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", title)
