"""What Redis says when it fails, as one line for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import DecodeError
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeout

from agent_core.errors import StorageError
from agent_core.text import first_line
from memory.working.body import DAMAGED_MESSAGE
from memory.working.redis.scripts import SCHEMA

_BY_CODE = {
    "OOM": "is full: raise its maxmemory, or delete something",
    "MISCONF": "cannot save to its disk and so takes nothing new: free space there",
    "READONLY": "is a replica, which cannot be written: name the primary server",
    "LOADING": "is still loading its data: try again in a moment",
    "BUSY": "is busy with another script: try again in a moment",
    "NOPERM": "refuses this user: grant it the right to run scripts on these keys",
}


@contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Turn what Redis raises inside into a `StorageError` that says what happened at `where`."""
    try:
        yield
    except (RedisError, OSError, DecodeError) as error:
        raise StorageError(f"{where} {_explained(error)}") from error


def _explained(error: Exception) -> str:
    if isinstance(error, DecodeError):
        return DAMAGED_MESSAGE
    text = first_line(str(error))
    if "MNEMOSCOPE_SCHEMA" in text:
        theirs = text.partition("MNEMOSCOPE_SCHEMA ")[2].partition(" ")[0]
        return (
            f"was written by another version of Mnemoscope (schema {theirs}, this one knows {SCHEMA}): "
            "use that version, or name another store"
        )
    # The code stands in front, or is gone from the text where it has a class of its own.
    for code, explanation in _BY_CODE.items():
        if text.startswith(code) or type(error).__name__ == _CLASSES.get(code):
            return explanation
    # Before a login the server does not even read a long command to its end.
    if isinstance(error, AuthenticationError) or "unauthenticated" in text:
        return "refused the login: check user and password"
    if isinstance(error, RedisTimeout | TimeoutError):
        return "does not answer: is the server running?"
    if isinstance(error, RedisConnectionError | OSError):
        return f"cannot be reached ({_reason(error) or text}): is the server running?"
    return f"failed: {text}"


def _reason(error: Exception) -> str:
    """What the system says; Redis puts the address around it, which stands there already."""
    cause = error.__cause__ or error.__context__ or error
    return os.strerror(cause.errno).lower() if isinstance(cause, OSError) and cause.errno and cause.errno > 0 else ""


_CLASSES = {
    "OOM": "OutOfMemoryError",
    "READONLY": "ReadOnlyError",
    "LOADING": "BusyLoadingError",
    "NOPERM": "NoPermissionError",
}
