"""Standard input of a command that is started by people, by pipes, and by programs that leave it open unused."""

from __future__ import annotations

import os
import sys
import threading

_PATIENCE = 5.0
"""Seconds in which something must come, unless it is waited for."""
_PIECE = 1 << 16


class NothingCame(Exception):
    """Nothing has come yet, and nobody said that something will."""


def read_piped(*, awaited: bool) -> str:
    """All of standard input as text; empty where it is a terminal, closed, or none of the system's.

    Args:
        awaited: wait as long as it takes; otherwise only what begins to come soon is read, and then all of it.

    Raises:
        NothingCame: not awaited, and it is open and silent, as what cron or a parent program hands down may be.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):
        # What a program has put in its place, such as a notebook or a test: nobody pipes anything into that.
        return ""
    begun, pieces = threading.Event(), list[bytes]()

    def read(descriptor: int) -> None:
        try:
            while piece := os.read(descriptor, _PIECE):
                pieces.append(piece)
                begun.set()
        except OSError:
            # Such as the terminal of another session: what has come is all there is.
            pass
        begun.set()

    # A thread, since no other way to give up works for pipes on every system.
    reader = threading.Thread(target=read, args=(source,), daemon=True)
    reader.start()
    if not begun.wait(None if awaited else _PATIENCE):
        raise NothingCame
    reader.join()
    return b"".join(pieces).decode("utf-8", "replace")
