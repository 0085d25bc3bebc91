"""`SessionStore`: the folder of session files: begin one, go on with one, list, delete.

Only regular files whose names are session ids are ever looked at; links are not followed.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Sequence
from itertools import chain, count, takewhile
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from agent_core.errors import StorageError
from agent_core.event import Event
from agent_core.marks import Entry
from tui.session import SessionFile, SessionHeader, ends_in_mid_line, header_line, not_saved, open_locked
from tui.session_reader import SessionContent, read_header, read_session, summarize
from tui.unsent import unsent_path

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SUFFIX = ".jsonl"
_SET_ASIDE = ".damaged"
NO_FOLDER = "This session is not being saved: no home folder is known. Name a folder with --data-dir to keep it."


class SessionNotFound(StorageError):
    """There is no session file of that id."""


class OpenedSession(NamedTuple):
    """A session to be gone on with: its file, what was in it, and what people should know about that."""

    file: SessionFile
    events: Sequence[Event] = ()
    entries: Sequence[Entry] = ()
    summary: str = ""
    notices: tuple[str, ...] = ()


class SessionInfo(Struct, frozen=True):
    """One row of a list of sessions; times are seconds since the epoch."""

    id: str
    title: str
    messages: int
    workdir: str
    created: float
    modified: float
    path: str


class SessionStore:
    """The sessions in a folder, which is made when it is first needed and is open to its owner only.

    Args:
        folder: where they are; None when there is no such place.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def new(self, workdir: Path | str, notices: tuple[str, ...] = (), id_: str = "") -> OpenedSession:
        """Begin a session, by an id of its own unless one is given. Where it can't be kept, its `problem` says so."""
        id_ = id_ or uuid.uuid4().hex[:8]
        header = SessionHeader(id=id_, workdir=_recorded(workdir), created=time.time())
        path = self._path(id_) if self.folder is not None else None
        return OpenedSession(SessionFile(header, path, problem=self._problem()), notices=notices)

    def resume(self, id_or_prefix: str, workdir: Path | str) -> OpenedSession:
        """Go on with a session.

        Args:
            id_or_prefix: the id, or its beginning where no other begins so.
            workdir: of the session when its file no longer tells.

        Raises:
            SessionNotFound: there is no such session.
            StorageError: several begin so, it is open elsewhere, or cannot be read.
        """
        path = self._find(id_or_prefix)
        handle = open_locked(path)
        try:
            content = read_session(path)
            if content.header or content.events:
                header = content.header or SessionHeader(id=path.stem, workdir=_recorded(workdir), created=time.time())
                lead = b"\n" if ends_in_mid_line(handle) else b""
                if not content.header:
                    lead += header_line(header)
                return _opened(SessionFile(header, path, handle, lead), content)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return self.new(workdir, (_set_aside(path),))

    def resume_newest(self, workdir: Path | str) -> OpenedSession:
        """Go on with the session of this workdir that was used last; begin one when there is none.

        Raises:
            StorageError: it is open elsewhere, or cannot be read.
        """
        path = self._newest_of(workdir)
        lost = self._without_beginning(path)
        if path is None:
            return self.new(workdir, ("There is no earlier session here to go on with; this is a new one.", *lost))
        session = self.resume(path.stem, workdir)
        return session._replace(notices=(*session.notices, *lost))

    def list(self) -> list[SessionInfo]:
        """All sessions, the one used last first. Those that cannot be opened are left out."""
        return [info for path in self._newest_first() if (info := _info(path)) is not None]

    def read(self, id_or_prefix: str | None, workdir: Path | str) -> tuple[str, SessionContent]:
        """Look into a session without touching it, whoever has it open; its id, and what it holds by now.

        Args:
            id_or_prefix: the id, or its beginning where no other begins so; None for the newest of this workdir.
            workdir: where that was held.

        Raises:
            StorageError: there is no such session, several begin so, or it cannot be read.
        """
        path = self._newest_of(workdir) if id_or_prefix is None else self._find(id_or_prefix)
        if path is None:
            raise StorageError(f"There is no session of {workdir} yet; --session takes the id of another.")
        return path.stem, read_session(path)

    def paths(self) -> Sequence[Path]:
        """The files of all sessions, the one used last first.

        Raises:
            StorageError: they cannot be listed.
        """
        return self._newest_first()

    def paths_set_aside(self) -> Sequence[Path]:
        """The files that were set aside since nothing in them could be read, the one used last first.

        Raises:
            StorageError: they cannot be listed.
        """
        return self._newest_first(_SET_ASIDE)

    def file_of(self, id_: str) -> Path | None:
        """The file of the session of exactly this id; None when there is none."""
        path = self._path(id_) if self.folder is not None and is_session_id(id_) else None
        return path if path is not None and path.is_file() and not path.is_symlink() else None

    def delete(self, id_or_prefix: str) -> str:
        """Delete the file of one session, whatever is in it, and what was not sent in it; return its id.

        Raises:
            StorageError: there is no such session, several begin so, it is open elsewhere, or cannot be deleted.
        """
        path = self._find(id_or_prefix)
        os.close(open_locked(path))
        try:
            path.unlink()
            unsent_path(path).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"Session {path.stem} cannot be deleted: {error.strerror} ({path}).") from error
        return path.stem

    def _path(self, id_: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{id_}{_SUFFIX}"

    def _problem(self) -> str:
        """Why nothing can be kept here; empty when it can, as far as can be told without writing."""
        if self.folder is None:
            return NO_FOLDER
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            return not_saved(error)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            return not_saved(PermissionError(13, f"no permission to write in {self.folder}"))
        return ""

    def _find(self, id_or_prefix: str) -> Path:
        ids = [path.stem for path in self._newest_first()]
        found = [id_ for id_ in ids if id_.startswith(id_or_prefix)] if id_or_prefix else []
        if id_or_prefix in found:
            found = [id_or_prefix]
        if not found:
            raise SessionNotFound(f"No session begins with {id_or_prefix!r}; `mnemoscope sessions` lists them.")
        if len(found) > 1:
            raise StorageError(f"Several sessions begin with {id_or_prefix!r}: {', '.join(found)}.")
        return self._path(found[0])

    def _newest_of(self, workdir: Path | str) -> Path | None:
        headers = ((path, read_header(path)) for path in self._newest_first())
        return next((path for path, header in headers if header and header.workdir == _recorded(workdir)), None)

    def _without_beginning(self, path: Path | None) -> Sequence[str]:
        """What to tell of sessions that were used after that one and do not say any more where they belong."""
        newer = takewhile(lambda each: each != path, self._newest_first())
        lost = (each.stem for each in newer if read_header(each) is None)
        return [f"Session {id_} is newer, but its beginning is lost; --resume {id_} opens it." for id_ in lost]

    def _newest_first(self, suffix: str = _SUFFIX) -> Sequence[Path]:
        if self.folder is None:
            return ()
        try:
            with os.scandir(self.folder) as entries:
                files = [Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise StorageError(f"The sessions in {self.folder} cannot be listed: {error.strerror}.") from error
        paths = [path for path in files if path.suffix == suffix and is_session_id(path.stem)]
        return sorted(paths, key=_modified, reverse=True)


def is_session_id(text: str) -> bool:
    """Whether a session may be called so, and its file after it."""
    return _ID.fullmatch(text) is not None


def _recorded(workdir: Path | str) -> str:
    """What a session's header calls the workdir; bytes of a path that are not UTF-8 stand in it as escapes."""
    return str(workdir).encode("utf-8", "backslashreplace").decode()


def _set_aside(path: Path) -> str:
    """Keep a file of which nothing can be read under another name; what to tell of it."""
    unreadable = f"Nothing of session {path.stem} can be read"
    names = chain([path.stem], (f"{path.stem}-{number}" for number in count(2)))
    aside = next(other for name in names if not os.path.lexists(other := path.with_name(f"{name}{_SET_ASIDE}")))
    try:
        path.rename(aside)
    except OSError as error:
        return f"{unreadable}, and it cannot be put aside ({error.strerror}): it is left as it is, this is a new one."
    return f"{unreadable}; its bytes are kept in {aside}."


def _opened(file: SessionFile, content: SessionContent) -> OpenedSession:
    return OpenedSession(file, content.events, content.entries, content.summary, tuple(content.notices))


def _info(path: Path) -> SessionInfo | None:
    try:
        summary = summarize(path)
    except StorageError:
        return None
    header = summary.header or SessionHeader(id=path.stem)
    return SessionInfo(
        id=path.stem,
        title=summary.title,
        messages=summary.messages,
        workdir=header.workdir,
        created=header.created,
        modified=_modified(path),
        path=str(path),
    )


def _modified(path: Path) -> float:
    try:
        return path.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
