"""Asking a person yes or no, where there is one."""

from __future__ import annotations

import sys

from tui.literal_text import visible_line


def is_attended() -> bool:
    """Whether somebody is there to answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirms(question: str) -> bool:
    """Ask on standard error; anything but yes is a no, the end of the input too."""
    print(f"{visible_line(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
