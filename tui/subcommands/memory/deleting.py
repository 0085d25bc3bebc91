"""`memory delete`, also for good."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_core.errors import StorageError
from memory.agentic.folder_paths import path_in
from tui.session_erasure import Erased, SessionErasure
from tui.subcommands.memory.asking import confirms, is_attended
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.changing import tell
from tui.subcommands.memory.history import SHORT_ID
from tui.subcommands.memory.output import counted


async def delete(call: Call) -> int:
    """Delete a memory, or a link.

    Raises:
        StorageError: it was not deleted.
    """
    name = call.given["name"]
    link = await call.book.find_link(name)
    if link is not None:
        written = await call.book.delete(link)
        call.out.value({"action": "delete", "path": link, "entries": [entry.id for entry in written.entries]})
        call.out.line(f"Deleted the link {link}; what it leads to is untouched.")
        return 0
    if call.given["for_good"]:
        return await _delete_for_good(call, await _found_or_gone(call, name))
    written = await call.book.delete(await call.book.find(name))
    again = f" To have it again: mnemoscope memory undo {written.entries[0].id[:SHORT_ID]}"
    tell(call, written, f"Deleted {written.path}.{again}", "")
    return 0


async def _found_or_gone(call: Call, name: str) -> str:
    try:
        return await call.book.find(name)
    except StorageError:
        gone = await call.book.find_gone(name)
        if gone is None:
            raise
        return gone


async def _delete_for_good(call: Call, path: str) -> int:
    """Sessions first: as long as the memory is there, what they have of it can be found again."""
    trail = await call.book.trail(path)
    root = await call.book.folder.root()
    files = frozenset(path_in(root, name) for name in trail.paths)
    data_dir = call.settings.data_dir
    with SessionErasure(call.settings.sessions_dir, _prompts(data_dir), trail, files) as erasure:
        await asyncio.to_thread(erasure.prepare)
        if not _is_wanted(call, path, len(erasure.sessions)):
            raise StorageError("Nothing was deleted.")
        erased = await asyncio.to_thread(erasure.carry_out)
        purged = await call.book.purge(path)
    call.out.value(
        {
            "action": "delete",
            "path": path,
            "for_good": True,
            "paths": list(purged.paths),
            "entries": purged.entries,
            "contents": purged.contents,
            "sessions": list(erased.sessions),
            "passages": erased.passages,
            "prompts": erased.prompts,
        }
    )
    call.out.line(f"Deleted {path} for good.")
    called = f", also as {', '.join(name for name in purged.paths if name != path)}" if len(purged.paths) > 1 else ""
    call.out.line(
        f"  history:  {counted(purged.entries, 'change')} and {counted(purged.contents, 'content')} of it{called}"
    )
    call.out.line(f"  sessions: {_told(erased)}")
    call.out.line(f"  prompts:  {counted(erased.prompts, 'line')} of those that were typed")
    if call.settings.memory:
        call.out.warn("The store of --memory was not searched: delete its messages in the app.")
    return 0


def _is_wanted(call: Call, path: str, sessions: int) -> bool:
    if call.given["yes"] or not is_attended():
        return True
    told = f", and what {counted(sessions, 'session')} say of it" if sessions else ""
    return confirms(f"Delete {path} for good, with its history{told}? Nothing brings it back.")


def _told(erased: Erased) -> str:
    if not erased.sessions:
        return "none tells of it"
    return f"{counted(erased.passages, 'passage')} of {', '.join(erased.sessions)}"


def _prompts(data_dir: Path | None) -> Path | None:
    return data_dir / "history.jsonl" if data_dir else None
