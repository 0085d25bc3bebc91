"""Checks of arguments that every back end makes before it touches its store."""

from __future__ import annotations

from collections.abc import Sequence

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
