"""`purge`: deleting a memory for good, with all that the history knows of it. This cannot be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_core.errors import StorageError
from agent_core.paths import one_line
from memory.agentic.folder import INDEX_NAME
from memory.agentic.index_edit import remove_entry
from memory.agentic.journal import Journal, digests_of, history_of, told
from memory.agentic.journal_entry import USER, JournalEntry, digest_of, new_entry
from memory.agentic.link_edit import Names
from memory.agentic.memory_disk import Step
from memory.agentic.memory_file import decode
from memory.agentic.seen import Seen, load_seen, save_seen
from memory.agentic.text_edit import edited
from memory.agentic.writer import MemoryWriter


class Purged(NamedTuple):
    """What is gone, and where else it may still be told of.

    Args:
        paths: the names that the file has had, from the memory folder.
        entries: how many changes the history has lost.
        contents: how many contents of files it has lost.
        session_ids: the sessions that the file was changed in, which may still hold what it said.
        reply_ids: the replies.
        msg_ids: the messages that the replies answered.
        call_ids: the tool calls that wrote it.
    """

    paths: tuple[str, ...]
    entries: int
    contents: int
    session_ids: tuple[str, ...] = ()
    reply_ids: tuple[str, ...] = ()
    msg_ids: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()


class Trail(NamedTuple):
    """What is known of a memory, and where it may be told of.

    Args:
        paths: the names that the file has had, from the memory folder.
        texts: all that it has held, as far as that is kept.
        session_ids: see `Purged`, also for the others.
    """

    paths: tuple[str, ...]
    texts: tuple[str, ...]
    session_ids: tuple[str, ...] = ()
    reply_ids: tuple[str, ...] = ()
    msg_ids: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()


async def trail(path: str, writer: MemoryWriter, journal: Journal) -> Trail:
    """What would be gone and forgotten if a memory, which may be gone already, were deleted for good.

    Args:
        path: from the memory folder, or whole.
        writer: reads it.
        journal: its history.

    Raises:
        StorageError: something cannot be read.
    """
    relative = await _purgeable(path, writer)
    gone = history_of(relative, await journal.settled())
    digests = sorted({digest for entry in gone for digest in entry.digests})
    contents = [await writer.disk.beginning(relative), *[await journal.content(digest) for digest in digests]]
    texts = dict.fromkeys(decode(data, is_whole=True).text for data in contents if data)
    return Trail(_paths(relative, gone), tuple(filter(None, texts)), *_told_in(gone))


async def purge(path: str, writer: MemoryWriter, journal: Journal) -> Purged:
    """Delete a memory, which may be gone already, its changes in the history and what they kept of it.

    Its lines leave the index and, with the contents that had them, the history of the index. The file goes first, read
    or not: that needs no room on a full disk, and makes some for the rest.

    Args:
        path: from the memory folder, or whole.
        writer: changes the memory.
        journal: its history.

    Raises:
        StorageError: something cannot be deleted; deleting once more goes on where it stopped.
    """
    relative = await _purgeable(path, writer)
    async with journal.changing():
        entries = await journal.settled()
        gone = history_of(relative, entries)
        paths = set(_paths(relative, gone))
        # An earlier name of it may be that of another memory by now.
        own = paths - {path for path in paths - {relative} if await writer.disk.is_there(path)}
        await writer.disk.remove(relative)
        try:
            contents = await _forget(gone, paths, own, writer, journal)
        except StorageError as error:
            told = f"{one_line(relative)} is deleted, and not yet all that is kept of it: delete it for good once more."
            raise StorageError(f"{told} {error}") from error
    return Purged(tuple(sorted(paths)), len(gone), contents, *_told_in(gone))


async def make_room(path: str, writer: MemoryWriter, journal: Journal) -> bool:
    """Delete the file alone if the history has what it holds, so that all else can still be found; whether it did.

    For a disk that is too full to delete it for good in order.

    Raises:
        StorageError: it cannot be deleted.
    """
    relative = await _purgeable(path, writer)
    async with journal.changing():
        data = await writer.disk.read(relative)
        if data is None or await journal.content(digest_of(data)) is None:
            return False
        await writer.disk.remove(relative)
    return True


async def _purgeable(path: str, writer: MemoryWriter) -> str:
    """The path from the memory folder, of what may be deleted for good."""
    if (link := await writer.disk.link(path)) is not None:
        raise StorageError(f"{one_line(link)} is a link, of which no history is kept: delete it as usual.")
    relative = await writer.disk.relative(path)
    if relative == INDEX_NAME:
        raise StorageError(f"{INDEX_NAME} is the index and cannot be deleted for good.")
    return relative


def _paths(relative: str, entries: Iterable[JournalEntry]) -> tuple[str, ...]:
    """The names that a file has had."""
    names = {name for entry in entries for name in (entry.path, entry.from_path) if name}
    return tuple(sorted({relative, *names}))


def _told_in(entries: Sequence[JournalEntry]) -> tuple[tuple[str, ...], ...]:
    """The sessions, replies, messages and calls that changes were made in."""
    fields = ("session_id", "reply_id", "msg_id", "call_id")
    return tuple(_ids(getattr(entry, field) for entry in entries) for field in fields)


def _without(paths: Iterable[str]) -> Callable[[str], str]:
    """What takes the lines of a memory out of an index."""
    names = Names(paths)
    return lambda index: remove_entry(index, lambda target: names.find(target) is not None)


async def _forget(
    gone: Sequence[JournalEntry],
    paths: Collection[str],
    own: Collection[str],
    writer: MemoryWriter,
    journal: Journal,
) -> int:
    """Delete what is kept of a file that is gone, contents first, since they take most room; how many they were.

    Args:
        gone: its changes.
        paths: the names that it has had.
        own: those of them that no other memory has now.
        writer: changes the index.
        journal: the history.
    """
    left = [entry for entry in await journal.settled() if entry not in gone]
    telling = await _contents_with(_without(paths), left, journal)
    kept = digests_of(left) - telling
    forgotten, seen = digests_of(gone) - kept, await journal.seen()
    # An earlier name may not have been looked at since the memory had it.
    stale = {path for path, one in seen.items() if path in paths and one.digest in forgotten}
    # The next look finds it gone for no news then, and the index as the history has it.
    seen = {path: one for path, one in seen.items() if path not in stale.union(own, [INDEX_NAME])}
    contents = await journal.keep_contents(kept.union(one.digest for one in seen.values()))
    telling |= await _leave_index(_without(own), writer, journal)
    await _save_seen(journal, seen)
    left = [entry for entry in await journal.settled() if entry not in gone]
    return contents + await journal.keep_only(left, without=telling)


async def _leave_index(without: Callable[[str], str], writer: MemoryWriter, journal: Journal) -> set[str]:
    """Take the lines of a file out of the index, which the history hears of; the digest of what told of it."""
    before = await writer.disk.read(INDEX_NAME)
    after = edited(before, without) if before is not None else None
    if before is None or after is None or before == after:
        return set()
    entry = new_entry(INDEX_NAME, "delete", USER, journal.clock(), before=before, after=after)
    await journal.record([entry], [after])
    await writer.disk.carry_out([Step(INDEX_NAME, before, after)])
    return {digest_of(before)}


async def _save_seen(journal: Journal, seen: Mapping[str, Seen]) -> None:
    place = await journal.place()
    with told("written"):
        if await load_seen(journal.backend, place) is not None:
            await save_seen(journal.backend, place, seen)


async def _contents_with(without: Callable[[str], str], entries: Iterable[JournalEntry], journal: Journal) -> set[str]:
    """The digests of what the index held while it told of the memory."""
    digests = {digest for entry in entries if entry.path == INDEX_NAME for digest in entry.digests}
    found = set()
    for digest in digests:
        content = await journal.content(digest)
        if content is not None and edited(content, without) != content:
            found.add(digest)
    return found


def _ids(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({one for one in ids if one}))
