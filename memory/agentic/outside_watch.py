"""`OutsideWatch`: notices what other programs have done to a memory folder, and records it."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from memory.agentic.blobs import LARGEST
from memory.agentic.folder import INDEX_NAME, MemoryFolder, Scan
from memory.agentic.journal import Journal, known_contents, told
from memory.agentic.journal_entry import Action, Author, JournalEntry, digest_of, new_entry
from memory.agentic.memory_file import MemoryFile
from memory.agentic.seen import Seen, load_seen, save_seen, seen_version

_OUTSIDE = Author(origin="outside")
_READ_AT_ONCE = 16
_KEPT_AT_FIRST = 64 * 2**20
"""Bytes of files that were there before the history began and whose contents are kept, so that they can be undone."""


class _File(NamedTuple):
    path: str
    version: str


class OutsideWatch:
    """Compares the listing of a memory folder with what was seen of it last.

    A file is read only when its version has changed, or when the history says that it holds something else. What is
    there at the very first look is taken as it is. Files of more than 16 MiB are not watched.

    Args:
        folder: the memory folder.
        journal: its history, which what other programs did goes into.
    """

    def __init__(self, folder: MemoryFolder, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal
        self._seen: dict[str, Seen] | None = None
        self._seen_version = ""
        self._listed: tuple[MemoryFile, ...] | None = None
        self._topics: dict[str, _File] = {}

    async def look(self, scan: Scan) -> None:
        """Record what has changed since the last look.

        Raises:
            StorageError: the history cannot be read or written; the next look tries again.
        """
        present = await self._present(scan)
        known = known_contents(await self._journal.entries())
        seen = await self._load()
        if seen is None:
            if present:
                await self._begin(present)
            return
        changed = {path: file for path, file in present.items() if _is_news(seen.get(path), file, path, known)}
        gone = [] if scan.problems else await self._gone(present, seen, known)
        if changed or gone:
            async with self._journal.changing():
                await self._take(changed, gone, seen)

    async def _present(self, scan: Scan) -> dict[str, _File]:
        """The files that are watched, by their paths from the folder."""
        root = await self._folder.root()
        if self._listed != scan.files:
            files = [file for file in scan.files if file.version and file.size <= LARGEST]
            self._topics = {posixpath.relpath(file.path, root): _File(file.path, file.version) for file in files}
            self._listed = scan.files
        path = await self._folder.locate(INDEX_NAME)
        info = await self._folder.backend.stat(path) if path else None
        if path is None or info is None or info.is_dir or info.size > LARGEST:
            return self._topics
        return {INDEX_NAME: _File(path, info.version), **self._topics}

    async def _load(self) -> dict[str, Seen] | None:
        """What was seen, by this program or by another since."""
        backend = self._folder.backend
        with told("read"):
            place = await self._journal.place()
            version = await seen_version(backend, place)
            if version != self._seen_version:
                self._seen, self._seen_version = await load_seen(backend, place), version
        return self._seen

    async def _begin(self, present: Mapping[str, _File]) -> None:
        """Take the files as they are, keeping what they hold as long as that is not too much."""
        async with self._journal.changing():
            # From now on this process knows what it has seen, even if nothing can be written down.
            seen = self._seen = {}
            kept, size = [], 0
            async for path, data in self._read(present):
                seen[path] = Seen(present[path].version, digest_of(data))
                if size + len(data) <= _KEPT_AT_FIRST:
                    size += len(data)
                    kept.append(data)
            await self._journal.keep(kept)
            await self._save(seen)

    async def _gone(
        self, present: Mapping[str, _File], seen: Mapping[str, Seen], known: Mapping[str, str | None]
    ) -> list[str]:
        """Files that were there and are so no more; none when the whole folder is gone, which may come back."""
        missing = {path for path in seen if path not in present}
        missing |= {path for path, digest in known.items() if digest and path not in present and _is_listed(path)}
        root = await self._folder.root()
        backend = self._folder.backend
        if not missing or await backend.stat(root) is None:
            return []
        return [path for path in sorted(missing) if await backend.stat(posixpath.join(root, path)) is None]

    async def _take(self, changed: Mapping[str, _File], gone: Iterable[str], seen: dict[str, Seen]) -> None:
        """Find out what has become of files, and write it down. Nobody else changes anything meanwhile."""
        entries = await self._journal.settled()
        known = known_contents(entries)
        lost = {path: digest for path in gone if (digest := _expected(path, seen, known)) is not None}
        news: list[JournalEntry] = []
        kept: list[bytes] = []
        looked_at: dict[str, Seen] = {}
        async for path, data in self._read(changed):
            file, digest = changed[path], digest_of(data)
            expected = _expected(path, seen, known)
            if digest != expected:
                kept.append(data)
                if expected is None and (old := next((name for name in lost if lost[name] == digest), None)):
                    del lost[old]
                    news.append(self._entry("rename", path, data, digest, from_path=old))
                elif not await self._explains(path, file, data, entries, seen):
                    before = await self._journal.content(expected)
                    entry = self._entry("edit" if expected else "create", path, data, expected)
                    news.append(replace(entry, before_size=len(before or b"")))
            looked_at[path] = Seen(file.version, digest)
        news += [self._entry("delete", path, None, digest) for path, digest in lost.items()]
        await self._journal.record(news, kept)
        # Not before it is written down: else nobody would look again.
        seen.update(looked_at)
        for path in gone:
            seen.pop(path, None)
        await self._save(seen)

    async def _explains(
        self, path: str, file: _File, data: bytes, entries: Iterable[JournalEntry], seen: Mapping[str, Seen]
    ) -> bool:
        """Whether a program that was killed in the middle of a change explains what a file holds."""
        if (pending := await self._journal.pending(path)) is not None:
            await self._journal.settle(pending.id, data)
            return True
        last = next((entry for entry in reversed(list(entries)) if path in (entry.path, entry.from_path)), None)
        if last is not None and seen.get(path) == (file.version, digest_of(data)):
            # Untouched since before that change, which was written down and then never made.
            await self._journal.void([last.id])
            return True
        return False

    def _entry(
        self, action: Action, path: str, data: bytes | None, before: str | None, from_path: str = ""
    ) -> JournalEntry:
        entry = new_entry(path, action, _OUTSIDE, self._journal.clock(), after=data, from_path=from_path)
        return replace(entry, before=before)

    async def _read(self, files: Mapping[str, _File]) -> AsyncIterator[tuple[str, bytes]]:
        """What files hold, a few at a time; those that cannot be read are left for the next look."""
        paths = list(files)
        for start in range(0, len(paths), _READ_AT_ONCE):
            batch = paths[start : start + _READ_AT_ONCE]
            contents = await asyncio.gather(*(self._content(files[path].path) for path in batch))
            for path, data in zip(batch, contents, strict=True):
                if data is not None:
                    yield path, data

    async def _content(self, path: str) -> bytes | None:
        try:
            data = await self._folder.backend.read_file(path, limit=LARGEST + 1, follow=False)
        except OSError:
            return None
        return data if len(data) <= LARGEST else None

    async def _save(self, seen: Mapping[str, Seen]) -> None:
        backend = self._folder.backend
        with told("written"):
            place = await self._journal.place()
            await save_seen(backend, place, seen)
            self._seen_version = await seen_version(backend, place)


def _is_news(seen: Seen | None, file: _File, path: str, known: Mapping[str, str | None]) -> bool:
    return seen is None or seen.version != file.version or known.get(path, seen.digest) != seen.digest


def _expected(path: str, seen: Mapping[str, Seen], known: Mapping[str, str | None]) -> str | None:
    """What a file held by all that is known, as a digest."""
    if path in known:
        return known[path]
    return seen[path].digest if path in seen else None


def _is_listed(path: str) -> bool:
    """Whether a scan would list a file of that path."""
    names = path.split("/")
    is_topic = names[-1][-3:].lower() == ".md" and names[-1] != INDEX_NAME
    return path == INDEX_NAME or (is_topic and not any(name.startswith(".") for name in names))
