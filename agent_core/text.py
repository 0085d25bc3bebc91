"""Small, pure helpers for text that comes from people, models, tools and files."""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_ATTACHING_CATEGORIES = frozenset({"Mn", "Me", "Mc", "Sk", "Cf"})


def well_formed(text: str) -> str:
    """Return `text` with every lone surrogate replaced by U+FFFD.

    JSON, SQLite and UTF-8 files refuse lone surrogates, which terminals and models do produce; nothing that is stored
    may contain one.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Through UTF-16 a surrogate pair becomes the character it stands for; only lone halves are replaced.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def shorten(text: str, limit: int, ellipsis: str = "…") -> str:
    """Return `text` cut to at most `limit` characters, the ellipsis included, never inside an emoji sequence."""
    if len(text) <= limit:
        return text
    end = max(0, limit - len(ellipsis))
    while 0 < end < len(text) and _attaches(text, end):
        end -= 1
    return text[:end] + ellipsis


def first_line(text: str, limit: int = 200) -> str:
    """Return the first non-blank line of `text`, stripped and cut to `limit` characters."""
    # Looking at a bounded prefix keeps this cheap for a megabyte in one line.
    for line in text[: limit * 20].splitlines():
        if line.strip():
            return shorten(line.strip(), limit)
    return ""


def _attaches(text: str, index: int) -> bool:
    """Whether the character at `index` belongs to the grapheme before it."""
    return text[index - 1] == _ZERO_WIDTH_JOINER or unicodedata.category(text[index]) in _ATTACHING_CATEGORIES
