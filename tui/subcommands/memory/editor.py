"""A text in the editor of the person who runs the program."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.errors import StorageError
from agent_core.paths import one_line

_USUAL = ("nano", "vi", "notepad")


class Draft:
    """A text in a private file of its own, until it has been saved where it belongs.

    Everything may raise `StorageError`.

    Args:
        name: what the file is called, so that an editor knows its kind.
        text: what it holds at first.

    Attributes:
        path: the file.
        text: see there.
    """

    def __init__(self, name: str, text: str) -> None:
        self.text = text
        try:
            self.path = Path(tempfile.mkdtemp(prefix="mnemoscope-edit-")) / (os.path.basename(name) or "memory.md")
            self.path.write_bytes(text.encode("utf-8", "replace"))
        except OSError as error:
            raise StorageError(f"A file for the editor cannot be made: {error.strerror or error}.") from error

    def edit(self) -> str:
        """Let the person edit it, and return what it holds then."""
        command = _editor()
        try:
            with _interrupts_left_to_the_editor():
                code = subprocess.run([*command, str(self.path)], check=False).returncode
        except OSError as error:
            self.discard()
            raise StorageError(f"The editor {one_line(command[0])} cannot be started: {error.strerror}.") from error
        text = self._read()
        if code != 0:
            kept = self.kept if text != self.text else ""
            self.discard(unless=bool(kept))
            raise StorageError(f"The editor ended with {code}, so nothing was saved.{kept}")
        return text

    @property
    def kept(self) -> str:
        """What to tell people when it could not be saved."""
        return f" What you wrote is in {self.path}."

    def discard(self, *, unless: bool = False) -> None:
        """Remove the file, unless it is still needed."""
        if not unless:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def _read(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise StorageError(f"What the editor saved cannot be read: {error.strerror} ({self.path}).") from error


def _editor() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if words := _words(os.environ.get(variable, "")):
            return words
    found = next(filter(None, map(shutil.which, _USUAL)), None)
    if found is None or not sys.stdin.isatty():
        raise StorageError("No editor is known: set VISUAL or EDITOR, or give the text with --from FILE.")
    return [found]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise StorageError(f"The editor {one_line(command)} cannot be understood: {error}.") from error


@contextmanager
def _interrupts_left_to_the_editor() -> Iterator[None]:
    """Ctrl+C in an editor is a key like any other there, and must not end this program behind it."""
    # A handler, since a signal that is ignored would be ignored by the editor too.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
