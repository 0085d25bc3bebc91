"""What can go wrong with mem0, in words for people."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator

from agent_core.errors import MnemoscopeError, StorageError
from agent_core.text import first_line


class ExtractionError(MnemoscopeError):
    """The model's answer held no list of memories in JSON, also when asked a second time."""


_HELD = re.compile(r"Storage folder (.+?) is already accessed")
_PLATFORM = {
    "AuthenticationError": "Mem0 Platform refused the API key: check MEM0_API_KEY",
    "MemoryQuotaExceededError": "Mem0 Platform: the quota is used up",
    "MemoryNotFoundError": "there is no memory of that id",
    "NetworkError": "Mem0 Platform cannot be reached",
}
"""What mem0's own exceptions mean, by the name of their class: their module is imported only when mem0 is used."""


def explain(error: BaseException, doing: str) -> MnemoscopeError:
    """An error of ours for whatever came out of mem0, with the cause attached.

    Args:
        error: what was raised.
        doing: what was tried, such as `search the memories`.
    """
    for cause in _causes(error):
        if isinstance(cause, MnemoscopeError):
            return cause
    explained = StorageError(_in_words(error, doing))
    explained.__cause__ = error
    return explained


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _in_words(error: BaseException, doing: str) -> str:
    text = first_line(str(error))
    if held := _HELD.search(str(error)):
        return f"Another process holds {held[1]}: long-term memory is off here until it lets go."
    if isinstance(error, TimeoutError):
        return f"mem0 took too long to {doing}{': ' + text if text else ''}."
    if isinstance(error, sqlite3.OperationalError) and "locked" in text:
        return f"Another program keeps the memory's database locked: mem0 could not {doing}."
    if isinstance(error, asyncio.CancelledError):
        return f"mem0 gave up: it could not {doing}{': ' + text if text else ''}."
    name = type(error).__name__
    if name == "RateLimitError":
        seconds = (getattr(error, "debug_info", None) or {}).get("retry_after")
        return f"Mem0 Platform limits the rate{f': try again in {seconds} s' if seconds else ''}."
    if name in _PLATFORM:
        return f"{_PLATFORM[name]}{f' ({text})' if text else ''}."
    return f"mem0 could not {doing}: {name}{': ' + text if text else ''}"
