"""`MemoryBook`: all that a person can do with a memory folder; the command line and the panes call only this."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent_core.errors import StorageError
from agent_core.event import Origin
from agent_core.paths import one_line
from agent_core.tool.backend import BackendBase
from agent_core.tool.diff import unified_diff
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.blobs import LARGEST
from memory.agentic.bundle import Bundle, read_bundle, to_json, to_zip
from memory.agentic.concerns import find_concerns
from memory.agentic.duplicates import twins
from memory.agentic.finding import find, paths_of
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import relative_to
from memory.agentic.index import parse_index
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import USER, Author, JournalEntry
from memory.agentic.links import follow_links, without_link
from memory.agentic.lint import Problem, lint
from memory.agentic.memory_file import MemoryFile, decode, header_of
from memory.agentic.mending import mend
from memory.agentic.names import name_for
from memory.agentic.outside_watch import OutsideWatch
from memory.agentic.parameters import Parameters
from memory.agentic.portability import Imported, collect, preview, take_in
from memory.agentic.provenance import origin_of, origins_of
from memory.agentic.purge import Purged, Trail, make_room, purge, trail
from memory.agentic.undo import Undone, newest_change, undo
from memory.agentic.writer import MemoryWriter, Written

if TYPE_CHECKING:
    from memory.agentic.local_search import FoundFile, LocalSearch

PurgeListener = Callable[[Purged], Awaitable[None]]


class Card(NamedTuple):
    """A memory in a list: what its header tells, where it came from, whether the index leads to it."""

    file: MemoryFile
    origin: Origin
    is_linked: bool


class Shown(NamedTuple):
    """A memory opened.

    Args:
        path: from the memory folder.
        text: what it says; of a binary file nothing.
        badges: what a person should know about it.
        origin: where it came from.
        data: its bytes: what `seen` takes when it is changed.
    """

    path: str
    text: str
    badges: tuple[str, ...]
    origin: Origin
    data: bytes


class ExportFile(NamedTuple):
    """An export, and the files that could not come along, with the reasons."""

    data: bytes
    left_out: Mapping[str, str]


class MemoryBook:
    """A memory folder in the hands of a person.

    Memories are named by their paths from the folder, or by what `find` takes. Everything may raise `StorageError`,
    with one line for people; where a file is not as it was seen it is a `MemoryConflict`, with the difference.

    Args:
        folder: the memory folder, which need not exist.
        journal: its history.
        get_local_search: gives what searches it, when it is needed; without it one is made.

    Attributes:
        author: who makes the changes.
        purge_listeners: told of what is deleted for good, so that they forget it too.
    """

    def __init__(
        self,
        folder: MemoryFolder,
        journal: Journal | None = None,
        get_local_search: Callable[[], LocalSearch] | None = None,
    ) -> None:
        self.folder = folder
        self.journal = journal or Journal(folder)
        self.writer = MemoryWriter(folder, self.journal)
        self.author: Author = USER
        self.purge_listeners: list[PurgeListener] = []
        self._get_local_search = get_local_search or self._make_local_search
        self._local_search: LocalSearch | None = None
        self._watch: OutsideWatch | None = None

    @classmethod
    def open(
        cls,
        workdir: str | os.PathLike[str],
        memory_dir: str = "Memory",
        backend: BackendBase | None = None,
        history_dir: str | os.PathLike[str] | None = None,
    ) -> MemoryBook:
        """The book of the memory folder `memory_dir` in `workdir`; see `AgenticMemoryMiddleware` for the rest."""
        folder = MemoryFolder(workdir, memory_dir, backend or LocalBackend())
        return cls(folder, Journal(folder, kept_in=os.fspath(history_dir) if history_dir is not None else None))

    # --- Looking

    async def look(self) -> None:
        """Have the history tell what other programs have done since somebody looked last.

        Within an agent's middleware this is done with every scan.
        """
        if self._watch is None:
            self._watch = OutsideWatch(self.folder, self.journal)
        await self._watch.look(await self.folder.scan())

    async def memories(self) -> list[Card]:
        """All memories, the newest first, disabled ones too."""
        files = (await self.folder.scan()).files
        origins = origins_of(await self.journal.entries())
        root = await self.folder.root()
        index = await self.folder.read_index()
        links = await follow_links(self.folder, parse_index(index.text), files)
        linked = {file.path for file in files} - {file.path for file in without_link(links, files)}
        return [Card(file, origins.get(relative_to(root, file.path), "outside"), file.path in linked) for file in files]

    async def find(self, name: str) -> str:
        """The path of the memory that somebody means.

        That is its path, with or without `.md`, the name in its header, or a beginning of either that no other has.
        """
        return await find(name, self.folder, self.writer.disk)

    async def find_link(self, name: str) -> str | None:
        """The path of the link of this name, with or without `.md`; None when it is the name of no link."""
        links = [await self.writer.disk.link(path) for path in paths_of(name)]
        return next(filter(None, links), None)

    async def find_gone(self, name: str) -> str | None:
        """The path of a memory that is no more and that the history tells of; None when it does not."""
        paths = {path for entry in await self.journal.entries() for path in (entry.path, entry.from_path)}
        return next((path for path in paths_of(name) if path in paths), None)

    async def show(self, name: str) -> Shown:
        """One memory, or the index; of one that is too large to be changed, the beginning."""
        relative = await self.find(name)
        located = await self.folder.locate(relative)
        info = await self.folder.backend.stat(located) if located is not None else None
        if located is not None and info is not None and info.size > LARGEST:
            return await self._show_beginning(relative, located)
        data = await self.writer.disk.read(relative)
        if data is None:
            raise StorageError(f"There is no memory {one_line(relative)}.")
        text, badges = decode(data, is_whole=True)
        return Shown(relative, text, badges, await self.origin_of(relative), data)

    async def search(self, question: str, limit: int = 10, patience: float = 0.0) -> list[FoundFile]:
        """The memories that fit a question best, disabled ones too; no model is asked. See `LocalSearch.rank`."""
        files = [file for file in (await self.folder.scan()).files if file.is_text]
        return await self._get_local_search().rank(question, files, limit, patience)

    async def origin_of(self, path: str) -> Origin:
        """Where what a memory says came from."""
        return origin_of(await self.writer.disk.relative(path), await self.journal.entries())

    async def twins(self, path: str) -> list[str]:
        """Other memories that say the same as this one."""
        relative = await self.writer.disk.relative(path)
        files = (await self.folder.scan()).files
        file = next((file for file in files if file.relative == relative), None)
        return twins(file, files) if file else []

    async def concerns(self, path: str | None, text: str) -> list[str]:
        """What a person should be asked about before a memory is made to hold `text`; None for a new one."""
        before = await self.writer.disk.read(await self.writer.disk.relative(path)) if path is not None else None
        return await asyncio.to_thread(find_concerns, before, text.encode("utf-8", "replace"))

    # --- Changing

    async def create(self, text: str, path: str | None = None) -> Written:
        """Make a memory, named after the name in its header when no path is given; see `compose` for its text."""
        _require_text(text)
        data = text.encode("utf-8", "replace")
        if path is None:
            taken = [file.relative for file in (await self.folder.scan()).files]
            path = name_for(header_of(data).fields.get("name", ""), taken)
        return await self.writer.create(path, data, by=self.author)

    async def edit(self, path: str, text: str, seen: bytes | None = None) -> Written:
        """Have a memory, or the index, hold `text`."""
        _require_text(text)
        return await self.writer.edit(path, text, seen=seen, by=self.author)

    async def set_fields(self, path: str, fields: Mapping[str, str | None], seen: bytes | None = None) -> Written:
        """Set fields of its header, or with None remove them; no other byte of it changes."""
        return await self.writer.set_fields(path, fields, seen=seen, by=self.author)

    async def rename(self, path: str, new: str) -> Written:
        """Call it otherwise; all links to it are kept."""
        return await self.writer.rename(path, new, by=self.author)

    async def renamed_with(self, path: str, new: str) -> tuple[str, ...]:
        """The files that `rename` would change, the renamed one first; nothing is changed yet."""
        return await self.writer.renamed_with(path, new)

    async def delete(self, path: str, seen: bytes | None = None) -> Written:
        """Delete it; `undo` brings it back. Of a link, the link goes, not what it leads to."""
        return await self.writer.delete(path, seen=seen, by=self.author)

    async def pin(self, path: str, pinned: bool = True) -> Written:
        """Have it recalled before all others, or no more."""
        return await self.writer.pin(path, pinned, by=self.author)

    async def disable(self, path: str, disabled: bool = True) -> Written:
        """Take it out of use without deleting it, or back into use."""
        return await self.writer.disable(path, disabled, by=self.author)

    # --- History

    async def history(self, path: str | None = None) -> list[JournalEntry]:
        """The changes of one memory, or of all, newest first."""
        if path is None:
            return (await self.journal.entries())[::-1]
        return await self.journal.history(await self.writer.disk.relative(path))

    async def diff(self, entry: JournalEntry) -> str:
        """What a change did, as a unified diff; empty when the contents are not kept any more."""
        before, after = await self.journal.content(entry.before), await self.journal.content(entry.after)
        if (before is None) != (entry.before is None) or (after is None) != (entry.after is None):
            return ""
        return await asyncio.to_thread(unified_diff, before, after, entry.path)

    async def newest(self, path: str | None = None) -> JournalEntry | None:
        """The newest change of one memory, or of all, that is no undoing and has not been undone; None without one."""
        return newest_change(await self.history(path))

    async def undo(self, entry_id: str) -> Undone:
        """Take a change back, by its id or the beginning of it; refused when the file has changed since."""
        return await undo(entry_id, self.writer, self.journal, by=self.author)

    async def trail(self, path: str) -> Trail:
        """What `purge` would make forgotten, for those who hold copies of it."""
        return await trail(path, self.writer, self.journal)

    async def make_room(self, path: str) -> bool:
        """Delete the file alone, before `purge`, on a disk that is too full; see `purge.make_room`."""
        return await make_room(path, self.writer, self.journal)

    async def purge(self, path: str) -> Purged:
        """Delete it for good: the file, its history and what was kept of it. This cannot be undone."""
        purged = await purge(path, self.writer, self.journal)
        for listener in tuple(self.purge_listeners):
            await listener(purged)
        return purged

    # --- Order, and taking it along

    async def lint(self, max_tokens: int | None = None, instructions: str = "") -> list[Problem]:
        """What is not in order; see `lint.lint`."""
        return await lint(self.folder, max_tokens=max_tokens, instructions=instructions)

    async def mend(self, problems: Sequence[Problem]) -> tuple[JournalEntry, ...]:
        """Put right what can be put right without anything being lost."""
        return await mend(problems, self.folder, self.writer, by=self.author)

    async def export(self, form: Literal["zip", "json"] = "zip", *, with_history: bool = False) -> ExportFile:
        """The whole folder in one file, with its history or without."""
        exported = await collect(self.folder, self.journal, with_history=with_history)
        pack = to_zip if form == "zip" else to_json
        return ExportFile(await asyncio.to_thread(pack, exported.bundle), exported.left_out)

    async def import_(
        self, data: bytes | Bundle, *, overwrite: bool = False, with_history: bool = False, dry_run: bool = False
    ) -> Imported:
        """Take in an export, a zipped folder, or what `collect_folder` gives; see `portability.take_in`.

        With `dry_run` nothing is written, and the result says what would be.
        """
        bundle = await asyncio.to_thread(read_bundle, data) if isinstance(data, bytes) else data
        if dry_run:
            return await preview(bundle, self.writer, overwrite=overwrite)
        return await take_in(bundle, self.writer, self.journal, overwrite=overwrite, with_history=with_history)

    async def _show_beginning(self, relative: str, located: str) -> Shown:
        try:
            text, badges = await self.folder.read(located)
        except OSError as error:
            raise StorageError(f"{one_line(relative)} cannot be read: {error.strerror or error}.") from error
        return Shown(relative, text, badges, await self.origin_of(relative), text.encode())

    def _make_local_search(self) -> LocalSearch:
        if self._local_search is None:
            # Imported late: it costs more than all the rest.
            from memory.agentic.local_search import LocalSearch

            self._local_search = LocalSearch.of(self.folder, Parameters())
        return self._local_search


def _require_text(text: str) -> None:
    """Refuse what nobody could look at afterwards, edit again or undo."""
    if "\0" in text:
        raise StorageError("The text holds NUL characters, as only binary files do: nothing was written.")
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise StorageError(f"The text is larger than {LARGEST // 2**20} MiB: nothing was written.")
