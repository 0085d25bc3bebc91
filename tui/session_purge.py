"""Taking out of session files what a long-term memory of facts has left in them.

What a user said becomes a fact, and a fact what the model answers, so that no single message holds all of it. From the
first reply on that knew of a user's facts a session is cut; what was said before stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from agent_core.change import Added, Inserted, Snapshot
from agent_core.errors import StorageError
from agent_core.event import (
    Event,
    FactsWriteStarted,
    FactsWritten,
    MemoryChanged,
    ReplyStarted,
    RetrievalStarted,
    ToolStarted,
    decode_event,
)
from agent_core.history import REPLACES
from agent_core.message import Msg
from tui.file_replacement import rewrite
from tui.session import locked

_TOOLS = frozenset({"search_memory", "add_memory"})


class Cut(Struct, frozen=True, kw_only=True):
    """What a session has lost.

    Args:
        session_id: the session.
        replies: how many replies.
        msg_ids: the messages, with the ids that a store knows them by.
        said: what the user had typed.
        is_gone: whether nothing was left, so that its file is deleted.
    """

    session_id: str
    replies: int
    msg_ids: tuple[str, ...]
    said: frozenset[str]
    is_gone: bool


class _Line(Struct, frozen=True):
    """A line of a session file: where it begins, what it says if that can be read, and whether it names the memory."""

    start: int
    event: Event | None
    names_source: bool


def tells_of(event: Event, source: str) -> bool:
    """Whether an event shows that a long-term memory has taken part."""
    match event:
        case RetrievalStarted(source=its) | FactsWriteStarted(source=its) | FactsWritten(source=its):
            return its == source
        case MemoryChanged():
            return any(msg.get_metadata(REPLACES) == source for msg in _messages(event))
    return False


def cut_session(path: Path, source: str) -> Cut | None:
    """Cut a session file where a long-term memory first took part; None where it did not.

    The file is replaced at once, or left as it was.

    Raises:
        StorageError: another program has it open, or it cannot be read or written.
    """
    needle = _needle(source)
    data = _read(path)
    if needle not in data:
        return None
    lines = list(_lines(data, needle))
    start = _first_reply(lines, source)
    if start is None:
        return None
    gone = [line.event for line in lines if line.start >= start and line.event is not None]
    is_gone = not any(_messages(line.event) for line in lines if line.start < start and line.event is not None)
    with locked(path):
        _shorten(path, data[:start], is_gone)
    return _cut(path.stem, gone, is_gone)


def messages_of(path: Path) -> frozenset[str]:
    """The ids of all messages that a session file tells of; none when there is no such file.

    Raises:
        StorageError: it cannot be read.
    """
    events = (line.event for line in _lines(_read(path), b"") if line.event is not None)
    return frozenset(msg.id for event in events for msg in _messages(event))


def _read(path: Path) -> bytes:
    """What is in a session file; nothing when there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"Session {path.stem} cannot be read: {error.strerror} ({path}).") from error


def _needle(source: str) -> bytes:
    """How the name of a memory ends in a line, so that another one that only begins alike is not meant."""
    return msgspec.json.encode(source)[1:]


def _lines(data: bytes, needle: bytes) -> Iterator[_Line]:
    start = 0
    for line in data.splitlines(keepends=True):
        try:
            event: Event | None = decode_event(line)
        except (ValueError, RecursionError):
            event = None
        yield _Line(start, event, needle in line)
        start += len(line)


def _first_reply(lines: Iterable[_Line], source: str) -> int | None:
    """Where the first reply begins in which the memory took part; None when there is none."""
    began: dict[str | None, int] = {}
    newest: int | None = None
    first: int | None = None
    for line in lines:
        event = line.event
        if isinstance(event, ReplyStarted):
            began[event.reply_id] = newest = line.start
        # What nobody can read any more, and names it, tells of it too.
        is_of_it = line.names_source if event is None else tells_of(event, source) or _is_search(event)
        if is_of_it:
            place = began.get(event.reply_id if event else None, newest)
            place = line.start if place is None else place
            first = place if first is None else min(first, place)
    return first


def _is_search(event: Event) -> bool:
    """A search by the model, of which no other event tells."""
    return isinstance(event, ToolStarted) and event.tool in _TOOLS


def _messages(event: Event) -> list[Msg]:
    """The messages that came into the working memory with an event."""
    if isinstance(event, MemoryChanged) and isinstance(event.change, Added | Inserted | Snapshot):
        return [entry.msg for entry in event.change.entries]
    return []


def _cut(session_id: str, gone: Iterable[Event], is_gone: bool) -> Cut:
    events = list(gone)
    msgs = {msg.id: msg for event in events for msg in _messages(event)}
    return Cut(
        session_id=session_id,
        replies=sum(isinstance(event, ReplyStarted) for event in events),
        msg_ids=tuple(msgs),
        said=frozenset(text for msg in msgs.values() if msg.role == "user" and (text := msg.get_text_content())),
        is_gone=is_gone,
    )


def _shorten(path: Path, kept: bytes, is_gone: bool) -> None:
    try:
        if is_gone:
            path.unlink()
        else:
            rewrite(path, kept)
    except OSError as error:
        raise StorageError(f"Session {path.stem} cannot be purged: {error.strerror or error} ({path}).") from error
