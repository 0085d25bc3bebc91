"""The rows of the default store's file: plain SQL over one collection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agent_core.text import well_formed

MATCH = "match"
"""Key in the payload of what a search finds, never stored: why it was found."""

_COLUMNS = "number, id, agent, run, text, payload, vector"
_AT_ONCE = 500


class StoredRow(NamedTuple):
    """A row of the file. A row that changes gets a new `number`, so what has the same number is the same."""

    number: int
    id: str
    agent: str
    run: str
    text: str
    payload: str
    vector: bytes | None


class Rows:
    """One collection. Every method takes the connection to work on; transactions are the caller's."""

    def __init__(self, collection: str) -> None:
        self.collection = collection

    def put(self, connection: sqlite3.Connection, rows: Iterable[tuple[str, Mapping[str, Any], bytes | None]]) -> None:
        """Store rows, each as id, payload and vector; one whose id is known is replaced."""
        connection.executemany(
            "INSERT OR REPLACE INTO memories (collection, id, owner, agent, run, text, payload, vector)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self._values(*row) for row in rows),
        )

    def find(self, connection: sqlite3.Connection, memory_id: str) -> StoredRow | None:
        """The row of an id."""
        query = f"SELECT {_COLUMNS} FROM memories WHERE collection = ? AND id = ?"
        row = connection.execute(query, (self.collection, memory_id)).fetchone()
        return StoredRow(*row) if row else None

    def fetch(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[StoredRow]:
        """The rows of these numbers, as far as they are there, in any order."""
        for start in range(0, len(numbers), _AT_ONCE):
            batch = numbers[start : start + _AT_ONCE]
            query = f"SELECT {_COLUMNS} FROM memories WHERE number IN ({', '.join('?' * len(batch))})"
            yield from (StoredRow(*row) for row in connection.execute(query, batch))

    def payloads(self, connection: sqlite3.Connection, owner: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Id and payload of a user's rows, or of all, the newest first."""
        where, values = ("", []) if owner is None else ("AND owner = ?", [owner])
        query = f"SELECT id, payload FROM memories WHERE collection = ? {where} ORDER BY number DESC"
        for memory_id, text in connection.execute(query, (self.collection, *values)):
            yield memory_id, json.loads(text)

    def numbers(self, connection: sqlite3.Connection, owner: str) -> set[int]:
        """The numbers of a user's rows."""
        query = "SELECT number FROM memories WHERE collection = ? AND owner = ?"
        return {number for (number,) in connection.execute(query, (self.collection, owner))}

    def owners(self, connection: sqlite3.Connection) -> list[str]:
        """The users who have rows."""
        query = "SELECT DISTINCT owner FROM memories WHERE collection = ?"
        return [owner for (owner,) in connection.execute(query, (self.collection,))]

    def without_vector(self, connection: sqlite3.Connection, limit: int) -> list[tuple[str, str]]:
        """Id and text of rows that have words but no vector, `limit` at most."""
        query = "SELECT id, text FROM memories WHERE collection = ? AND vector IS NULL AND text != '' LIMIT ?"
        return list(connection.execute(query, (self.collection, limit)))

    def count(self, connection: sqlite3.Connection, *, only_without_vector: bool = False) -> int:
        """How many rows there are, or how many of those of `without_vector`."""
        where = "AND vector IS NULL AND text != ''" if only_without_vector else ""
        query = f"SELECT count(*) FROM memories WHERE collection = ? {where}"
        (count,) = connection.execute(query, (self.collection,)).fetchone()
        return int(count)

    def delete(self, connection: sqlite3.Connection, memory_id: str) -> None:
        """Delete a row, if it is there."""
        connection.execute("DELETE FROM memories WHERE collection = ? AND id = ?", (self.collection, memory_id))

    def clear(self, connection: sqlite3.Connection) -> None:
        """Delete every row."""
        connection.execute("DELETE FROM memories WHERE collection = ?", (self.collection,))

    def _values(self, memory_id: str, payload: Mapping[str, Any], vector: bytes | None) -> tuple[Any, ...]:
        kept = {key: value for key, value in payload.items() if key != MATCH}
        return (
            self.collection,
            memory_id,
            *(str(payload.get(key) or "") for key in ("user_id", "agent_id", "run_id")),
            well_formed(str(payload.get("data") or "")),
            well_formed(json.dumps(kept, ensure_ascii=False, default=str)),
            vector,
        )
