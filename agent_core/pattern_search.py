"""Searching with a regular expression that somebody wrote: it cannot stall the program, however it backtracks."""

from __future__ import annotations

import re

from agent_core.search_process import SearchProcess
from agent_core.time_limit import TimeLimitExceeded, limits_here, time_limit

SECONDS = 0.2
"""How long one search may take."""
_CHARACTERS = 100_000
_elsewhere = SearchProcess()
"""Where nothing can interrupt a search in this process: on Windows, and in threads other than the main one."""


class PatternTooSlow(Exception):
    """The search did not end in time; such a pattern tries too many ways to match."""


def found_in(pattern: str, text: str) -> bool:
    """Whether `pattern` is found somewhere in the beginning of `text`, upper and lower case being the same.

    Raises:
        PatternTooSlow: that could not be told in time.
    """
    compiled = re.compile(pattern, re.IGNORECASE)
    beginning = text[:_CHARACTERS]
    try:
        if not limits_here():
            return _elsewhere.is_found(pattern, beginning, SECONDS)
        with time_limit(SECONDS):
            return compiled.search(beginning) is not None
    except TimeLimitExceeded:
        raise PatternTooSlow(f"{pattern!r} takes longer than {SECONDS} s") from None
