"""`memory export` and `import`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal

from agent_core.errors import StorageError
from agent_core.paths import one_line
from agent_core.tool.local_files import read_file, replace_file, resolve
from memory.agentic.bundle import LARGEST_SUM, Bundle
from memory.agentic.portability import Imported, collect_folder
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.history import SHORT_ID
from tui.subcommands.memory.output import counted

_FATES = {
    "created": "taken in",
    "replaced": "replaced",
    "same": "here already",
    "kept": "left as it is here: add --overwrite to replace it",
}


async def export(call: Call) -> int:
    """Write all memories into a file; returns 1 when some could not come along.

    Raises:
        StorageError: it cannot be written.
    """
    file = call.given["file"]
    if not call.given["force"]:
        _require_none(file)
    form: Literal["zip", "json"] = "json" if file.lower().endswith(".json") else "zip"
    exported = await call.book.export(form, with_history=call.given["with_history"])
    if file == "-":
        sys.stdout.buffer.write(exported.data)
        sys.stdout.buffer.flush()
    else:
        _write(file, exported.data)
        left_out = dict(exported.left_out)
        call.out.value({"action": "export", "file": file, "form": form, "left_out": left_out})
        call.out.line(f"Wrote {file}: {counted(len(exported.data), 'byte')}, as {form.upper()}.")
    return _complain(call, exported.left_out, "was left out")


async def import_(call: Call) -> int:
    """Take memories in; returns 1 when some were refused.

    Raises:
        StorageError: nothing was taken in.
    """
    source, dry_run = call.given["file"], call.given["dry_run"]
    data, left_out = await _read(source)
    imported = await call.book.import_(
        data, overwrite=call.given["overwrite"], with_history=call.given["with_history"], dry_run=dry_run
    )
    refused = {**left_out, **imported.refused}
    lists = {fate: list(getattr(imported, fate)) for fate in _FATES}
    ids = [entry.id for entry in imported.entries]
    call.out.value({"action": "import", "dry_run": dry_run, **lists, "refused": refused, "entries": ids})
    for fate, text in _FATES.items():
        for path in lists[fate]:
            call.out.line(f"{path}: {text}")
    call.out.line(_sum(imported, dry_run))
    return _complain(call, refused, "was not taken in")


async def _read(source: str) -> tuple[bytes | Bundle, Mapping[str, str]]:
    """What is to be imported, and what of it cannot come along."""
    try:
        return _read_file(source), {}
    except IsADirectoryError:
        exported = await collect_folder(source)
        return exported.bundle, exported.left_out


def _read_file(source: str) -> bytes:
    try:
        data = read_file(resolve(source), LARGEST_SUM + 1, True)
    except IsADirectoryError:
        raise
    except OSError as error:
        raise StorageError(f"{one_line(source)} cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST_SUM:
        raise StorageError(f"{one_line(source)} is larger than {LARGEST_SUM >> 30} GiB: import it in parts.")
    return data


def _require_none(file: str) -> None:
    if file != "-" and os.path.lexists(file):
        raise StorageError(f"{one_line(file)} exists already: add --force to replace it.")


def _write(file: str, data: bytes) -> None:
    try:
        path = resolve(file)
        # It would be made, but most likely the name is mistyped.
        os.stat(os.path.dirname(path))
        replace_file(path, data)
    except OSError as error:
        raise StorageError(f"{one_line(file)} cannot be written: {error.strerror or error}.") from error


def _sum(imported: Imported, dry_run: bool) -> str:
    new = counted(len(imported.created) + len(imported.replaced), "file")
    if dry_run:
        return f"{new} would be taken in. Nothing was written."
    if not imported.entries:
        return "There is nothing new in it."
    return f"Took in {new}. To have it undone: mnemoscope memory undo {imported.entries[0].id[:SHORT_ID]}"


def _complain(call: Call, reasons: Mapping[str, str], what: str) -> int:
    for path, reason in reasons.items():
        call.out.warn(f"{path} {what}: {reason.rstrip('.')}.")
    return 1 if reasons else 0
