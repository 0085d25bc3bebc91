"""`added_lines`: what a change has put into a file."""

from __future__ import annotations


def added_lines(before: bytes | None, after: bytes | None) -> bytes:
    """The lines of a file that were not there before."""
    old = set((before or b"").splitlines())
    return b"\n".join(line for line in (after or b"").splitlines() if line not in old)
