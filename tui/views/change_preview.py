"""What a change would concern, said before it happens: how many messages, which ones, how many tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent_core.marks import Entry
from agent_core.tokens import estimate_message_tokens
from tui.views.figures import estimated, plural
from tui.views.message_text import preview, speaker

_SHOWN = 5


class Numbered(NamedTuple):
    """A stored message and its number, from 1."""

    number: int
    entry: Entry


def concerned(messages: Sequence[Numbered]) -> str:
    """How many messages and tokens: `2 messages, ≈10 tokens`."""
    tokens = sum(estimate_message_tokens(one.entry.msg) for one in messages)
    return f"{plural(len(messages), 'message')}, {estimated(tokens)} tokens"


def message_lines(messages: Sequence[Numbered], limit: int | None = _SHOWN) -> list[str]:
    """One line for each message, the first ones at most; the last line says how many more there are."""
    shown = messages if limit is None or len(messages) <= limit else messages[: limit - 1]
    width = max((len(str(one.number)) for one in shown), default=0)
    lines = [f"{one.number:>{width}} {speaker(one.entry.msg)}: {preview(one.entry.msg)}" for one in shown]
    rest = len(messages) - len(shown)
    return [*lines, f"… and {rest} more"] if rest else lines
