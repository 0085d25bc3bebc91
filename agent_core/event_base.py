"""What all typed events share; `agent_core.event` has them all."""

from __future__ import annotations

from msgspec import Struct


def _tag(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Event(Struct, frozen=True, kw_only=True, tag=_tag, omit_defaults=True):
    """Base of all events.

    `seq` and `at` (seconds since the epoch) are set by the trace when the event is appended; `seq` is -1 before.
    `reply_id` names the reply that the event belongs to; None for what happens outside of one.
    """

    reply_id: str | None = None
    seq: int = -1
    at: float = 0.0


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one model call as the server reported them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )
