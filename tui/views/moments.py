"""Moments in local time."""

from __future__ import annotations

from datetime import datetime


def moment(at: float) -> str:
    """Date and time of seconds since the epoch."""
    return _formatted(at, "%Y-%m-%d %H:%M:%S")


def clock(at: float) -> str:
    """The time alone, eight characters wide."""
    return _formatted(at, "%H:%M:%S")


def _formatted(at: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(at).strftime(form)
    except (OverflowError, OSError, ValueError):
        return "unknown "
