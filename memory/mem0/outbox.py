"""`Outbox`: what is yet to be written to a memory, kept on disk until it is."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agent_core.errors import StorageError
from agent_core.text import well_formed
from memory.mem0.sqlite_file import set_aside_if_damaged

Message = dict[str, str]
"""One message as mem0 takes it: `role` and `content`."""

MOST_TRIES = 5
"""After so many an entry stays where it is, and is not tried any more."""
_LEASE = 600.0
"""Seconds after which an entry that was taken out and never settled may be taken again: its program has died."""
_PATIENCE = 5.0
_LAYOUT = """
CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    store TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
    messages TEXT NOT NULL, error TEXT NOT NULL,
    tries INTEGER NOT NULL, taken REAL NOT NULL, created REAL NOT NULL
);
"""


class Waiting(NamedTuple):
    """An exchange that waits to be written."""

    number: int
    agent: str
    messages: list[Message]
    tries: int


class Outbox:
    """A table in a file of its own: it must work when the store does not. The file is made when something waits.

    Args:
        path: the file.
        store: which memory the entries are for.
        user: whose.
    """

    def __init__(self, path: Path, store: str, user: str) -> None:
        self.path = path
        self._store = store
        self._user = user

    def put(self, messages: Sequence[Message], agent: str, error: str) -> None:
        """Keep an exchange. Quick; meant to be called where nothing can be awaited any more.

        Raises:
            StorageError: it cannot be kept either.
        """
        self._insert(messages, agent, error, tries=1, taken=0.0)

    def begin(self, messages: Sequence[Message], agent: str) -> int:
        """Keep an exchange that is about to be written, should the program die with it; its number, to settle it.

        Raises:
            StorageError: it cannot be kept.
        """
        return self._insert(messages, agent, "The program ended.", tries=0, taken=time.time())

    def take(self) -> list[Waiting]:
        """What may be tried again now; nobody else gets it until it is settled, or the program has died."""
        now = time.time()
        with self._open() as connection:
            rows = connection.execute(
                "UPDATE outbox SET taken = ? WHERE store = ? AND user = ? AND tries < ? AND taken < ?"
                " RETURNING number, agent, messages, tries",
                (now, self._store, self._user, MOST_TRIES, now - _LEASE),
            ).fetchall()
        return sorted(Waiting(number, agent, json.loads(text), tries) for number, agent, text, tries in rows)

    def settle(self, number: int, error: str = "") -> None:
        """An entry that was taken out has been written, or failed again."""
        with self._open() as connection:
            if error:
                query = "UPDATE outbox SET tries = tries + 1, taken = 0, error = ? WHERE number = ?"
                connection.execute(query, (well_formed(error), number))
            else:
                connection.execute("DELETE FROM outbox WHERE number = ?", (number,))

    def release(self, numbers: Iterable[int]) -> None:
        """Entries that were taken out have not been tried after all."""
        with self._open() as connection:
            connection.executemany("UPDATE outbox SET taken = 0 WHERE number = ?", [(number,) for number in numbers])

    def count(self) -> int:
        """How many entries of this user there are, in whatever state."""
        with self._open() as connection:
            query = "SELECT count(*) FROM outbox WHERE store = ? AND user = ?"
            (count,) = connection.execute(query, (self._store, self._user)).fetchone()
        return int(count)

    def purge(self) -> int:
        """Forget all entries of this user, and leave nothing of them in the file; how many there were."""
        with self._open() as connection:
            query = "DELETE FROM outbox WHERE store = ? AND user = ?"
            count = connection.execute(query, (self._store, self._user)).rowcount
        if count:
            with self._open() as connection:
                connection.execute("VACUUM")
        return count

    def _insert(self, messages: Sequence[Message], agent: str, error: str, *, tries: int, taken: float) -> int:
        values = (self._store, self._user, agent, _dump(messages), well_formed(error), tries, taken, time.time())
        with self._open(make=True) as connection:
            cursor = connection.execute(
                "INSERT INTO outbox (store, user, agent, messages, error, tries, taken, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        return cursor.lastrowid or 0

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        """The file; an empty one in RAM while there is none."""
        is_there = self.path.exists()
        place = str(self.path) if make or is_there else ":memory:"
        try:
            if make:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = self._connect(place)
            try:
                if make and not is_there:
                    self.path.chmod(0o600)
                yield connection
            finally:
                connection.close()
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"What could not be written cannot be kept in {self.path} either: {error}") from error

    def _connect(self, place: str) -> sqlite3.Connection:
        try:
            return _connected(place)
        except sqlite3.DatabaseError:
            # Nothing can be had of a damaged file, and it must not stand in the way of what comes.
            if not set_aside_if_damaged(self.path):
                raise
            return _connected(place)


def _connected(place: str) -> sqlite3.Connection:
    connection = sqlite3.connect(place, timeout=_PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.executescript(_LAYOUT)
    except BaseException:
        connection.close()
        raise
    return connection


def _dump(messages: Sequence[Message]) -> str:
    return well_formed(json.dumps(messages, ensure_ascii=False))
