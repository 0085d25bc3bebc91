"""The working memory of a session that is kept in a store (`--memory URL`), and what its trace is told of that."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from agent_core.change import Added, Inserted, MemoryChange
from agent_core.errors import StorageError
from agent_core.event import (
    Event,
    MemoryChanged,
    Noticed,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    StoreFailed,
    StoreRecovered,
)
from agent_core.trace import Trace
from memory.working.mirrored import MirroredMemory
from memory.working.stored_memory import StoredMemory
from tui.memory_url import without_password
from tui.session_store import OpenedSession


class KeptMemory:
    """The store is the truth; the session file is what there is until it has been reached, and while it fails.

    Args:
        url: where the store is.
        user: whose memory it is.
        opened: the session; its id is the one in the store.
        trace: of the session's agent.

    Attributes:
        memory: the working memory, to be given to the agent.
    """

    def __init__(self, url: str, user: str, opened: OpenedSession, trace: Trace) -> None:
        self._trace = trace
        self._session = opened.file
        missing = unwritten(opened.events)
        self._was_failing = missing is not None
        self.memory = MirroredMemory(
            partial(_open, url, opened.file.id, user),
            self._tell,
            entries=opened.entries,
            summary=opened.summary,
            unwritten=in_flight(opened.events) if missing is None else missing,
        )

    async def start(self) -> None:
        """Reach the store, write what an earlier run could not, and take over what it holds."""
        before = {entry.msg.id for entry in await self.memory.entries()}
        await self.memory.refresh()
        if self.memory.trouble:
            return
        if self._was_failing:
            self._was_failing = False
            self._tell("")
        gone = len(before - {entry.msg.id for entry in await self.memory.entries()})
        if gone:
            have = "message of this session is" if gone == 1 else "messages of this session are"
            text = f"{gone} {have} no longer in the memory store, and so not in memory; the session file has them."
            self._trace.append(Noticed(text=text, level="warning"))

    async def aclose(self) -> str:
        """Try once more to write what waits, and close the store; one line when something stays unwritten."""
        await self.memory.aclose()
        if not self.memory.waiting:
            return ""
        messages = sum(len(one.entries) for one in unwritten(self._trace) or () if isinstance(one, Added | Inserted))
        number, what = (messages, "message") if messages else (self.memory.waiting, "change")
        told = f"{number} {what}{'' if number == 1 else 's'} could not be written to the memory store"
        if self._session.problem:
            return f"{told}, nor to the session file: {self.memory.trouble}"
        again = f"--resume {self._session.id} with the same --memory writes them there"
        return f"{told} ({self.memory.trouble}). The session file has them; {again}."

    def _tell(self, trouble: str) -> None:
        if trouble:
            self._trace.append(StoreFailed(error=trouble, waiting=self.memory.waiting))
        else:
            self._trace.append(StoreRecovered())


def unwritten(events: Iterable[Event]) -> list[MemoryChange] | None:
    """The changes, of all that these events tell, that the store has not taken; None when it was not failing."""
    changes: list[MemoryChange] = []
    start: int | None = None
    for event in events:
        match event:
            case MemoryChanged(change=change):
                changes.append(change)
            case StoreFailed(waiting=waiting) if start is None:
                start = max(0, len(changes) - waiting)
            case StoreRecovered():
                changes, start = [], None
    return None if start is None else changes[start:]


def in_flight(events: Iterable[Event]) -> list[MemoryChange]:
    """The messages of the last round of a reply that the end of the program cut off.

    A store that was just being written to may lack them; one that has them takes them as known.
    """
    messages: list[MemoryChange] = []
    for event in events:
        match event:
            case ReplyStarted() | RoundStarted() | ReplyEnded():
                messages = []
            case MemoryChanged(change=Added() as change) if event.reply_id is not None:
                messages.append(change)
    return messages


def _open(url: str, session_id: str, user: str) -> StoredMemory:
    from memory.working.open import open_memory

    try:
        return open_memory(url, session_id, user)
    except ValueError as error:
        raise StorageError(f"The memory store {without_password(url)} cannot be used: {error}") from error
