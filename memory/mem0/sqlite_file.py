"""The file of the default store: how it is opened, its layout, and which embedding model it was made with."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from agent_core.errors import StorageError

VERSION = 1
"""Of the layout."""
PATIENCE = 30.0
"""Seconds to wait for another program that writes."""
_PAUSE = 0.02

_LAYOUT = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    run TEXT NOT NULL,
    text TEXT NOT NULL,
    payload TEXT NOT NULL,
    vector BLOB,
    UNIQUE (collection, id)
);
CREATE INDEX IF NOT EXISTS memories_of_owner ON memories (collection, owner);
PRAGMA user_version = {VERSION};
"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class MadeWith(NamedTuple):
    """The embedding model behind the vectors of a file, and their length; empty and 0 when there are no vectors."""

    model: str = ""
    dimensions: int = 0

    def __str__(self) -> str:
        return f"{self.model} ({self.dimensions} dimensions)"


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, made with its folder when it is not there, for this user alone to read.

    Raises:
        StorageError: it cannot be opened, or its layout is a newer one.
        sqlite3.DatabaseError: it is damaged.
    """
    is_new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
    except (OSError, sqlite3.OperationalError) as error:
        raise StorageError(f"{path} cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    try:
        _use_write_ahead_log(connection)
        if is_new:
            # By name: opening and closing the file here would drop the locks of every connection in this process.
            path.chmod(0o600)
        # What is deleted is overwritten, so that nothing can be read from the file that is not in it any more.
        connection.execute("PRAGMA secure_delete = ON")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StorageError(f"{path} was written by a newer version of this program (layout {version}): update it.")
        if version < VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_LAYOUT} COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers and a writer go on side by side. This statement alone does not wait for others by itself."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction that writes: it waits for other programs first, and is undone when it fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def made_with(connection: sqlite3.Connection) -> MadeWith:
    """What the vectors in the file were made with."""
    values = dict(connection.execute("SELECT key, value FROM meta"))
    return MadeWith(values.get("model", ""), int(values.get("dimensions", 0)))


def note_made_with(connection: sqlite3.Connection, made: MadeWith) -> None:
    """Write down what the vectors are made with from now on. Goes into a transaction."""
    facts = {"model": made.model, "dimensions": str(made.dimensions), "created": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())


def drop_vectors(path: Path, made: MadeWith) -> None:
    """Drop all vectors of a file, to be made anew by another model.

    Raises:
        StorageError: the file cannot be opened.
    """
    with closing(connect(path)) as connection, writing(connection):
        # As new rows, so that programs that hold the old ones in RAM notice.
        connection.execute(
            "INSERT OR REPLACE INTO memories (collection, id, owner, agent, run, text, payload, vector)"
            " SELECT collection, id, owner, agent, run, text, payload, NULL FROM memories ORDER BY number"
        )
        note_made_with(connection, made)


def rewrite(connection: sqlite3.Connection) -> bool:
    """Write a file anew, so that nothing can be read from it that was deleted; False while somebody still reads it."""
    connection.execute("VACUUM")
    is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


def purge(path: Path, owner: str) -> tuple[set[str], set[str], bool]:
    """Delete every row of a user from a file.

    Returns: the ids that they had, those of everybody else, and what `rewrite` says.

    Raises:
        StorageError: the file cannot be opened or written.
    """
    if not path.exists():
        return set(), set(), True
    try:
        with closing(connect(path)) as connection:
            with writing(connection):
                rows = connection.execute("SELECT id, owner FROM memories").fetchall()
                connection.execute("DELETE FROM memories WHERE owner = ?", (owner,))
            mine = {memory_id for memory_id, its_owner in rows if its_owner == owner}
            return mine, {memory_id for memory_id, _ in rows} - mine, rewrite(connection)
    except sqlite3.Error as error:
        raise StorageError(f"{path} could not be purged: {error}") from error


def set_aside_if_damaged(path: Path) -> str:
    """Move a damaged SQLite file out of the way; what was done, one line for people, or empty when it is sound.

    Raises:
        OSError: it is damaged and cannot be moved.
    """
    if not path.exists() or not _is_damaged(path):
        return ""
    target = path.with_name(f"{path.name}.bad-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(target)
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return f"{path} is damaged: it was moved to {target.name}, and an empty one is begun."


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF in _DAMAGED
