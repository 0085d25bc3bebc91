"""`SessionErasure`: takes what sessions tell of a memory that is deleted for good out of their files."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from agent_core.errors import StorageError
from memory.agentic.purge import Trail
from tui.file_replacement import rewrite
from tui.redaction import Redaction
from tui.session import locked
from tui.session_store import SessionStore
from tui.unsent import SUFFIX, read_unsent


class Erased(NamedTuple):
    """What was taken out: of which sessions, how many texts, and how many of the prompts that were typed."""

    sessions: tuple[str, ...]
    passages: int
    prompts: int


class SessionErasure:
    """Used as a context, which keeps the sessions that it is about from being opened.

    Args:
        folder: where the sessions are; None when there is no such place.
        prompts: the file of what was typed; None when there is none.
        trail: what is known of the memory.
        files: the absolute paths that its file has had.
        here: the file of the session that this program has open; when it tells of it, close it before `carry_out`.

    Attributes:
        sessions: the ids of the sessions that tell of it, after `prepare`.
        tells_here: whether the one that is open here is among them.
    """

    def __init__(
        self,
        folder: Path | None,
        prompts: Path | None,
        trail: Trail,
        files: Collection[str],
        here: Path | None = None,
    ) -> None:
        self.sessions: tuple[str, ...] = ()
        self.tells_here = False
        self._here = here
        self._store = SessionStore(folder)
        self._prompts = prompts
        self._trail = trail
        self._files = files
        self._told: list[Path] = []
        self._locks = ExitStack()
        self._typed: set[str] = set()

    def __enter__(self) -> SessionErasure:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._locks.close()

    def prepare(self) -> None:
        """Find the sessions that tell of it, and keep others from opening them.

        Raises:
            StorageError: one of them is open, or cannot be read; nothing has been changed.
        """
        for path in sorted([*self._store.paths(), *self._store.paths_set_aside()]):
            _, passages = self._redacted(path)
            if passages and path == self._here:
                self.tells_here = True
            elif passages:
                self._lock(path)
            if passages:
                self._told.append(path)
        self.sessions = tuple(path.stem for path in self._told)

    def carry_out(self) -> Erased:
        """Replace the files, each as a whole. May be done again where it failed.

        Raises:
            StorageError: a file cannot be replaced, which is then as it was; those before it are done. Or the session
                that is open here has come to tell of it since; nothing has been changed then.
        """
        if self._here is not None and self._here.exists():
            self._check_here(self._here)
            # It is locked now, if it has to be.
            self._here = None
        sum_ = 0
        for path in self._told:
            data, passages = self._redacted(path)
            _replace(path, data)
            sum_ += passages
        return Erased(self.sessions, sum_, self._forget_prompts() + self._forget_unsent())

    def has(self, session_id: str) -> bool:
        """Whether a session has a file here."""
        return self._store.file_of(session_id) is not None

    def redaction(self, session_id: str) -> Redaction:
        """What must not be told any more in a session, by what its file says of it, where it has one.

        Raises:
            StorageError: the file cannot be read.
        """
        redaction = Redaction(self._trail, self._files)
        if (path := self._store.file_of(session_id)) is not None:
            events = map(_decoded, _read(path).split(b"\n"))
            redaction.learn(event for event in events if event is not None)
        return redaction

    def _lock(self, path: Path) -> None:
        try:
            self._locks.enter_context(locked(path))
        except StorageError as error:
            window = f"Session {path.stem} is open in another window: end it there first."
            why = str(error) if error.__cause__ else window
            raise StorageError(f"{why} It tells of the memory, so nothing was deleted.") from error

    def _check_here(self, here: Path) -> None:
        if self.tells_here:
            self._lock(here)
        elif self._redacted(here)[1]:
            raise StorageError("This session has come to tell of it meanwhile. Nothing was deleted: try again.")

    def _redacted(self, path: Path) -> tuple[bytes, int]:
        """What is to be in a file, and how many texts of it are changed by that."""
        redaction = Redaction(self._trail, self._files)
        lines = _read(path).split(b"\n")
        events = [_decoded(line) for line in lines]
        redaction.learn(event for event in events if event is not None)
        for number, event in enumerate(events):
            if event is not None:
                redacted = redaction.event(event)
                if redacted != event:
                    lines[number] = _encoded(redacted)
            elif lines[number]:
                text = lines[number].decode("utf-8", "surrogateescape")
                if (without := redaction.text(text)) != text:
                    redaction.passages += 1
                    lines[number] = without.encode("utf-8", "surrogateescape")
        self._typed |= redaction.prompts
        return b"\n".join(lines), redaction.passages

    def _forget_prompts(self) -> int:
        """Take the lines that tell of it out of what was typed; how many those were."""
        if self._prompts is None or not self._prompts.is_file():
            return 0
        redaction = Redaction(self._trail, self._files)
        lines = _read(self._prompts).splitlines(keepends=True)
        kept = [line for line in lines if not self._is_telling(line, redaction)]
        if len(kept) < len(lines):
            _replace(self._prompts, b"".join(kept))
        return len(lines) - len(kept)

    def _forget_unsent(self) -> int:
        """Delete the texts that were typed, not sent, and tell of it; how many those were."""
        redaction = Redaction(self._trail, self._files)
        folder = self._store.folder
        paths = sorted(folder.glob(f"*{SUFFIX}")) if folder is not None else []
        telling = [path for path in paths if self._is_telling_text(read_unsent(path).text, redaction)]
        for path in telling:
            try:
                path.unlink()
            except OSError as error:
                raise StorageError(f"{path} cannot be deleted: {error.strerror}.") from error
        return len(telling)

    def _is_telling(self, line: bytes, redaction: Redaction) -> bool:
        try:
            text = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "replace")
        return isinstance(text, str) and self._is_telling_text(text, redaction)

    def _is_telling_text(self, text: str, redaction: Redaction) -> bool:
        return text.strip() in self._typed or redaction.text(text) != text


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}. Nothing was deleted.") from error


def _replace(path: Path, data: bytes) -> None:
    try:
        rewrite(path, data)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from error


def _decoded(line: bytes) -> dict[str, Any] | None:
    """The event or header in a line; None when there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _encoded(event: dict[str, Any]) -> bytes:
    try:
        return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(event, separators=(",", ":")).encode()
