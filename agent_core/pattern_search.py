"""Searching with a regular expression that somebody wrote: it cannot stall the program, however it backtracks."""

from __future__ import annotations

import re

from agent_core.search_process import SearchProcess, TimeLimitExceeded

SECONDS = 0.2
"""How long one search may take."""
_CHARACTERS = 100_000
_REPEATS = re.compile(r"[*+?{]|\\[1-9]")
"""What lets one pattern match in ever more ways: repetition, and groups that are referred to."""
_FEW = 128
"""So many steps at each character of a long text take about as long as one search may."""
_elsewhere = SearchProcess()


class PatternTooSlow(Exception):
    """The search did not end in time; such a pattern tries too many ways to match."""


def found_in(pattern: str, text: str) -> bool:
    """Whether `pattern` is found somewhere in the beginning of `text`, upper and lower case being the same.

    Raises:
        PatternTooSlow: that could not be told in time.
    """
    beginning = text[:_CHARACTERS]
    if _is_cheap(pattern):
        return re.search(pattern, beginning, re.IGNORECASE) is not None
    try:
        return _elsewhere.is_found(pattern, beginning, SECONDS)
    except TimeLimitExceeded:
        raise PatternTooSlow(f"{pattern!r} takes longer than {SECONDS} s") from None


def _is_cheap(pattern: str) -> bool:
    """Whether a search need not be limited: nothing repeats, and each choice doubles the ways to match at most."""
    return _REPEATS.search(pattern) is None and len(pattern) << pattern.count("|") <= _FEW
