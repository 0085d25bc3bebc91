"""`VectorCache`: vectors kept between runs, so that no text is embedded twice."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from memory.search.vectors import Vector

T = TypeVar("T")

VERSION = 1
"""Of the file's layout."""

_PATIENCE = 5.0
"""Seconds to wait for another program that writes."""
_AT_ONCE = 500
_LAYOUT = f"""
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, digest)
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

_log = logging.getLogger(__name__)


class VectorCache:
    """Vectors in a SQLite file, by model and by a hash of the text. Several threads and programs may use it at once.

    It never fails, for all that it holds can be made again: a file that is damaged, or of another version, is set aside
    under another name; one that cannot be used is done without.

    Args:
        path: the file; made when it is needed, with its folders. One for each collection of texts, or they would drop
            each other's.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._last_problem = ""
        self._is_closed = False

    def get(self, model_id: str, texts: Iterable[str]) -> dict[str, Vector]:
        """What is kept of these texts."""
        by_digest = {digest_of(text): text for text in texts}
        return self._use(lambda connection: _read(connection, model_id, by_digest)) or {}

    def put(self, model_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of texts."""
        rows = [(model_id, digest_of(text), _to_bytes(vector)) for text, vector in vectors.items()]
        self._use(lambda connection: _change(connection, "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows))

    def discard(self, digests: Iterable[bytes]) -> None:
        """Keep nothing any longer of texts with these digests, of no model."""
        rows = [(digest,) for digest in digests]
        if rows:
            self._use(lambda connection: _change(connection, "DELETE FROM vectors WHERE digest = ?", rows))

    def keep_only(self, digests: Iterable[bytes]) -> None:
        """Keep nothing of any texts but those with these digests."""
        rows = [(digest,) for digest in digests]
        self._use(lambda connection: _keep_only(connection, rows))

    def close(self) -> None:
        """Let go of the file for good: from now on nothing is found and nothing kept."""
        with self._lock:
            self._is_closed = True
            self._disconnect()

    def _use(self, function: Callable[[sqlite3.Connection], T]) -> T | None:
        """Give the file to a function, a new file when this one is damaged; None when there is none to be had."""
        with self._lock:
            if self._is_closed:
                return None
            try:
                try:
                    return function(self._connect())
                except sqlite3.DatabaseError as error:
                    if error.sqlite_errorcode not in _DAMAGED:
                        raise
                    self._set_aside()
                    return function(self._connect())
            except (sqlite3.Error, OSError) as error:
                self._disconnect()
                self._tell(error)
                return None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                self._set_aside()
                self._connection = self._open()
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(_LAYOUT)
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Made for nobody else to read: a vector tells what its text was about. Not opened when it is there: closing it
        # would drop the locks that SQLite holds on it in this process.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _set_aside(self) -> None:
        self._disconnect()
        number = 1
        while (target := self.path.with_name(f"{self.path.name}.bad-{number}")).exists():
            number += 1
        self.path.rename(target)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        _log.warning("%s was damaged or of another version; it is now %s", self.path, target.name)

    def _tell(self, error: Exception) -> None:
        problem = f"{self.path} cannot be used, vectors are not kept: {error}"
        if problem != self._last_problem:
            self._last_problem = problem
            _log.warning(problem)


def digest_of(text: str) -> bytes:
    """What tells a text from all others without telling what it says."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _read(connection: sqlite3.Connection, model_id: str, texts: Mapping[bytes, str]) -> dict[str, Vector]:
    import numpy as np

    found: dict[str, Vector] = {}
    digests = list(texts)
    for start in range(0, len(digests), _AT_ONCE):
        batch = digests[start : start + _AT_ONCE]
        places = ", ".join("?" * len(batch))
        query = f"SELECT digest, vector FROM vectors WHERE model = ? AND digest IN ({places})"
        for digest, vector in connection.execute(query, (model_id, *batch)):
            found[texts[digest]] = np.frombuffer(vector, dtype="<f4")
    return found


def _change(connection: sqlite3.Connection, statement: str, rows: Iterable[tuple[str | bytes, ...]]) -> None:
    with connection:
        connection.executemany(statement, rows)


def _keep_only(connection: sqlite3.Connection, rows: Iterable[tuple[bytes]]) -> None:
    with connection:
        connection.execute("CREATE TEMPORARY TABLE IF NOT EXISTS kept (digest BLOB PRIMARY KEY) WITHOUT ROWID")
        connection.execute("DELETE FROM kept")
        connection.executemany("INSERT OR IGNORE INTO kept VALUES (?)", rows)
        connection.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM kept)")
        connection.execute("DELETE FROM kept")


def _to_bytes(vector: Vector) -> bytes:
    import numpy as np

    return np.asarray(vector, dtype="<f4").tobytes()
