"""Searching with a regular expression that somebody wrote: it cannot stall the program, however it backtracks."""

from __future__ import annotations

import re

from agent_core.time_limit import TimeLimitExceeded, limits_here, time_limit

SECONDS = 0.2
"""How long one search may take."""
_CHARACTERS = 100_000
_CHARACTERS_WITHOUT_LIMIT = 500
"""Where time cannot be limited, the text must be: so much of it."""


class PatternTooSlow(Exception):
    """The search did not end in time; such a pattern tries too many ways to match."""


def found_in(pattern: str, text: str) -> bool:
    """Whether `pattern` is found somewhere in the beginning of `text`, upper and lower case being the same.

    Raises:
        PatternTooSlow: that could not be told in time.
    """
    compiled = re.compile(pattern, re.IGNORECASE)
    if not limits_here():
        return compiled.search(text[:_CHARACTERS_WITHOUT_LIMIT]) is not None
    try:
        with time_limit(SECONDS):
            return compiled.search(text[:_CHARACTERS]) is not None
    except TimeLimitExceeded:
        raise PatternTooSlow(f"{pattern!r} takes longer than {SECONDS} s") from None
