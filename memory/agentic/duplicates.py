"""Memories that say what is said elsewhere. They are pointed out, never removed."""

from __future__ import annotations

from collections.abc import Iterable

from memory.agentic.memory_file import MemoryFile

_SHORTEST = 20
"""Characters: shorter texts turn up in others by chance."""


def twins(file: MemoryFile, files: Iterable[MemoryFile]) -> list[str]:
    """The other files that have the description or the body of this one."""
    description = _plain(file.description)
    return [
        other.relative
        for other in files
        if other.path != file.path
        and (
            (description and _plain(other.description) == description)
            or (file.body_hash and other.body_hash == file.body_hash)
        )
    ]


def is_said_in(body: str, instructions: str) -> bool:
    """Whether all that a memory says is in the instructions of the agent already."""
    text = _plain(body)
    return len(text) >= _SHORTEST and text in _plain(instructions)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
