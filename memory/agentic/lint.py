"""`lint`: what is not in order in a memory folder. It only looks; see `mending.mend` for what can be put right."""

from __future__ import annotations

import posixpath
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from memory.agentic.duplicates import is_said_in
from memory.agentic.folder import INDEX_NAME, IndexFile, MemoryFolder, Scan
from memory.agentic.folder_walk import walk
from memory.agentic.frontmatter import parse_header
from memory.agentic.index import find_links, fit_index, parse_index, spellings
from memory.agentic.link_edit import Names
from memory.agentic.links import REFUSED, Link, follow_links, without_link
from memory.agentic.memory_file import (
    BINARY,
    DISABLED,
    NOT_UTF8,
    OUTSIDE,
    PINNED,
    SAYS_THE_SAME,
    TOO_LARGE,
    UNREADABLE,
    UTF_16,
    MemoryFile,
)
from memory.agentic.secret_shapes import find_secrets

LONGEST_LINE = 250
"""Characters of a line of the index."""
Kind = Literal[
    "broken link", "leads outside", "orphan", "duplicate", "header", "long line", "index cut", "too large",
    "nested index", "encoding", "unreadable", "secret",
]  # fmt: skip
_ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:(?!\\)|#)", re.IGNORECASE)
_BADGE_KINDS: dict[str, Kind] = {
    BINARY: "encoding",
    UTF_16: "encoding",
    NOT_UTF8: "encoding",
    OUTSIDE: "leads outside",
    TOO_LARGE: "too large",
    UNREADABLE: "unreadable",
}


class Problem(Struct, frozen=True):
    """Something that is not in order.

    Args:
        kind: of what sort it is.
        path: where, from the memory folder.
        line: the line there, from 1; 0 when it is about the whole.
        text: what it is, in words for people.
        fixable: whether `mend` can put it right without anything being lost.
        target: of a link, where it leads, as written.
    """

    kind: Kind
    path: str
    line: int
    text: str
    fixable: bool = False
    target: str = ""


async def lint(folder: MemoryFolder, *, max_tokens: int | None = None, instructions: str = "") -> list[Problem]:
    """All problems of a folder, by file and line. Reads every memory; never fails.

    Args:
        folder: the memory folder.
        max_tokens: of the index in the prompt; what does not fit is a problem. None: everything fits.
        instructions: what the agent is told anyway, which a memory need not repeat.
    """
    scan = await folder.scan()
    index = await folder.read_index()
    links = await follow_links(folder, parse_index(index.text), scan.files)
    names = Names(file.relative for file in scan.files)
    problems = [
        *_index_problems(index, max_tokens),
        *[problem async for problem in _link_problems(folder, links)],
        *_file_problems(scan, links),
        *[problem async for problem in _content_problems(folder, scan.files, names, instructions)],
        *[problem async for problem in _nested_indexes(folder)],
    ]
    return sorted(problems, key=lambda problem: (problem.path != INDEX_NAME, problem.path, problem.line))


def _index_problems(index: IndexFile, max_tokens: int | None) -> Iterator[Problem]:
    if index.badge:
        yield Problem("encoding", INDEX_NAME, 0, index.badge)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", index.text), 1):
        if len(line) > LONGEST_LINE:
            yield Problem("long line", INDEX_NAME, number, f"{len(line)} characters: every prompt pays for them")
    fitted = fit_index(index.text, max_tokens)
    if fitted.cut_line is not None:
        text = f"lines {fitted.cut_line} to {fitted.lines} do not fit into the prompt ({max_tokens} tokens)"
        yield Problem("index cut", INDEX_NAME, fitted.cut_line, text)


async def _link_problems(folder: MemoryFolder, links: Sequence[Link]) -> AsyncIterator[Problem]:
    seen: dict[str, int] = {}
    broken: list[tuple[int, str]] = []
    for entry, file, trouble in links:
        if file is not None and not trouble:
            if file.path in seen:
                text = f"{file.relative} has a line already, line {seen[file.path]}"
                yield Problem("duplicate", INDEX_NAME, entry.line, text, target=entry.target)
            seen.setdefault(file.path, entry.line)
        elif entry.is_example:
            continue
        elif trouble == REFUSED:
            yield Problem("leads outside", INDEX_NAME, entry.line, f"{entry.target} is not in the memory folder")
        elif not _ELSEWHERE.match(entry.target):
            broken.append((entry.line, entry.target))
    async for problem in _broken(folder, INDEX_NAME, broken, fixable=True):
        yield problem


async def _broken(
    folder: MemoryFolder, path: str, links: Sequence[tuple[int, str]], *, fixable: bool
) -> AsyncIterator[Problem]:
    """What is wrong with links of a file that lead to no memory; they are given by line and target."""
    base = posixpath.dirname(path)
    names = {target: [posixpath.join(base, name) for name in spellings(target)] for _, target in links}
    located = await folder.locate_all(name for some in names.values() for name in some)
    for line, target in links:
        text = await _found_instead(folder, [located[name] for name in names[target]])
        if text:
            yield Problem("broken link", path, line, f"{target} {text}")
        else:
            yield Problem("broken link", path, line, f"{target} does not exist", fixable, target)


async def _found_instead(folder: MemoryFolder, paths: Iterable[str | None]) -> str:
    """What is at the places that a link may lead to; empty when there is nothing."""
    for path in filter(None, paths):
        try:
            if await folder.backend.stat(path) is not None:
                return "is there, but it is no memory"
        except OSError as error:
            return f"cannot be reached: {error.strerror or error}"
    return ""


def _file_problems(scan: Scan, links: Sequence[Link]) -> Iterator[Problem]:
    for text in scan.problems:
        yield Problem("unreadable", "", 0, text)
    for file in scan.files:
        for badge in file.badges:
            if badge.startswith(SAYS_THE_SAME):
                yield Problem("duplicate", file.relative, 0, badge)
            elif badge not in (PINNED, DISABLED):
                yield Problem(_BADGE_KINDS.get(badge, "header"), file.relative, 0, badge)
    for file in without_link(links, scan.files):
        if file.is_readable:
            yield Problem("orphan", file.relative, 0, f"no line of {INDEX_NAME} leads to it", fixable=True)


async def _content_problems(
    folder: MemoryFolder, files: Sequence[MemoryFile], names: Names, instructions: str
) -> AsyncIterator[Problem]:
    for file in files:
        if not file.is_text:
            continue
        try:
            text = (await folder.read(file.path)).text
        except OSError:
            continue
        if is_said_in(parse_header(text).body, instructions):
            yield Problem("duplicate", file.relative, 0, "the instructions of the agent say this already")
        for secret in find_secrets(text):
            yield Problem("secret", file.relative, secret.line, f"what looks like {secret.kind}")
        base = posixpath.dirname(file.relative)
        broken: list[tuple[int, str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            for link in find_links(line) if "](" in line else ():
                is_memory = link.target.split("#", maxsplit=1)[0][-3:].lower() == ".md"
                if is_memory and not _ELSEWHERE.match(link.target) and names.find(link.target, base) is None:
                    broken.append((number, link.target))
        if broken:
            async for problem in _broken(folder, file.relative, broken, fixable=False):
                yield problem


async def _nested_indexes(folder: MemoryFolder) -> AsyncIterator[Problem]:
    try:
        async for relative, info in walk(folder):
            if info.name == INDEX_NAME and relative != INDEX_NAME:
                yield Problem("nested index", relative, 0, "only the one at the top is read: rename it to keep it")
    except OSError:
        # The scan has said so already.
        return
