"""The memory index as it was injected, and the memory folder as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_core.event import Event, FileChanged, IndexRead
from memory.agentic.folder import IndexFile, Scan
from memory.agentic.index import fit_index, parse_index
from memory.agentic.links import follow_links, without_link
from memory.agentic.memory_file import MemoryFile
from tui.views.figures import estimated, plural

if TYPE_CHECKING:
    from memory.agentic.middleware import AgenticMemoryMiddleware


class FolderLook(NamedTuple):
    """What a look at the folder gave.

    Args:
        scan: its files.
        index_file: MEMORY.md as it is now; None before the first look.
        fitted_text: the part of it that would be injected now.
        bad_links: links of the index that lead to no file, one line each.
        unlinked: paths of the files that the index does not mention.
    """

    scan: Scan = Scan()
    index_file: IndexFile | None = None
    fitted_text: str = ""
    bad_links: tuple[str, ...] = ()
    unlinked: frozenset[str] = frozenset()


async def look_at(middleware: AgenticMemoryMiddleware, before: FolderLook) -> FolderLook:
    """Look at a memory folder; `before` is what the last look gave. Costs a listing as long as nothing has changed."""
    folder = middleware.folder
    scan = await folder.scan()
    index_file = await folder.read_index()
    if scan.files == before.scan.files and index_file == before.index_file:
        return before._replace(scan=scan)
    links = await follow_links(folder, parse_index(index_file.text), scan.files)
    return FolderLook(
        scan,
        index_file,
        fit_index(index_file.text, middleware.parameters.memory_max_tokens).text,
        tuple(f"line {link.entry.line}: {link.entry.target}: {link.problem}" for link in links if link.problem),
        frozenset(file.path for file in without_link(links, scan.files)),
    )


class IndexView:
    """The fold behind the index pane. The folder is no event: whoever looks at it hands in what was seen.

    Attributes:
        read: the index as it was injected last; None before the first prompt.
        look: what the folder held when it was looked at last.
        origins: who changed a file last, by its path: `user`, `model`, `tool` or `outside`.
    """

    def __init__(self) -> None:
        self.read: IndexRead | None = None
        self.look = FolderLook()
        self.origins: dict[str, str] = {}

    def apply(self, event: Event) -> bool:
        """Take in one event; whether what is shown has changed."""
        match event:
            case IndexRead():
                self.read = event
            case FileChanged(path=path, origin=origin):
                self.origins[path] = origin
            case _:
                return False
        return True

    def take(self, look: FolderLook) -> bool:
        """Take in a look at the folder; whether what is shown has changed."""
        # How many headers had to be opened says how the look was made, not what there is.
        look = look._replace(scan=look.scan._replace(headers_read=0))
        changed = look != self.look
        self.look = look
        return changed

    def badges_of(self, file: MemoryFile) -> tuple[str, ...]:
        """What a person should know about a file, a few words each."""
        return (*file.badges, *(["not in the index"] if file.path in self.look.unlinked else []))

    @property
    def problems(self) -> list[str]:
        """What is wrong with the folder or its index, one line each."""
        return [*self.look.scan.problems, *self.look.bad_links]

    @property
    def injected_line(self) -> str:
        """What of the index went into the prompt, in words."""
        read = self.read
        if read is None:
            return "not read yet: it goes into the prompt with the next reply"
        if not read.found:
            return f"none at {read.path}"
        if not read.lines:
            return f"empty: {read.path}"
        size = f"{estimated(read.tokens)} tokens"
        if read.cut_line is None:
            return f"loaded all {plural(read.lines, 'line')}, {size}"
        return f"loaded {read.injected_lines} of {read.lines} lines, {size}, cut at line {read.cut_line}"

    @property
    def drift_line(self) -> str:
        """How the file differs from what was injected; empty when it does not."""
        index = self.look.index_file
        if index is None:
            return ""
        if index.badge:
            return f"{index.path}: {index.badge}"
        if self.read is None or (index.found == self.read.found and self.look.fitted_text == self.read.text):
            return ""
        return "changed since: the next prompt has it as it is now" if index.found else "deleted since"
