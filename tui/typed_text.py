"""Text from the command line, whatever the locale made of its bytes."""

from __future__ import annotations

import os


def typed_text(word: str) -> str:
    """A word of the command line as text: bytes that the locale could not read are read as UTF-8 where they are that.

    Not for paths: as the locale has them is how they open.
    """
    if word.isascii():
        return word
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word
