"""How the marks of one message change: pure functions that the back ends share."""

from __future__ import annotations


def joined(marks: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """`new` goes to the end; what is there already stays where it is."""
    return tuple(dict.fromkeys((*marks, *new)))


def replaced(marks: tuple[str, ...], old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """`new` takes the place of `old`; without an old one it goes to the end; never twice."""
    if new and new == old:
        return marks
    if not old:
        return joined(marks, new)
    swapped = (new[0] if mark in old and new else mark for mark in marks if new or mark not in old)
    return tuple(dict.fromkeys(swapped))
