"""A look at the memory folder, for the index pane: the folder itself is no event."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agent_core.errors import StorageError
from agent_core.event import Origin
from memory.agentic.folder import IndexFile, Scan
from memory.agentic.folder_paths import path_in
from memory.agentic.index import FittedIndex, IndexEntry, fit_index, parse_index
from memory.agentic.links import Link, follow_links, without_link
from memory.agentic.memory_file import MemoryFile
from memory.agentic.provenance import origins_of
from tui.views.index_lines import IndexLines, lines_by_file, standing

if TYPE_CHECKING:
    from memory.agentic.journal_entry import JournalEntry
    from memory.agentic.middleware import AgenticMemoryMiddleware

_NOTHING: Mapping[str, IndexLines] = {}
_NO_SIGNS: Mapping[str, int] = {}
_NO_ORIGINS: Mapping[str, Origin] = {}


class FolderLook(NamedTuple):
    """What a look at the folder gave.

    Args:
        scan: its files.
        index_file: MEMORY.md as it is now; None before the first look.
        fitted: the part of it that would be injected now.
        bad_links: links of the index that lead to no file, one line each.
        unlinked: paths of the files that the index does not mention.
        lines: where the index leads to files, by their paths.
        origins: where what the files say came from, by their paths; those that are missing are from outside.
        entries: the history that the origins were taken from.
        links: the links of the index, as they are written.
        signs: how many files stand how in the next prompt, by their signs; see `index_lines.MEANINGS`.
    """

    scan: Scan = Scan()
    index_file: IndexFile | None = None
    fitted: FittedIndex = FittedIndex("", 0, 0, None)
    bad_links: tuple[str, ...] = ()
    unlinked: frozenset[str] = frozenset()
    lines: Mapping[str, IndexLines] = _NOTHING
    origins: Mapping[str, Origin] = _NO_ORIGINS
    entries: Sequence[JournalEntry] = ()
    links: Sequence[IndexEntry] = ()
    signs: Mapping[str, int] = _NO_SIGNS

    def sign_of(self, file: MemoryFile) -> str:
        """How a file stands in the next prompt."""
        return standing(file, self.lines.get(file.path), self.fitted.cut_line)


async def look_at(middleware: AgenticMemoryMiddleware, before: FolderLook) -> FolderLook:
    """Look at a memory folder; `before` is what the last look gave. Costs a listing as long as nothing has changed."""
    folder = middleware.folder
    scan = await folder.scan()
    index_file = await folder.read_index()
    look = (await _with_origins(middleware, before))._replace(scan=scan)
    if scan.files == before.scan.files and index_file == before.index_file:
        return look
    if index_file != before.index_file:
        look = look._replace(links=await asyncio.to_thread(parse_index, index_file.text))
    links = await follow_links(folder, look.links, scan.files)
    return await asyncio.to_thread(_with_index, look, index_file, links, middleware.parameters.memory_max_tokens)


def _with_index(look: FolderLook, index_file: IndexFile, links: Sequence[Link], max_tokens: int | None) -> FolderLook:
    look = look._replace(
        index_file=index_file,
        fitted=fit_index(index_file.text, max_tokens),
        bad_links=tuple(
            f"line {link.entry.line}: {link.entry.target}: {link.problem}" for link in links if link.problem
        ),
        unlinked=frozenset(file.path for file in without_link(links, look.scan.files)),
        lines=lines_by_file(index_file.text, links),
    )
    return look._replace(signs=Counter(map(look.sign_of, look.scan.files)))


async def _with_origins(middleware: AgenticMemoryMiddleware, look: FolderLook) -> FolderLook:
    """Take over what the history says, where it says something else than before."""
    try:
        entries = await middleware.journal.settled()
    except StorageError:
        # The middleware tells of it, once; what is known stays.
        return look
    if entries == look.entries:
        return look
    root = await middleware.folder.root()
    origins = await asyncio.to_thread(origins_of, entries)
    return look._replace(entries=entries, origins={path_in(root, name): origin for name, origin in origins.items()})
