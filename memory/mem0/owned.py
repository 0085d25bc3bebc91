"""Users' memories in RAM, ready to be searched, and kept in step with the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory.mem0.payload_filter import matches
from memory.mem0.sqlite_rows import Rows, StoredRow
from memory.search.hybrid import Hit, HybridSearch, Passage

if TYPE_CHECKING:
    from memory.search.vectors import Vector

_OWNERS_KEPT = 16
"""So many users' memories stay in RAM; those of others are read again when they are needed."""


class OwnedMemories:
    """The words, vectors and scopes of one user's rows, by row number. Not thread-safe."""

    def __init__(self) -> None:
        self.version = -1
        self._search: HybridSearch[int] = HybridSearch()
        self._scopes: dict[int, tuple[str, str]] = {}

    def bring_up_to_date(self, connection: sqlite3.Connection, rows: Rows, owner: str, *, with_vectors: bool) -> None:
        """Forget the rows that are gone from the file, and take in the new ones."""
        numbers = rows.numbers(connection, owner)
        gone = self._scopes.keys() - numbers
        self._search.remove(gone)
        for number in gone:
            del self._scopes[number]
        self._take(rows.fetch(connection, sorted(numbers - self._scopes.keys())), with_vectors)

    def search(
        self, question: str, vector: Vector | None, limit: int, only: Callable[[int], bool] | None
    ) -> list[Hit[int]]:
        """The rows that fit best, the best first."""
        return self._search.search(question, limit, vector=vector, only=only)

    def passing(
        self, connection: sqlite3.Connection, rows: Rows, filters: Mapping[str, Any]
    ) -> Callable[[int], bool] | None:
        """What `filters` let through, as a predicate over row numbers; None when that is everything."""
        rest = dict(filters)
        agent, run = (rest.pop(key) if isinstance(rest.get(key), str) else None for key in ("agent_id", "run_id"))
        if agent is None and run is None and not rest:
            return None
        numbers = {
            number
            for number, (its_agent, its_run) in self._scopes.items()
            if agent in (None, its_agent) and run in (None, its_run)
        }
        if rest:
            found = rows.fetch(connection, sorted(numbers))
            numbers = {row.number for row in found if matches(json.loads(row.payload), rest)}
        return numbers.__contains__

    def _take(self, rows: Iterable[StoredRow], with_vectors: bool) -> None:
        import numpy as np

        passages = []
        for row in rows:
            self._scopes[row.number] = row.agent, row.run
            vector = np.frombuffer(row.vector, dtype="<f4") if row.vector and with_vectors else None
            passages.append(Passage(row.number, row.text, vector=vector))
        self._search.add(passages)


class Owners:
    """The users whose memories are in RAM. Not thread-safe.

    Args:
        rows: where they come from.
        with_vectors: whether their meaning is searched too.
        check: looks whether the file still is what it was; called when it has changed.
    """

    def __init__(self, rows: Rows, *, with_vectors: bool, check: Callable[[sqlite3.Connection], None]) -> None:
        self._rows = rows
        self._with_vectors = with_vectors
        self._check = check
        self._by_name: dict[str, OwnedMemories] = {}

    def memories(self, connection: sqlite3.Connection, owner: str | None) -> Iterator[OwnedMemories]:
        """A user's memories as the file holds them now; of every user when `owner` is None."""
        for name in self._rows.owners(connection) if owner is None else [owner]:
            yield self._up_to_date(connection, name)

    def forget(self, owner: str) -> None:
        """Let go of a user's memories."""
        self._by_name.pop(owner, None)

    def _up_to_date(self, connection: sqlite3.Connection, owner: str) -> OwnedMemories:
        memories = self._by_name.pop(owner, None) or OwnedMemories()
        # Moved to the end: the first is the one that was not needed for longest.
        self._by_name[owner] = memories
        if len(self._by_name) > _OWNERS_KEPT:
            del self._by_name[next(iter(self._by_name))]
        # It changes with every commit of another connection, in this program or any other.
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if memories.version != version:
            self._check(connection)
            memories.bring_up_to_date(connection, self._rows, owner, with_vectors=self._with_vectors)
            memories.version = version
        return memories
