"""Taking a memory folder along in one file, and taking in one that somebody has brought."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from agent_core.errors import StorageError
from agent_core.event import Origin
from agent_core.paths import one_line
from agent_core.text import well_formed
from agent_core.tool.in_thread import in_thread
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.blobs import LARGEST
from memory.agentic.bundle import LARGEST_SUM, Bundle, BundledFile
from memory.agentic.folder import INDEX_NAME, MemoryFolder
from memory.agentic.folder_paths import path_in
from memory.agentic.folder_walk import walk
from memory.agentic.index import find_links, parse_index
from memory.agentic.index_edit import IndexLine, add_entries
from memory.agentic.index_keeper import index_line, require_text
from memory.agentic.journal import Journal
from memory.agentic.journal_entry import Author, JournalEntry
from memory.agentic.link_edit import Names
from memory.agentic.memory_file import DISABLED, decode, header_of, is_set
from memory.agentic.names import UnfitName, checked_path
from memory.agentic.provenance import origins_of
from memory.agentic.text_edit import edited
from memory.agentic.transaction import Transaction
from memory.agentic.writer import MemoryWriter


class Exported(NamedTuple):
    """A folder made ready to be taken along, and the files that could not come, with the reasons."""

    bundle: Bundle
    left_out: Mapping[str, str]


class Imported(NamedTuple):
    """What an import came to, by paths from the memory folder.

    Args:
        created: files that were not there.
        replaced: files that held something else, and were to be overwritten.
        same: files that held just that already.
        kept: files that hold something else, and were left as they are.
        refused: files that cannot be taken in, with the reasons.
        entries: of the journal; undoing the first one undoes the import.
    """

    created: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    kept: tuple[str, ...]
    refused: Mapping[str, str]
    entries: tuple[JournalEntry, ...]


async def collect_folder(path: str | os.PathLike[str]) -> Exported:
    """The memories of a folder on this machine, as this program, AgentScope, Claude Code or a person keeps them.

    Args:
        path: the folder with MEMORY.md and the memories, or the workdir whose subfolder `Memory` or `memory` it is.

    Raises:
        StorageError: there is none, it holds no memories or far too much, or cannot be read.
    """
    folders = [MemoryFolder(path, name, LocalBackend()) for name in ("", "Memory", "memory")]
    for folder in folders:
        if (await folder.read_index()).found:
            return await collect(folder)
    for folder in reversed(folders):
        if (await folder.scan()).files:
            return await collect(folder)
    raise StorageError(f"There are no memories in {one_line(os.fspath(path))}: it holds no Markdown files.")


async def collect(folder: MemoryFolder, journal: Journal | None = None, *, with_history: bool = False) -> Exported:
    """All files of a folder; by its journal, where one is given, those that came from tools' results, and its history.

    Raises:
        StorageError: the folder or the journal cannot be read.
    """
    entries = await journal.settled() if journal else []
    origins = origins_of(entries)
    files: dict[str, BundledFile] = {}
    left_out: dict[str, str] = {}
    size = 0
    try:
        async for relative, info in walk(folder):
            size += info.size if info.size <= LARGEST else 0
            if size > LARGEST_SUM:
                raise StorageError(f"The folder holds more than {LARGEST_SUM >> 30} GiB: take it along in parts.")
            if info.size > LARGEST:
                left_out[relative] = f"it is larger than {LARGEST // 2**20} MiB"
            elif well_formed(relative) != relative:
                left_out[well_formed(relative)] = "its name is not UTF-8"
            else:
                try:
                    data = await folder.backend.read_file(info.path, follow=False)
                    files[relative] = BundledFile(data, info.modified, origins.get(relative) == "tool")
                except OSError as error:
                    left_out[relative] = str(error.strerror or error)
    except OSError as error:
        raise StorageError(f"The memory folder cannot be read: {error.strerror or error}.") from error
    if journal is None or not with_history:
        return Exported(Bundle(files), left_out)
    digests = {digest for entry in entries for digest in entry.digests}
    contents = {digest: content for digest in digests if (content := await journal.content(digest)) is not None}
    return Exported(Bundle(files, tuple(entries), contents), left_out)


async def take_in(
    bundle: Bundle, writer: MemoryWriter, journal: Journal, *, overwrite: bool = False, with_history: bool = False
) -> Imported:
    """Put the files of a bundle into a memory folder; those of the same name stay unless they are to be overwritten.

    MEMORY.md is never overwritten: what it says of the new files is added to it. The files count as from outside, or
    from tools' results where the bundle says so. Its history is taken at its word when `with_history` is set, which is
    for bundles of one's own.

    Raises:
        StorageError: something cannot be written; all is as it was.
    """
    async with writer.transaction("import", Author(origin="outside")) as change:
        plan = await _plan(bundle, writer, overwrite=overwrite)
        for path, (present, file) in plan.written.items():
            change.change(path, present, file.data, source=_source([file]))
        written = {path: file for path, (_, file) in plan.written.items()}
        await _extend_index(bundle, written, change, writer)
        if with_history:
            await _record_history(bundle, set(written), journal)
        entries = await change.carry_out()
        await _set_times(written, journal.folder)
    return plan.imported(entries)


async def preview(bundle: Bundle, writer: MemoryWriter, *, overwrite: bool = False) -> Imported:
    """What `take_in` would come to; nothing is written.

    Raises:
        StorageError: the memory folder cannot be read.
    """
    return (await _plan(bundle, writer, overwrite=overwrite)).imported(())


class _Plan(NamedTuple):
    """What becomes of the files of a bundle: which go where, and which are to be written over what."""

    fates: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]
    written: Mapping[str, tuple[bytes | None, BundledFile]]

    def imported(self, entries: tuple[JournalEntry, ...]) -> Imported:
        lists = {fate: tuple(paths) for fate, paths in self.fates.items()}
        return Imported(**lists, refused=self.refused, entries=entries)


async def _plan(bundle: Bundle, writer: MemoryWriter, *, overwrite: bool) -> _Plan:
    fates: dict[str, list[str]] = {"created": [], "replaced": [], "same": [], "kept": []}
    refused = dict(bundle.left_out)
    written: dict[str, tuple[bytes | None, BundledFile]] = {}
    for name, file in sorted(bundle.files.items()):
        if name == INDEX_NAME:
            continue
        try:
            path, present = await _place(name, file, writer)
            _require_alone(path, written)
        except (UnfitName, StorageError) as error:
            refused[name] = str(error)
            continue
        fate = _fate(present, file, overwrite)
        fates[fate].append(path)
        if fate in ("created", "replaced"):
            written[path] = present, file
    return _Plan(fates, refused, written)


async def _place(name: str, file: BundledFile, writer: MemoryWriter) -> tuple[str, bytes | None]:
    """Where a file goes, and what is there."""
    path = checked_path(name)
    if len(file.data) > LARGEST:
        raise StorageError(f"It is larger than {LARGEST // 2**20} MiB.")
    if await writer.disk.relative(path) != path:
        raise StorageError(f"{one_line(path)} leads elsewhere through a link.")
    return path, await writer.disk.read(path)


def _require_alone(path: str, others: Collection[str]) -> None:
    """Raise `UnfitName` where one path cannot be beside others of the same bundle."""
    if path in others:
        raise UnfitName("another file in it has the same name")
    above = posixpath.dirname(path)
    while above:
        if above in others:
            raise UnfitName(f"{one_line(above)} in it is a file and no folder")
        above = posixpath.dirname(above)


def _fate(present: bytes | None, file: BundledFile, overwrite: bool) -> str:
    if present is None:
        return "created"
    if present == file.data:
        return "same"
    return "replaced" if overwrite else "kept"


async def _extend_index(
    bundle: Bundle, written: Mapping[str, BundledFile], change: Transaction, writer: MemoryWriter
) -> None:
    """Have the index lead to what is new, in the words of the bundle's index where it has some."""
    before = await writer.disk.read(INDEX_NAME)
    bundled = bundle.files.get(INDEX_NAME)
    if before is None and bundled is not None:
        change.change(INDEX_NAME, None, bundled.data, source=_source([bundled, *written.values()]))
        return
    names = await writer.index.names(*written)
    told = dict(_told_lines(bundled, Names(written))) if bundled else {}
    new = [path for path in written if path[-3:].lower() == ".md" and posixpath.basename(path) != INDEX_NAME]
    new = [path for path in new if not is_set(header_of(written[path].data), DISABLED)]
    if not new:
        return
    require_text(before)

    def extended(index: str) -> str:
        linked = {names.find(link.target) for line in index.splitlines() for link in find_links(line)}
        missing = [path for path in new if path not in linked]
        return add_entries(index, [told.get(path) or index_line(path, written[path].data) for path in missing])

    after = edited(before or b"", extended)
    if after:
        source = _source([*([bundled] if bundled else []), *written.values()])
        change.change(INDEX_NAME, before, after, source=source)


