"""`SessionFile`: the record of one conversation on disk, one event a line, written as it happens.

The first line is a `SessionHeader`, every other an event as `agent_core.event.encode_event` writes it. A line goes to
the system in one write, in append mode, so a program that is killed loses nothing of what had happened. A power cut may
cost the last seconds, since the disk is waited for (fsync) only when the file is closed. What cannot be written, for
want of space or of permission, is kept and tried again.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from agent_core.change import Added, Inserted, Snapshot
from agent_core.errors import StorageError
from agent_core.event import Event, MemoryChanged, ReplyStarted, encode_event
from agent_core.tool.file_lock import try_lock
from agent_core.tool.local_files import NO_FOLLOW

FORMAT = 1
"""Of the session files that this program writes; it refuses larger numbers."""
RETRY_SECONDS = 2.0
"""Between two tries to write to a disk that has refused."""
GOES_ON = " It goes on, and saving is tried again."
"""Told with what is wrong, as long as the session lasts."""


class SessionHeader(Struct, frozen=True, kw_only=True):
    """The first line of a session file: the format's number, the session's id, its workdir, when it began."""

    mnemoscope_session: int = FORMAT
    id: str
    workdir: str = ""
    created: float = 0.0


class SessionFile:
    """Appends events to the file of one session.

    A new session gets its file with its first message or reply, or when something is to be kept beside it: a program
    that is opened and closed leaves nothing.
    The file is locked as long as it is open.

    Args:
        header: says what session it is.
        path: where it is kept; None when there is no such place, and nothing is written then.
        handle: of a file that is there already, from `open_locked`.
        lead: bytes that must stand before the next line.
        problem: why the session is not being saved, if that is known already.

    Attributes:
        problem: why what has happened is not all on disk, in one line for people; empty when it is.
        on_problem: called with the new value whenever `problem` changes.
    """

    def __init__(
        self, header: SessionHeader, path: Path | None, handle: int | None = None, lead: bytes = b"", problem: str = ""
    ) -> None:
        self.header = header
        self.path = path
        self.problem = problem
        self.on_problem: Callable[[str], None] = lambda problem: None
        self._handle = handle
        self._lead = lead if handle is not None else header_line(header)
        self._unsaved = bytearray()
        self._has_begun = handle is not None
        self._is_wanted = False
        self._is_closed = False
        self._next_try = 0.0

    @property
    def id(self) -> str:
        """What the session is resumed by."""
        return self.header.id

    def append(self, event: Event) -> None:
        """Write one event. Never fails: what went wrong is told by `problem`."""
        if self.path is None or self._is_closed:
            return
        self._unsaved += self._lead + encode_event(event) + b"\n"
        self._lead = b""
        self._has_begun = self._has_begun or _begins(event)
        if (self._has_begun or self._is_wanted) and time.monotonic() >= self._next_try:
            self._save()

    def keep_file(self, is_wanted: bool) -> None:
        """Have a file even before anything happens in the session, or none again when nothing has by its end."""
        self._is_wanted = is_wanted
        if is_wanted and self.path is not None and self._handle is None and not self._is_closed:
            self._save()

    def close(self) -> None:
        """Write what is left, wait for the disk, and let go of the file. What is appended later is not kept."""
        if (self._has_begun or self._is_wanted) and not self._is_closed:
            self._save()
        self._is_closed = True
        if self._handle is not None:
            try:
                os.fsync(self._handle)
                if self.path is not None and not (self._has_begun or self._is_wanted):
                    self.path.unlink(missing_ok=True)
            except OSError as error:
                self._set_problem(error)
            os.close(self._handle)
            self._handle = None

    def _save(self) -> None:
        try:
            if self._handle is None:
                self._handle = self._create()
            # A disk that is full may take a part of it; the rest goes on exactly there later.
            while self._unsaved:
                del self._unsaved[: os.write(self._handle, self._unsaved)]
        except OSError as error:
            self._next_try = time.monotonic() + RETRY_SECONDS
            self._set_problem(error)
        else:
            self._next_try = 0.0
            self._set_problem(None)

    def _create(self) -> int:
        path = self.path
        assert path is not None
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600)
        try_lock(handle)
        return handle

    def _set_problem(self, error: OSError | None) -> None:
        problem = not_saved(error) if error is not None else ""
        if problem != self.problem:
            self.problem = problem
            self.on_problem(problem)


def not_saved(error: OSError) -> str:
    """What to tell a person when a session cannot be written."""
    reason = error.strerror or str(error)
    advice = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "see --data-dir"
    return f"This session is not being saved ({reason}; {advice}).{GOES_ON}"


def header_line(header: SessionHeader) -> bytes:
    """A header as a line."""
    return msgspec.json.encode(header) + b"\n"


def open_locked(path: Path) -> int:
    """Open an existing session file for appending; the caller closes the handle.

    Raises:
        StorageError: another program has it open, or it cannot be opened.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | NO_FOLLOW)
        # What has been replaced since it was opened is not the session any more.
        is_ours = try_lock(handle) and os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except OSError as error:
        raise StorageError(f"Session {path.stem} cannot be opened: {error.strerror} ({path}).") from error
    if not is_ours:
        os.close(handle)
        raise StorageError(f"Session {path.stem} is open in another window; go on there, or start a new one here.")
    return handle


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep an existing session file from being opened elsewhere.

    Raises:
        StorageError: another program has it open, or it cannot be opened.
    """
    handle = open_locked(path)
    try:
        yield
    finally:
        os.close(handle)


def ends_in_mid_line(handle: int) -> bool:
    """Whether the file's last line was never finished."""
    size = os.fstat(handle).st_size
    if size == 0:
        return False
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1) != b"\n"


def _begins(event: Event) -> bool:
    """Whether there is something now that is worth a file."""
    if isinstance(event, MemoryChanged):
        return isinstance(event.change, Added | Inserted | Snapshot) and bool(event.change.entries)
    return isinstance(event, ReplyStarted)
