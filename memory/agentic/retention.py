"""How much of its history a memory keeps."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from memory.agentic.journal_entry import JournalEntry

_SLACK = 5 / 4


class Retention(Struct, frozen=True, kw_only=True):
    """The limits of a journal. What is older than they allow is dropped, oldest first.

    Dropping waits until a limit is passed by a quarter, so that it is rare.

    Args:
        entries: changes that are kept.
        size: bytes of contents before and after them.
    """

    entries: int = 5_000
    size: int = 256 * 2**20

    def is_passed_by(self, entries: Sequence[JournalEntry]) -> bool:
        """Whether it is time to drop some."""
        return len(entries) > self.entries * _SLACK or _size(entries) > self.size * _SLACK

    def kept(self, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
        """The newest entries that are within the limits, oldest first; those that came to nothing are left out."""
        kept: list[JournalEntry] = []
        sizes: dict[str, int] = {}
        for entry in reversed(entries):
            if entry.is_void:
                continue
            sizes.update(_sizes(entry))
            if len(kept) == self.entries or sum(sizes.values()) > self.size:
                break
            kept.append(entry)
        return kept[::-1]


def _size(entries: Sequence[JournalEntry]) -> int:
    """Bytes of all contents, each counted once."""
    sizes: dict[str, int] = {}
    for entry in entries:
        sizes.update(_sizes(entry))
    return sum(sizes.values())


def _sizes(entry: JournalEntry) -> dict[str, int]:
    pairs = ((entry.before, entry.before_size), (entry.after, entry.after_size))
    return {digest: size for digest, size in pairs if digest is not None}
