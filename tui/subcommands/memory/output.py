"""What the actions print: lines for people, or JSON, one value a line."""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from itertools import accumulate
from typing import Any

from tui.literal_text import harmless_json, visible, visible_line

_FROM = {"user": "by you", "model": "by the model", "tool": "from a tool", "outside": "from outside"}


class Output:
    """Prints one form or the other; an action hands over both, and only the one that is wanted is printed.

    Args:
        as_json: whether it is JSON.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def value(self, value: Any) -> None:
        """Print a value, where JSON is wanted."""
        if self.as_json:
            print(harmless_json(json.dumps(value, ensure_ascii=False)))

    def line(self, text: str = "") -> None:
        """Print one line for people; whatever could act on a terminal is only seen."""
        if not self.as_json:
            print(visible_line(text))

    def row(self, text: str) -> None:
        """Print a line of a table, on a terminal no wider than that."""
        if not self.as_json:
            text = visible_line(text)
            print(_cut(text, shutil.get_terminal_size().columns) if sys.stdout.isatty() else text)

    def text(self, text: str) -> None:
        """Print a text of several lines for people."""
        if not self.as_json and text:
            print(visible(text).rstrip("\n"))

    def warn(self, text: str) -> None:
        """Tell people something beside the output, whichever form that has."""
        print(f"mnemoscope: {visible_line(text)}", file=sys.stderr)


def origin_text(origin: str) -> str:
    """Who did something, or where something came from."""
    return _FROM.get(origin, origin)


def padded(text: str, width: int) -> str:
    """One line of text filled up to so many cells of a terminal."""
    text = visible_line(text)
    return text + " " * (width - _cells(text))


def widest(texts: list[str], limit: int) -> int:
    """How many cells a column of texts takes, up to a limit."""
    return min(limit, max((_cells(visible_line(text)) for text in texts), default=0))


def counted(number: int, what: str, several: str = "") -> str:
    """A number of things: `1 memory`, `2 memories`."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def _cells(text: str) -> int:
    return sum(map(_width, text))


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _cut(text: str, width: int) -> str:
    if _cells(text) <= width:
        return text
    ends = accumulate(map(_width, text))
    return text[: sum(end < width for end in ends)] + "…"
