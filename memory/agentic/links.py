"""Which files the links of the index lead to, and which files no link leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory.agentic.folder import MemoryFolder
from memory.agentic.index import IndexEntry, spellings
from memory.agentic.memory_file import OUTSIDE, MemoryFile
from memory.agentic.same_names import ByName

MISSING = "no such memory"
REFUSED = "leads outside the memory folder"


class Link(NamedTuple):
    """A link of the index with the file that it leads to, or with the problem that it has."""

    entry: IndexEntry
    file: MemoryFile | None
    problem: str = ""


async def follow_links(folder: MemoryFolder, entries: Iterable[IndexEntry], files: Sequence[MemoryFile]) -> list[Link]:
    """Find the file of each link, as leniently as is safe; every link comes back.

    Args:
        folder: where the index is.
        entries: see `parse_index`.
        files: what a scan of the folder listed.
    """
    # In a thread, for there may be many; hardly any need the disk to be looked at.
    links = await asyncio.to_thread(_by_name, list(entries), files)
    left = [link.entry.target for link in links if link.file is None]
    if not left:
        return links
    located = await folder.locate_all(name for target in left for name in spellings(target))
    by_path = {file.path: file for file in files}
    return [link if link.file else _by_path(link.entry, located, by_path) for link in links]


def without_link(links: Iterable[Link], files: Iterable[MemoryFile]) -> list[MemoryFile]:
    """The files that the index does not mention."""
    linked = {link.file.path for link in links if link.file}
    return [file for file in files if file.path not in linked]


def _by_name(entries: Iterable[IndexEntry], files: Iterable[MemoryFile]) -> list[Link]:
    """The links with their files, where these go by the name that is written; the others are left open."""
    by_name = ByName({file.relative: file for file in files})
    links = []
    for entry in entries:
        file = next(filter(None, map(by_name.get, spellings(entry.target))), None)
        links.append(Link(entry, file, REFUSED if file is not None and OUTSIDE in file.badges else ""))
    return links


def _by_path(entry: IndexEntry, located: Mapping[str, str | None], by_path: Mapping[str, MemoryFile]) -> Link:
    """A link by another name of a listed file: through a link, or with dots in it."""
    paths = [located[name] for name in spellings(entry.target)]
    for path in paths:
        if path is not None and (file := by_path.get(path)):
            return Link(entry, file)
    problem = MISSING if all(paths) else REFUSED
    return Link(entry, None, "" if entry.is_example else problem)
