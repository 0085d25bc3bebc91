"""What `StoredMemory` asks of a store: one user's session in a database, whole operations, each all or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from agent_core.change import MemoryChange
from agent_core.marks import Entry
from agent_core.message import Msg


class Head(NamedTuple):
    """What a store says of itself without being read through.

    `revision` grows with every committed mutation, whoever made it; 0 means that nothing was ever stored.
    """

    revision: int
    size: int
    summary: str


class Names(NamedTuple):
    """Which of the sessions in a database is meant."""

    user_id: str
    session_id: str


class Outcome(NamedTuple):
    """A committed operation.

    Args:
        changed: the number of messages.
        found: the revision that it found; that of `head` when it changed nothing.
        head: what it left.
        changes: what it did, in order; empty unless it was asked to tell.
    """

    changed: int
    found: int
    head: Head
    changes: tuple[MemoryChange, ...] = ()


class Rewriting(NamedTuple):
    """The whole content that is to be stored, and the change that says how it came about."""

    entries: list[Entry]
    summary: str
    change: MemoryChange


Rewrite = Callable[[list[Entry], str], Rewriting | None]
"""Makes the new content from entries and summary; None leaves all as it is. May be called more than once."""


class Store(Protocol):
    """Arguments are checked already. `tell` asks for the changes, which cost something to work out.

    Every method raises `StorageError` when the store cannot be read or written; nothing half-written stays then.
    """

    lock: asyncio.Lock
    """Held by the caller around every call."""

    async def head(self) -> Head:
        """Revision, size and summary."""

    async def messages(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[Head, list[Msg]]:
        """The messages with any of the marks `wanted` (None for all) and none of `unwanted`."""

    async def entries(self) -> tuple[Head, list[Entry]]:
        """Everything."""

    async def add(self, messages: Sequence[Msg], marks: tuple[str, ...], duplicates: bool, tell: bool) -> Outcome:
        """Append messages; ids that are there already only get the marks, unless `duplicates`."""

    async def delete(self, ids: Sequence[str] | None, marks: tuple[str, ...], tell: bool) -> Outcome:
        """Delete messages with these ids, or with any of these marks."""

    async def replace_mark(
        self, old: tuple[str, ...], new: tuple[str, ...], ids: Sequence[str] | None, tell: bool
    ) -> Outcome:
        """Put `new` in the place of `old`; either may be empty, not both."""

    async def set_marks(self, marks: Mapping[str, tuple[str, ...]], tell: bool) -> Outcome:
        """Give messages exactly these marks, by id."""

    async def set_summary(self, summary: str) -> Outcome:
        """Replace the summary."""

    async def clear(self, tell: bool) -> Outcome:
        """Delete everything, the summary too."""

    async def names(self) -> list[Names]:
        """Every session in the same database that something was ever stored in, whoever's it is."""

    async def rewrite(self, rewrite: Rewrite) -> Outcome:
        """Store everything anew, as the function says."""
