"""`memory history` and `undo`."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_core.errors import StorageError
from memory.agentic.folder import INDEX_NAME
from memory.agentic.journal_entry import JournalEntry
from tui.session_messages import said_in
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.output import counted, origin_text, padded, widest
from tui.views.moments import minute

SHORT_ID = 8
"""So much of an entry's id is shown; what is typed may be shorter still."""
_WIDEST_PATH = 40


async def show_history(call: Call) -> int:
    """Print the changes of one memory, or of all, the newest first."""
    entries = (await call.book.history(await _path(call)))[: call.given["limit"]]
    said = said_in(call.settings.sessions_dir, {(entry.session_id, entry.msg_id) for entry in entries})
    width = widest([_called(entry) for entry in entries], _WIDEST_PATH)
    for entry in entries:
        diff = await call.book.diff(entry) if call.given["diff"] else ""
        message = said.get((entry.session_id, entry.msg_id), "")
        call.out.value(_facts(entry, message) | ({"diff": diff} if call.given["diff"] else {}))
        call.out.line(_row(entry, width))
        if entry.session_id:
            call.out.line(f"          in session {entry.session_id}{f', after “{message}”' if message else ''}")
        call.out.text("".join(f"    {line}\n" for line in diff.splitlines()))
    if not entries:
        call.out.line("Nothing has been changed yet.")
    if damaged := await call.book.journal.damaged():
        call.out.warn(f"Lines of the history that cannot be read and are left out: {damaged}.")
    return 0


async def undo(call: Call) -> int:
    """Take back the change that was named, or the newest one.

    Raises:
        StorageError: there is none, or it cannot be taken back.
    """
    given = call.given["entry"]
    entry = await (call.book.journal.entry(given) if given else call.book.newest())
    if entry is None:
        raise StorageError("There is no change that could be undone.")
    undone = await call.book.undo(entry.id)
    ids = [one.id for one in undone.entries]
    call.out.value(
        {"action": "undo", "path": entry.path, "undone": entry.id, "entries": ids, "left": list(undone.left)}
    )
    files = sum(one.path != INDEX_NAME for one in undone.entries)
    whole = counted(files, "file") if entry.action == "import" and files > 1 else _called(entry)
    what = f"{entry.action} of {whole} {origin_text(entry.origin)}, {minute(entry.at)}"
    again = f" To take that back: mnemoscope memory undo {ids[0][:SHORT_ID]}" if ids else ""
    call.out.line(f"Undone: {what}.{again}")
    for path in undone.left:
        call.out.warn(f"{path} has changed since, and was left as it is.")
    return 0


async def _path(call: Call) -> str | None:
    """The memory that was named, which may be gone; None when none was."""
    name = call.given["name"]
    return None if name is None else await call.find_also_gone(name)


def _row(entry: JournalEntry, width: int) -> str:
    row = f"{entry.id[:SHORT_ID]}  {minute(entry.at)}  {origin_text(entry.origin):12}  {entry.action:7}  "
    size = f"{entry.before_size:,} → {entry.after_size:,} bytes"
    related = {"undoes": entry.undoes, "with": entry.group}
    notes = ", ".join(f"{how} {id_[:SHORT_ID]}" for how, id_ in related.items() if id_)
    return f"{row}{padded(_called(entry), width)}  {size}{f'  ({notes})' if notes else ''}"


def _called(entry: JournalEntry) -> str:
    return f"{entry.from_path} → {entry.path}" if entry.from_path else entry.path


def _facts(entry: JournalEntry, message: str) -> dict[str, Any]:
    """An entry as JSON, all of its fields included."""
    facts: dict[str, Any] = msgspec.structs.asdict(entry)
    for inner in ("is_pending", "is_void"):
        del facts[inner]
    return {**facts, "message": message}
