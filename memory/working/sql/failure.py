"""What a database says when it fails, as one line for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import DecodeError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from agent_core.errors import StorageError
from agent_core.text import first_line
from memory.working.body import DAMAGED_MESSAGE

_LOCKED = "is locked by another program: close that, or try again"
_READ_ONLY = "cannot be written, it is read-only: check the permissions of the file and its folder"
_FULL = "cannot be written, the disk is full: free some space"
_CLOSED = "closed the connection: is the server running?"
_LOGIN = "refused the login: check user and password"

_SQLITE = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_FULL": _FULL,
    "SQLITE_CANTOPEN": "cannot be opened: check that its folder exists and can be written",
    "SQLITE_NOTADB": "is not an SQLite database: name another file",
    "SQLITE_CORRUPT": "is damaged: put back a copy, or name another file",
    "SQLITE_IOERR": "cannot be read or written, the disk reports an error",
}
_POSTGRESQL = {
    "53100": _FULL,
    "25006": "cannot be written, it is read-only",
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "28": _LOGIN,
    "3D": "does not exist: create it first, with createdb",
    "42501": "refuses this user: grant it the right to create tables",
    "08": _CLOSED,
    "57P": _CLOSED,
}


@contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Turn what the database raises inside into a `StorageError` that says what happened at `where`."""
    try:
        yield
    except (DBAPIError, PoolTimeout, sqlite3.Error, OSError, DecodeError) as error:
        raise StorageError(f"{where} {_explained(error)}") from error
    except Exception as error:
        # What asyncpg raises while it connects reaches us as it is.
        if not hasattr(error, "sqlstate"):
            raise
        raise StorageError(f"{where} {_explained(error)}") from error


def _explained(error: Exception) -> str:
    if isinstance(error, DecodeError):
        return DAMAGED_MESSAGE
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    for code, words in ((_code(origin, "sqlite_errorname"), _SQLITE), (_code(origin, "sqlstate"), _POSTGRESQL)):
        for start, explanation in words.items():
            if code.startswith(start):
                return explanation
    if isinstance(origin, PoolTimeout | TimeoutError):
        return "does not answer: is the server running?"
    if isinstance(origin, OSError):
        return f"cannot be reached ({first_line(str(origin))}): is the server running?"
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return _CLOSED
    return f"failed: {first_line(str(origin))}"


def _code(error: BaseException, attribute: str) -> str:
    return str(getattr(error, attribute, None) or "")
