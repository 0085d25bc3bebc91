"""What about a change of a memory file makes it worth asking a person first."""

from __future__ import annotations

from memory.agentic.secret_shapes import find_secrets

_SMALL = 100
"""Bytes: a smaller file may shrink as it likes."""


def find_concerns(before: bytes | None, after: bytes | None) -> list[str]:
    """What is worth asking about, a phrase for people each; none for most changes.

    Args:
        before: what the file holds; None when there is none.
        after: what it is to hold.
    """
    concerns: list[str] = []
    known = {secret.mark for secret in find_secrets(_text(before))}
    for secret in find_secrets(_text(after)):
        if secret.mark not in known:
            known.add(secret.mark)
            concerns.append(f"line {secret.line} holds what looks like {secret.kind}")
    old, new = len(before or b""), len(after or b"")
    if old >= _SMALL and new * 2 < old:
        concerns.append(f"{old - new:,} of its {old:,} bytes are removed")
    return concerns


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace")