def _source(files: Iterable[BundledFile]) -> Origin | None:
    """Where lines of some files come from, when not simply from outside."""
    return "tool" if any(file.is_from_tool for file in files) else None


def _told_lines(index: BundledFile, names: Names) -> Iterator[tuple[str, IndexLine]]:
    for entry in parse_index(decode(index.data, is_whole=True).text):
        path = names.find(entry.target)
        if path is not None:
            yield path, IndexLine(entry.title, path, entry.hook)


async def _record_history(bundle: Bundle, written: set[str], journal: Journal) -> None:
    known = {entry.id for entry in await journal.settled()}
    entries = [entry for entry in bundle.entries if entry.path in written and entry.id not in known]
    contents = [bundle.contents[digest] for entry in entries for digest in entry.digests if digest in bundle.contents]
    await journal.record(entries, contents)


async def _set_times(written: Mapping[str, BundledFile], folder: MemoryFolder) -> None:
    """Let files be as old as they are: a model is told the age of what it recalls."""
    if not isinstance(folder.backend, LocalBackend):
        return
    root = await folder.root()
    for path, file in written.items():
        if file.modified > 0:
            # A bundle, or the disk that it is from, may tell a time that this one does not take.
            with suppress(OSError, OverflowError):
                await in_thread(os.utime, path_in(root, path), (file.modified,) * 2, follow_symlinks=False)
