"""`StoredMemory`: working memory that lies in a store which others may write to as well."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from agent_core.change import Inserted, Snapshot, StoredEntry, stored
from agent_core.errors import StorageError
from agent_core.finishing import finish
from agent_core.marks import Entry
from agent_core.message import Msg
from agent_core.module import check_state
from memory.working.checked import CheckedMemory
from memory.working.checks import check_summary
from memory.working.state import content_from_json, content_to_json
from memory.working.store import Head, Names, Outcome, Rewrite, Rewriting, Store

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


def _in_turn(
    call: Callable[Concatenate[StoredMemory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[StoredMemory, P], Coroutine[Any, Any, T]]:
    """One call after the other, each after what `load_state_dict` was given has been written.

    What has begun is carried through although its caller is cancelled: a driver that is stopped in the middle of a
    transaction may never give the connection back. A call that still waits for its turn is not made then.
    """

    @wraps(call)
    async def in_turn(self: StoredMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._store.lock.acquire()
        return await finish(holding(self, *args, **kwargs))

    async def holding(self: StoredMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            await self._write_state()
            return await call(self, *args, **kwargs)
        finally:
            self._store.lock.release()

    return in_turn


class StoredMemory(CheckedMemory):
    """Base of the memories whose content is in a database. Every call is one transaction, one at a time.

    Every committed mutation bumps the store's revision. A call that finds another revision than the listeners know of
    publishes a snapshot in place of its own change, so that whoever follows the changes has the content as it is. Who
    subscribes to a store that holds something already reads `entries()` first, as with any memory.

    The summary is in the store; `_compressed_summary` is what the last call saw of it. `state_dict` holds no more than
    that, since it cannot wait for a store; `export_state` gives everything. `load_state_dict` takes either, also from
    AgentScope: what it was given is written by the next call, or at once by `import_state`.
    """

    publishes_changes = True

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        # The revision that the listeners know of; None before the first, when they take the store to be empty.
        self._told: int | None = None
        self._unwritten: tuple[list[Entry] | None, str] | None = None

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary; an empty one means that there is none."""
        text = check_summary(summary)
        await self._mutate(lambda _: self._store.set_summary(text))

    async def clear(self) -> None:
        """Delete everything, the summary too."""
        await self._mutate(self._store.clear)

    async def restore(self, entries: Sequence[StoredEntry]) -> None:
        """Put deleted messages back to where they were; ids that are stored already are passed over."""

        def put_back(everything: list[Entry], summary: str) -> Rewriting | None:
            known = {entry.msg.id for entry in everything}
            placed = []
            for entry in entries:
                if entry.msg.id not in known:
                    position = min(entry.position, len(everything))
                    everything.insert(position, Entry(entry.msg, entry.marks))
                    placed.append(StoredEntry(position, entry.msg, entry.marks))
            return Rewriting(everything, summary, Inserted(tuple(placed))) if placed else None

        await self._mutate(lambda _: self._store.rewrite(put_back))

    async def rewrite(self, rewrite: Rewrite) -> None:
        """Replace everything by what `rewrite` makes of it, in one go; messages may be others than they were."""
        await self._mutate(lambda _: self._store.rewrite(rewrite))

    @_in_turn
    async def size(self) -> int:
        """The number of stored messages."""
        return self._saw(await self._store.head()).size

    @_in_turn
    async def entries(self) -> list[Entry]:
        """All messages with their marks."""
        head, entries = await self._store.entries()
        self._saw(head)
        if self._told is None:
            self._told = head.revision
        return entries

    @_in_turn
    async def refresh(self) -> bool:
        """Look whether someone else has written; if so, publish a snapshot. Cheap when not.

        Returns:
            Whether someone has.
        """
        head = self._saw(await self._store.head())
        if head.revision == (self._told or 0):
            return False
        await self._publish_snapshot(head)
        return True

    @_in_turn
    async def begin_with(self, entries: Sequence[Entry], summary: str = "") -> bool:
        """Store this as the first of all, unless something was ever stored here, or this is nothing.

        Returns:
            Whether it was stored.
        """
        content = list(entries)
        if not content and not summary:
            return False
        first = Rewriting(content, summary, Snapshot(stored(content), summary))
        if (await self._store.head()).revision:
            return False
        outcome = await self._store.rewrite(lambda present, _: None if present else first)
        await self._tell(outcome)
        return bool(outcome.changes)

    @_in_turn
    async def names(self) -> list[Names]:
        """Every session in the same database, whoever's it is; also one that is empty now."""
        return await self._store.names()

    async def leave_nothing_deleted(self) -> None:
        """Have what was deleted disappear from the disk as well, as far as this can be brought about from here.

        Raises:
            StorageError: it could not.
        """

    @_in_turn
    async def export_state(self) -> dict[str, Any]:
        """Everything, JSON-safe, in the form of `InMemoryMemory.state_dict`."""
        head, entries = await self._store.entries()
        return {"_compressed_summary": head.summary, "content": content_to_json(entries)}

    async def import_state(self, state: Mapping[str, Any]) -> None:
        """Replace what is stored by a state, as `load_state_dict` does, and wait until it is written."""
        self.load_state_dict(state)
        await self.size()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None:
        """Take a state, to be written by the next call: all of it, or the summary only when it has no `content`.

        Raises:
            KeyError: `strict`, and there is neither content nor summary.
            ValueError: the content is not a list of messages; nothing has been changed.
            TypeError: the summary or a mark is not a str; nothing has been changed.
        """
        check_state(state_dict)
        if "content" in state_dict:
            content = content_from_json(state_dict["content"])
            self._unwritten = (content, check_summary(state_dict.get("_compressed_summary", "")))
        elif "_compressed_summary" in state_dict:
            self._unwritten = (None, check_summary(state_dict["_compressed_summary"]))
        elif strict:
            raise KeyError("the state lacks '_compressed_summary'")
        else:
            return
        self._compressed_summary = self._unwritten[1]

    async def aclose(self) -> None:
        """Close the connections that this memory made itself. What is stored stays."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _add(self, messages: tuple[Msg, ...], marks: tuple[str, ...], duplicates: bool) -> None:
        await self._mutate(lambda tell: self._store.add(messages, marks, duplicates, tell))

    async def _delete(self, ids: tuple[str, ...] | None, marks: tuple[str, ...]) -> int:
        return await self._mutate(lambda tell: self._store.delete(ids, marks, tell))

    @_in_turn
    async def _read(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[str, list[Msg]]:
        head, messages = await self._store.messages(wanted, unwanted)
        return self._saw(head).summary, messages

    async def _replace_mark(self, old: tuple[str, ...], new: tuple[str, ...], ids: tuple[str, ...] | None) -> int:
        return await self._mutate(lambda tell: self._store.replace_mark(old, new, ids, tell))

    async def _set_marks(self, marks: Mapping[str, tuple[str, ...]]) -> int:
        return await self._mutate(lambda tell: self._store.set_marks(marks, tell))

    async def _write_state(self) -> None:
        """Write what `load_state_dict` was given, if that has not been done yet."""
        if self._unwritten is None:
            return
        content, summary = self._unwritten
        if content is None:
            outcome = await self._store.set_summary(summary)
        else:
            whole = Rewriting(content, summary, Snapshot(stored(content), summary))
            outcome = await self._store.rewrite(lambda _entries, _summary: whole)
        await self._tell(outcome)
        self._unwritten = None

    @_in_turn
    async def _mutate(self, operation: Callable[[bool], Awaitable[Outcome]]) -> int:
        outcome = await operation(bool(self._listeners))
        await self._tell(outcome)
        return outcome.changed

    async def _tell(self, outcome: Outcome) -> None:
        self._saw(outcome.head)
        if outcome.head.revision == outcome.found:
            return
        if outcome.found == (self._told or 0):
            self._told = outcome.head.revision
            for change in outcome.changes:
                self._publish(change)
            return
        try:
            await self._publish_snapshot(outcome.head)
        except StorageError:
            # The mutation is committed all the same; the next call that works tells of it.
            _log.exception("a change of %s could not be told", type(self).__name__)

    async def _publish_snapshot(self, head: Head) -> None:
        if not self._listeners:
            self._told = head.revision
            return
        head, entries = await self._store.entries()
        self._told = self._saw(head).revision
        self._publish(Snapshot(stored(entries), head.summary))

    def _saw(self, head: Head) -> Head:
        self._compressed_summary = head.summary
        return head
