"""Editing a text in the editor that a person has set, outside the app."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from tui.handlers.errors import CommandError

CANNOT_SUSPEND = "This terminal cannot be left to another program: press e to edit here."
NO_EDITOR = "No editor is set: put its command into $VISUAL or $EDITOR, or press e to edit here."


def editor_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The command of the editor, `$VISUAL` before `$EDITOR`.

    Raises:
        CommandError: none is set, or it cannot be read.
    """
    command = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise CommandError(f"$VISUAL or $EDITOR cannot be read ({error}): {command}") from error
    if not words:
        raise CommandError(NO_EDITOR)
    return words


async def edit_outside(app: App[None], name: str, data: bytes) -> tuple[bytes, str]:
    """Have a person edit a copy of a file. The app goes on behind the editor, unseen.

    Args:
        app: gives the terminal away, and takes it back.
        name: what the copy is called.
        data: what the file holds.

    Returns:
        What the copy holds afterwards, and what went wrong, if anything did.

    Raises:
        CommandError: there is no editor, or the terminal cannot be given away.
    """
    command = editor_command()
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="mnemoscope-")
    copy = Path(folder) / name
    try:
        await asyncio.to_thread(copy.write_bytes, data)
        problem = await _run_in_terminal(app, [*command, str(copy)])
        return await asyncio.to_thread(copy.read_bytes), problem
    except OSError as error:
        raise CommandError(f"The copy for the editor cannot be used: {error.strerror or error}.") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _run_in_terminal(app: App[None], command: list[str]) -> str:
    """Run a program in the terminal of the app; what went wrong, in one line."""
    if app.is_headless:
        raise CommandError(CANNOT_SUSPEND)
    try:
        with app.suspend():
            # Nothing may be raised in here: the terminal would not be taken back.
            return await _run(command)
    except SuspendNotSupported as error:
        raise CommandError(CANNOT_SUSPEND) from error


async def _run(command: list[str]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=sys.__stdout__, stderr=sys.__stderr__)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"{command[0]} cannot be run: {reason}."
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        raise
    return f"{command[0]} ended with code {code}." if code else ""
