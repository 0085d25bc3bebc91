"""A message as the JSON text that the stores keep, and back."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from agent_core.message import ContentBlock, Msg, Role

DAMAGED_MESSAGE = "holds a message that is damaged: put back a copy, or name another store"
"""What is said of a store in which a body cannot be decoded."""


class _Body(Struct, omit_defaults=True):
    id: str
    name: str
    role: Role
    created_at: float
    content: str | list[ContentBlock]
    metadata: dict[str, Any] | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Body)


def encode_body(msg: Msg) -> str:
    """The JSON text of a message.

    Raises:
        TypeError: its id or metadata hold what JSON cannot; the message is named.
    """
    body = _Body(msg.id, msg.name, msg.role, msg.created_at, msg.content, msg.metadata or None)
    try:
        return _encoder.encode(body).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"message {msg.id!r} cannot be written as JSON: {error}") from error


def decode_body(text: str | bytes) -> Msg:
    """The message in a JSON text.

    Raises:
        DecodeError: it is none.
    """
    body = _decoder.decode(text)
    return Msg.trusted(body.name, body.content, body.role, body.metadata, id=body.id, created_at=body.created_at)
