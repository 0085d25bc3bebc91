"""Checks of arguments that every back end makes before it touches its store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_core.marks import normalize_marks
from agent_core.message import Msg


def check_messages(memories: object) -> tuple[Msg, ...]:
    """Return messages as a tuple; None gives an empty one.

    Raises:
        TypeError: something is not a message; it is named.
    """
    if memories is None:
        return ()
    messages = (memories,) if isinstance(memories, Msg) else memories
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"memories must be a Msg, a list of Msg or None, not {memories!r}")
    for msg in messages:
        if not isinstance(msg, Msg):
            raise TypeError(f"memories must hold Msg only, not {msg!r}")
    return tuple(messages)


def check_ids(msg_ids: object) -> Sequence[str]:
    """Return ids as given.

    Raises:
        TypeError: they are not a list of str; the value is named.
    """
    if isinstance(msg_ids, str) or not isinstance(msg_ids, (list, tuple, set, frozenset)):
        raise TypeError(f"msg_ids must be a list of str, not {msg_ids!r}")
    for msg_id in msg_ids:
        if not isinstance(msg_id, str):
            raise TypeError(f"msg_ids must hold str only, not {msg_id!r}")
    return tuple(msg_ids)


def check_name(name: object, argument: str) -> str:
    """Return the name of a user or of a session as given.

    Raises:
        TypeError: it is not a str; the value is named.
    """
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be a str, not {name!r}")
    return name


def check_mark(mark: object, argument: str) -> tuple[str, ...]:
    """Return one mark, or none for None, as a tuple.

    Raises:
        TypeError: it is another type, or several; the value is named.
        ValueError: it is empty.
    """
    if mark is not None and not isinstance(mark, str):
        raise TypeError(f"{argument} must be one mark, not {mark!r}")
    return normalize_marks(mark, argument)


def check_marks_by_id(marks: object) -> dict[str, tuple[str, ...]]:
    """Return a table of all marks of each message, by its id.

    Raises:
        TypeError: it is no table, an id no str, or marks are of another type; the value is named.
        ValueError: a mark is empty.
    """
    if not isinstance(marks, Mapping):
        raise TypeError(f"marks must be a dict of message id to marks, not {marks!r}")
    return {
        msg_id: normalize_marks(its_marks)
        for msg_id, its_marks in zip(check_ids(list(marks)), marks.values(), strict=True)
    }


def check_summary(summary: object) -> str:
    """Return a summary as given.

    Raises:
        TypeError: it is not a str; the value is named.
    """
    if not isinstance(summary, str):
        raise TypeError(f"summary must be a str, not {summary!r}")
    return str.__str__(summary)
