"""Long texts cut for the screen, with a note that says how much there is."""

from __future__ import annotations

from typing import NamedTuple


class Clipped(NamedTuple):
    """What is shown of a text, and a note on the rest; the note is empty when all of it is shown."""

    text: str
    note: str


def clip(text: str, max_lines: int, max_characters: int) -> Clipped:
    """The beginning of `text`, whole lines where possible."""
    shown = text[:max_characters]
    lines = shown.split("\n")
    shown = "\n".join(lines[:max_lines])
    if len(shown) == len(text):
        return Clipped(text, "")
    return Clipped(shown, f"… {size_in_words(text)} in all; only the beginning is shown")


def size_in_words(text: str) -> str:
    """How long a text is: `12 lines, 3,400 characters`."""
    lines, characters = text.count("\n") + 1, len(text)
    return f"{lines:,} line{'s' * (lines != 1)}, {characters:,} character{'s' * (characters != 1)}"
