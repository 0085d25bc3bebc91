"""Numbers as people read them at a glance."""

from __future__ import annotations

_HEX_DIGITS = frozenset("0123456789abcdefABCDEF-")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def short_count(number: int) -> str:
    """`950`, `3.1k`, `12k`, `1.2M`."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        # What would be rounded up to the next unit belongs there.
        if number >= limit * 0.9995 and number >= 1_000:
            scaled = number / limit
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return str(number)


def estimated(tokens: int) -> str:
    """Tokens that were estimated: `≈3.1k`."""
    return f"≈{short_count(tokens)}"


def span(seconds: float) -> str:
    """A stretch of time: `40 ms`, `0.4 s`, `12 s`, `3 min`."""
    seconds = max(0.0, seconds)
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE else f"{seconds / _MINUTE:.0f} min"


def age(seconds: float) -> str:
    """How long ago something happened: `now`, `5 min`, `3 h`, `12 d`, `2 y`."""
    if seconds < _MINUTE:
        return "now"
    for limit, unit_seconds, unit in ((_HOUR, _MINUTE, "min"), (_DAY, _HOUR, "h"), (365 * _DAY, _DAY, "d")):
        if seconds < limit:
            return f"{seconds / unit_seconds:.0f} {unit}"
    return f"{seconds / (365 * _DAY):.0f} y"


def short_id(id: str) -> str:
    """As much of an id as tells it from others: the beginning of a random one, both ends of one that people made up."""
    is_random = len(id) >= 32 and not set(id) - _HEX_DIGITS
    return id[:8] if is_random else id if len(id) <= 20 else f"{id[:8]}…{id[-8:]}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """`1 message`, `2 messages`; `nouns` is the plural where that is not made with an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or f'{noun}s'}"
