"""Forgetting a user: everything that mem0 and we hold of them, not only what a search would find."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent_core.errors import StorageError
from memory.mem0.sqlite_file import rewrite

_PATIENCE = 30.0


class Purged(Struct, frozen=True, kw_only=True):
    """What was forgotten, as numbers of rows.

    Args:
        memories: in the store.
        history: what mem0 had written down of their changes, old texts among it; memories deleted earlier included.
        messages: whole messages that mem0 had kept for its next extraction.
        waiting: exchanges that were still to be written.
        left: what could not be reached, one line for people; empty when nothing is left.
    """

    memories: int = 0
    history: int = 0
    messages: int = 0
    waiting: int = 0
    left: str = ""

    def __str__(self) -> str:
        parts = [
            f"{self.memories} memories",
            f"{self.history} rows of history",
            f"{self.messages} kept messages",
            f"{self.waiting} waiting writes",
        ]
        return f"Forgotten: {', '.join(parts)}.{f' {self.left}' if self.left else ''}"


def history_file(client: Any) -> Path | None:
    """The history file of an `AsyncMemory`; None for other clients, and where it lies in RAM."""
    path = getattr(getattr(client, "config", None), "history_db_path", None)
    return Path(path).expanduser() if isinstance(path, str) and path != ":memory:" else None


def purge_history(
    path: Path, user: str, memory_ids: Collection[str], kept_ids: Collection[str]
) -> tuple[int, int, bool]:
    """Delete a user's rows from mem0's history file, and shrink it.

    Args:
        path: the file.
        user: whose messages go.
        memory_ids: the user's memories, whose history goes.
        kept_ids: the memories of everybody else; history that belongs to no memory any more goes as well, since nobody
            can tell whose it was.

    Returns: how many rows of history and how many messages there were, and what `sqlite_file.rewrite` says.

    Raises:
        StorageError: it cannot be written.
    """
    if not path.exists():
        return 0, 0, True
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            history = _delete_history(connection, set(memory_ids), set(kept_ids))
            messages = _delete_messages(connection, user)
            is_rewritten = rewrite(connection)
    except sqlite3.Error as error:
        raise StorageError(f"{path} could not be purged: {error}") from error
    return history, messages, is_rewritten


def _delete_history(connection: sqlite3.Connection, memory_ids: set[str], kept_ids: set[str]) -> int:
    known = {memory_id for (memory_id,) in connection.execute("SELECT DISTINCT memory_id FROM history")}
    doomed = (known & memory_ids) | (known - kept_ids)
    return _delete(connection, "DELETE FROM history WHERE memory_id IS ?", doomed)


def _delete_messages(connection: sqlite3.Connection, user: str) -> int:
    scopes = {scope for (scope,) in connection.execute("SELECT DISTINCT session_scope FROM messages")}
    part = f"user_id={_escaped(user)}"
    return _delete(
        connection, "DELETE FROM messages WHERE session_scope IS ?", {s for s in scopes if s and part in s.split("&")}
    )


def _delete(connection: sqlite3.Connection, statement: str, values: Iterable[str | None]) -> int:
    connection.execute("BEGIN IMMEDIATE")
    count = sum(connection.execute(statement, (value,)).rowcount for value in values)
    connection.execute("COMMIT")
    return count


def _escaped(user: str) -> str:
    """A user's id as mem0 writes it into the scope of a message."""
    return user.replace("%", "%25").replace("&", "%26").replace("=", "%3D")
