"""Moments in local time."""

from __future__ import annotations

from datetime import datetime


def moment(at: float) -> str:
    """Date and time of seconds since the epoch."""
    return local_time(at, "%Y-%m-%d %H:%M:%S")


def minute(at: float) -> str:
    """Date and time to the minute."""
    return local_time(at, "%Y-%m-%d %H:%M")


def clock(at: float) -> str:
    """The time alone, eight characters wide."""
    return local_time(at, "%H:%M:%S")


def local_time(at: float, form: str) -> str:
    """Seconds since the epoch in a form of `strftime`; a file or a record may tell a time that no calendar has."""
    try:
        return datetime.fromtimestamp(at).strftime(form)
    except (OverflowError, OSError, ValueError):
        return "unknown "
