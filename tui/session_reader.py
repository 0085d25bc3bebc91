"""Reading session files, whatever has happened to them: what is damaged costs itself and nothing else."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent_core.errors import StorageError
from agent_core.event import EVENT_TYPES, Event, MemoryChanged, decode_event
from agent_core.marks import Entry
from agent_core.text import first_line
from tui.session import FORMAT, SessionHeader
from tui.session_fold import SessionFold

_KNOWN_TYPES = frozenset(str(cls.__struct_config__.tag) for cls in EVENT_TYPES)
_HEADER_KEY = b'"mnemoscope_session"'
_TITLE_LENGTH = 80
_CHANGE_START = b'{"type":"memory_changed"'


class SessionContent(Struct):
    """What a session file holds.

    Args:
        header: None when it cannot be read.
        events: in the order in which they happened; memory changes fit each other even where some were lost.
        entries: what the working memory held at the end.
        summary: the summary that it held at the end.
        damaged: lines that could not be read; a run of NULs counts as one.
        unknown: events of a kind that a newer program wrote.
    """

    header: SessionHeader | None = None
    events: list[Event] = []
    entries: list[Entry] = []
    summary: str = ""
    damaged: int = 0
    unknown: int = 0

    @property
    def notices(self) -> list[str]:
        """What was left out, one line each, for people."""
        notices = []
        if self.damaged:
            notices.append(f"{_count(self.damaged, 'damaged line')} of this session left out; the file keeps them.")
        if self.unknown:
            notices.append(f"{_count(self.unknown, 'event')} of this session left out: a newer version wrote them.")
        return notices


class SessionSummary(Struct):
    """What a list of sessions shows of one: its header, its first user line, how many messages it holds."""

    header: SessionHeader | None = None
    title: str = ""
    messages: int = 0


def read_session(path: Path) -> SessionContent:
    """Read a session file.

    Raises:
        StorageError: it cannot be opened, or a newer version wrote it in another format.
    """
    content, fold = SessionContent(), SessionFold()
    in_nuls = False
    for line in _lines(path):
        text = line.strip(b"\0 \t\r\n")
        has_nuls = b"\0" in line
        if has_nuls and not in_nuls:
            content.damaged += 1
        in_nuls = has_nuls and not text
        if text:
            _take(text, content, fold)
    content.entries, content.summary = fold.state.entries, fold.state.summary
    return content


def read_header(path: Path) -> SessionHeader | None:
    """The header of a session file; None when it cannot be read, or is no longer there."""
    try:
        return next((header for line in _lines(path) if (header := _as_header(line)) is not None), None)
    except StorageError:
        return None


def summarize(path: Path) -> SessionSummary:
    """Look through a session file for what a list shows.

    Raises:
        StorageError: it cannot be opened.
    """
    summary, fold = SessionSummary(), SessionFold()
    for line in _lines(path):
        text = line.strip(b"\0 \t\r\n")
        if summary.header is None and (header := _as_header(text)) is not None:
            summary.header = header
        elif text.startswith(_CHANGE_START) and isinstance(event := _as_event(text), MemoryChanged):
            fold.take(event.change)
            summary.title = summary.title or _title(fold.state.entries)
    summary.messages = len(fold.state.entries)
    return summary


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            # Some editors put a mark before the first line.
            yield file.readline().removeprefix(BOM_UTF8)
            yield from file
    except OSError as error:
        raise StorageError(f"The session {path.stem} cannot be read: {error.strerror} ({path}).") from error


def _take(text: bytes, content: SessionContent, fold: SessionFold) -> None:
    if content.header is None and (header := _as_header(text)) is not None:
        if header.mnemoscope_session > FORMAT:
            raise StorageError(
                f"Session {header.id} was written by a newer version, in format {header.mnemoscope_session}; "
                "update mnemoscope, or start a new session."
            )
        content.header = header
    elif (event := _as_event(text)) is not None:
        if isinstance(event, MemoryChanged):
            change = fold.take(event.change)
            if change is None:
                return
            event = replace(event, change=change)
        content.events.append(event)
    elif _is_of_unknown_type(text):
        content.unknown += 1
    elif _as_header(text) is None:
        content.damaged += 1


def _as_header(text: bytes) -> SessionHeader | None:
    # Cheap to say no to, since nearly every line is an event.
    if not text.startswith(b"{") or _HEADER_KEY not in text[:200]:
        return None
    try:
        return msgspec.json.decode(text, type=SessionHeader)
    except (ValueError, RecursionError):
        return None


def _as_event(text: bytes) -> Event | None:
    try:
        return decode_event(text)
    except (ValueError, RecursionError):
        return None


class _Tagged(Struct):
    type: str


def _is_of_unknown_type(text: bytes) -> bool:
    try:
        return msgspec.json.decode(text, type=_Tagged).type not in _KNOWN_TYPES
    except (ValueError, RecursionError):
        return False


def _title(entries: Sequence[Entry]) -> str:
    texts = (entry.msg.get_text_content() for entry in entries if entry.msg.role == "user")
    return next((line for text in texts if text and (line := first_line(text, _TITLE_LENGTH))), "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
