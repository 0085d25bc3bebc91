"""What a person has typed and not sent: kept beside the session, to be there again when that is gone on with.

The first line of the file is a list of marks in JSON, the rest is the text as it is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from agent_core.text import well_formed
from agent_core.tool.local_files import NO_FOLLOW, read_file
from tui.session import SessionFile

SUFFIX = ".unsent"


class Unsent(NamedTuple):
    """A text that has not been sent, and the marks that it is to get."""

    text: str = ""
    marks: tuple[str, ...] = ()


NOTHING = Unsent()


class UnsentFile:
    """The file, open to its owner only, as long as there is something to keep. Nothing here ever fails.

    Args:
        session: whose it is; None, or one that is not kept itself, keeps nothing.

    Attributes:
        kept: what the file holds.
    """

    def __init__(self, session: SessionFile | None = None) -> None:
        self._session = session
        self._path = unsent_path(session.path) if session is not None and session.path is not None else None
        self.kept = read_unsent(self._path) if self._path is not None else NOTHING

    @property
    def told(self) -> str:
        """What to tell people at the end; empty when nothing is kept."""
        if self._session is None or not self.kept.text:
            return ""
        return f"What you typed and did not send is kept; --resume {self._session.id} brings it back."

    def keep(self, unsent: Unsent) -> None:
        """Keep this in place of what was kept before. The session is kept with it, even if nothing was said in it."""
        unsent = unsent if unsent.text.strip() else NOTHING
        if self._path is None or self._session is None or unsent == self.kept:
            return
        try:
            if unsent.text:
                self._session.keep_file(True)
                _replace(self._path, _encoded(unsent))
            else:
                self._path.unlink(missing_ok=True)
                self._session.keep_file(False)
        except OSError:
            # The session beside it cannot be written either, and says so.
            return
        self.kept = unsent


def unsent_path(session_path: Path) -> Path:
    """The file that belongs to the session with this file."""
    return session_path.with_suffix(SUFFIX)


def read_unsent(path: Path) -> Unsent:
    """What such a file holds; nothing when there is none. Where the marks are damaged, all of it is text."""
    try:
        whole = read_file(str(path), None, follow=False).decode("utf-8", "replace")
    except OSError:
        return NOTHING
    first, _, text = whole.partition("\n")
    try:
        marks = json.loads(first)
    except (ValueError, RecursionError):
        marks = None
    if not isinstance(marks, list):
        return Unsent(whole)
    return Unsent(text, tuple(mark for mark in marks if mark and isinstance(mark, str)))


def _encoded(unsent: Unsent) -> bytes:
    return f"{json.dumps(unsent.marks)}\n{well_formed(unsent.text)}".encode()


def _replace(path: Path, data: bytes) -> None:
    """Replace it as a whole. The disk is not waited for: a person is typing."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600), "wb") as file:
        file.write(data)
    os.replace(temporary, path)
