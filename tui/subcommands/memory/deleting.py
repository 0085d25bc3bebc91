"""`memory delete`, also for good."""

from __future__ import annotations

import shlex

from agent_core.errors import StorageError
from memory.agentic.folder import INDEX_NAME
from memory.agentic.memory_disk import MemoryConflict
from tui.for_good import ForGood, deleting_for_good
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
        return await _delete_for_good(call, await call.find_also_gone(name))
    path = await call.book.find(name)
    try:
        written = await call.book.delete(path)
    except MemoryConflict:
        raise
    except StorageError as error:
        # The disk is full, or the file too large for the history, or unreadable.
        way = f"Without a way back it can be deleted: mnemoscope memory delete --for-good {shlex.quote(path)}"
        raise StorageError(f"{error} {way if path != INDEX_NAME else ''}".strip()) from error
    again = f" To have it again: mnemoscope memory undo {written.entries[0].id[:SHORT_ID]}"
    tell(call, written, f"Deleted {written.path}.{again}", "")
    return 0


async def _delete_for_good(call: Call, path: str) -> int:
    async with deleting_for_good(call.book, path, call.settings) as deletion:
        if not _is_wanted(call, deletion):
            raise StorageError("Nothing was deleted.")
        gone = await deletion.carry_out()
    purged, erased = gone.purged, gone.erased
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
            "stored": gone.stored._asdict() if gone.stored else None,
        }
    )
    call.out.line(f"Deleted {path} for good.")
    for place, told in gone.lines:
        call.out.line(f"  {f'{place}:':<9} {told}")
    return 0


def _is_wanted(call: Call, deletion: ForGood) -> bool:
    if call.given["yes"] or not is_attended():
        return True
    told = f", and what {counted(len(deletion.sessions), 'session')} say of it" if deletion.sessions else ""
    stored = f", and what {counted(deletion.stored_sessions, 'session')} in the memory store say of it"
    told += stored if deletion.stored_sessions else ""
    return confirms(f"Delete {deletion.path} for good, with its history{told}? Nothing brings it back.")
