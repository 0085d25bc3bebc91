"""The editor that a person has set, run in the terminal of this program, for a memory or any other text."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agent_core.errors import StorageError
from agent_core.paths import one_line
from tui.draft import Draft

if TYPE_CHECKING:
    from textual.app import App

_USUAL = ("nano", "vi", "notepad")


def editor_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The command of the editor, `$VISUAL` before `$EDITOR`; empty when none is set.

    Raises:
        StorageError: it cannot be read.
    """
    command = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    try:
        return shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise StorageError(f"The editor {one_line(command)} cannot be understood: {error}.") from error


async def edit_in_shell(draft: Draft) -> str:
    """Have a person edit a text from the command line; one of the usual editors where none is set.

    Raises:
        StorageError: there is no editor, or it has failed; what was written is kept then, and the error says where.
    """
    command = editor_command()
    if not command and sys.stdin.isatty():
        command = list(filter(None, map(shutil.which, _USUAL)))[:1]
    if not command:
        draft.discard()
        raise StorageError("No editor is known: set VISUAL or EDITOR, or give the text with --from FILE.")
    with _interrupts_left_to_the_editor():
        data, problem = await draft.edit(command, _run)
    if problem and data == draft.data:
        draft.discard()
        raise StorageError(f"{problem} Nothing was saved.")
    if problem:
        raise StorageError(f"{problem} Nothing was saved. {draft.kept}")
    return data.decode("utf-8", "replace")


async def edit_outside(app: App[None], draft: Draft) -> tuple[bytes, str]:
    """Have a person edit a text outside the app, which goes on behind the editor, unseen.

    Returns:
        What the draft holds afterwards, and what went wrong, if anything did.

    Raises:
        StorageError: there is no editor, or the terminal cannot be given away; the draft is as it was.
    """
    command = editor_command()
    if not command:
        raise StorageError("No editor is set: put its command into $VISUAL or $EDITOR, or press e to edit here.")
    return await draft.edit(command, partial(_run_in_place_of, app))


async def _run_in_place_of(app: App[None], command: list[str]) -> str:
    """Run a program in the terminal of the app; what went wrong, in one line."""
    from textual.app import SuspendNotSupported

    try:
        if app.is_headless:
            raise SuspendNotSupported
        with app.suspend():
            # Nothing may be raised in here: the terminal would not be taken back.
            return await _run(command)
    except SuspendNotSupported as error:
        raise StorageError("This terminal cannot be left to another program: press e to edit here.") from error


async def _run(command: list[str]) -> str:
    name = one_line(command[0])
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=sys.__stdout__, stderr=sys.__stderr__)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"The editor {name} cannot be started: {reason}."
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        raise
    return f"The editor {name} ended with {code}." if code else ""


@contextmanager
def _interrupts_left_to_the_editor() -> Iterator[None]:
    """Ctrl+C in an editor is a key like any other there, and must not end this program behind it."""
    # A handler, since a signal that is ignored would be ignored by the editor too.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
