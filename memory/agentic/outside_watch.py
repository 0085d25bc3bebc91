"""`OutsideWatch`: notices what other programs have done to a memory folder, and records it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from memory.agentic.folder import MemoryFolder, Scan
from memory.agentic.journal import Journal, known_contents, told
from memory.agentic.journal_entry import Action, Author, JournalEntry, digest_of, new_entry
from memory.agentic.seen import Seen, load_seen, save_seen, seen_version
from memory.agentic.watched_files import WatchedFile, WatchedFiles, is_listed

_OUTSIDE = Author(origin="outside")
_KEPT_AT_FIRST = 64 * 2**20
"""Bytes of files that were there before the history began and whose contents are kept, so that they can be undone."""


class _Unlike(NamedTuple):
    """A file that does not hold what it was thought to hold."""

    file: WatchedFile
    data: bytes
    digest: str


class OutsideWatch:
    """Compares the listing of a memory folder with what was seen of it last.

    A file is read only when its version has changed, or when the history says that it holds something else. What is
    there at the very first look is taken as it is.

    Args:
        folder: the memory folder.
        journal: its history, which what other programs did goes into.
    """

    def __init__(self, folder: MemoryFolder, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal
        self._files = WatchedFiles(folder)
        self._seen: dict[str, Seen] | None = None
        self._seen_version = ""
        self._unchanged: object = None

    async def look(self, scan: Scan) -> None:
        """Record what has changed since the last look.

        Raises:
            StorageError: the history cannot be read or written; the next look tries again.
        """
        present = await self._files.present(scan)
        known = known_contents(await self._journal.entries())
        seen = await self._load()
        state = (id(present), known, self._seen_version)
        if state == self._unchanged:
            return
        if seen is None:
            if present:
                await self._begin(present)
            return
        changed, missing = await asyncio.to_thread(_compare, present, dict(seen), known)
        gone = [] if scan.problems else await self._files.missing(sorted(missing))
        if changed or gone:
            await self._take(changed, gone, seen)
        else:
            self._unchanged = state

    async def _load(self) -> dict[str, Seen] | None:
        """What was seen, by this program or by another since."""
        backend = self._journal.backend
        with told("read"):
            place = await self._journal.place()
            version = await seen_version(backend, place)
            if version != self._seen_version:
                self._seen, self._seen_version = await load_seen(backend, place), version
        return self._seen

    async def _begin(self, present: Mapping[str, WatchedFile]) -> None:
        """Take the files as they are, keeping what they hold as long as that is not too much."""
        seen: dict[str, Seen] = {}
        kept: list[bytes] = []
        size = 0
        async for path, data in self._files.read(present):
            seen[path] = Seen(present[path].version, digest_of(data))
            if size + len(data) <= _KEPT_AT_FIRST:
                size += len(data)
                kept.append(data)
        # From now on this program knows what it has seen, even if it cannot be written down.
        self._seen = seen
        async with self._journal.changing():
            # Where another one has begun meanwhile, its look was the first: what was read here may be news to it.
            if await self._load() is seen:
                await self._journal.keep(kept)
                await self._save(seen)

    async def _take(self, changed: Mapping[str, WatchedFile], gone: Iterable[str], seen: dict[str, Seen]) -> None:
        """Find out what has become of files, and write it down."""
        known = known_contents(await self._journal.settled())
        looked_at: dict[str, Seen] = {}
        unlike: dict[str, _Unlike] = {}
        # Read before others are kept away, since there may be many.
        async for path, data in self._files.read(changed):
            digest = digest_of(data)
            looked_at[path] = Seen(changed[path].version, digest)
            if digest != _expected(path, seen, known):
                unlike[path] = _Unlike(changed[path], data, digest)
        async with self._journal.changing():
            gone = await self._files.missing(gone)
            # One that changed again meanwhile, or cannot be reached just now, is for the next look.
            for path in [path for path, one in unlike.items() if not await self._files.is_still(one.file)]:
                del unlike[path], looked_at[path]
            await self._record(unlike, gone, seen)
            # Not before it is written down: else nobody would look again.
            seen.update(looked_at)
            for path in gone:
                seen.pop(path, None)
            await self._save(seen)

    async def _record(self, unlike: Mapping[str, _Unlike], gone: Iterable[str], seen: Mapping[str, Seen]) -> None:
        """Write down what nobody else accounts for, with all others kept away."""
        entries = await self._journal.settled()
        known = known_contents(entries)
        lost = {path: digest for path in gone if (digest := _expected(path, seen, known)) is not None}
        news: list[JournalEntry] = []
        for path, (file, data, digest) in unlike.items():
            expected = _expected(path, seen, known)
            if digest == expected:
                continue
            old = next((name for name in lost if lost[name] == digest), None) if expected is None else None
            if old is not None:
                del lost[old]
                news.append(self._entry("rename", path, data, digest, from_path=old))
            elif not await self._explains(path, file, data, entries, seen):
                news.append(self._entry("edit" if expected else "create", path, data, expected))
        news += [self._entry("delete", path, None, digest) for path, digest in lost.items()]
        sizes = {entry.after: entry.after_size for entry in entries}
        news = [replace(entry, before_size=await self._size(entry.before, sizes)) for entry in news]
        await self._journal.record(news, [one.data for one in unlike.values()])

    async def _explains(
        self, path: str, file: WatchedFile, data: bytes, entries: list[JournalEntry], seen: Mapping[str, Seen]
    ) -> bool:
        """Whether a program that was killed in the middle of a change explains what a file holds."""
        if (pending := await self._journal.pending(path)) is not None:
            await self._journal.settle(pending.id, data)
            return True
        last = next((entry for entry in reversed(entries) if path in (entry.path, entry.from_path)), None)
        if last is not None and seen.get(path) == Seen(file.version, digest_of(data)):
            # Untouched since before that change, which was written down and then never made.
            await self._journal.void([last.id])
            return True
        return False

    def _entry(
        self, action: Action, path: str, data: bytes | None, before: str | None, from_path: str = ""
    ) -> JournalEntry:
        entry = new_entry(path, action, _OUTSIDE, self._journal.clock(), after=data, from_path=from_path)
        return replace(entry, before=before)

    async def _size(self, digest: str | None, sizes: Mapping[str | None, int]) -> int:
        """How many bytes a content had; 0 where neither the changes nor what is kept tell."""
        if digest in sizes:
            return sizes[digest]
        return len(await self._journal.content(digest) or b"")

    async def _save(self, seen: Mapping[str, Seen]) -> None:
        backend = self._journal.backend
        with told("written"):
            place = await self._journal.place()
            await save_seen(backend, place, seen)
            self._seen_version = await seen_version(backend, place)


def _compare(
    present: Mapping[str, WatchedFile], seen: Mapping[str, Seen], known: Mapping[str, str | None]
) -> tuple[dict[str, WatchedFile], set[str]]:
    """The files that may hold something else than was seen, and the paths where there may be nothing any more."""
    changed = {path: file for path, file in present.items() if _is_news(seen.get(path), file, known.get(path, ""))}
    missing = {path for path in seen if path not in present}
    missing |= {path for path, digest in known.items() if digest and path not in present and is_listed(path)}
    return changed, missing


def _is_news(seen: Seen | None, file: WatchedFile, known: str | None) -> bool:
    """Whether a file is of a version not seen yet, or holds something else by the history; `known` may be empty."""
    return seen is None or seen.version != file.version or (known != "" and known != seen.digest)


def _expected(path: str, seen: Mapping[str, Seen], known: Mapping[str, str | None]) -> str | None:
    """What a file held by all that is known, as a digest."""
    if path in known:
        return known[path]
    return seen[path].digest if path in seen else None
