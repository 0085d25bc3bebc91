"""Which files the model has read, which part of them and in which version: the ground of "read before you change"."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

Span = tuple[int, int]
"""A range of bytes of a file: start, and the first position behind it."""


class _Known(NamedTuple):
    digest: str
    size: int
    spans: tuple[Span, ...]


class ReadRecord:
    """Remembers, by back end and path, the version that was last shown to the model and what was shown of it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Known] = {}

    def remember(self, backend: str, path: str, data: bytes, spans: Iterable[Span] | None = None) -> None:
        """Note that the model knows this version of the file.

        Args:
            backend: the name of the back end.
            path: the resolved path.
            data: the whole file, whatever was shown of it.
            spans: what was shown; all of it when None. Adds to what was shown of the same version before.
        """
        shown = [(0, len(data))] if spans is None else list(spans)
        digest = _hash(data)
        before = self._known.get((backend, path))
        if before is not None and before.digest == digest:
            shown.extend(before.spans)
        self._known[backend, path] = _Known(digest, len(data), _merged(shown))

    def knows(self, backend: str, path: str) -> bool:
        """Whether any version of the file has been read."""
        return (backend, path) in self._known

    def is_current(self, backend: str, path: str, data: bytes) -> bool:
        """Whether `data` is the version that was read last."""
        known = self._known.get((backend, path))
        return known is not None and known.digest == _hash(data)

    def has_shown(self, backend: str, path: str, span: Span | None = None) -> bool:
        """Whether all of `span`, or all of the file when None, has been shown of the version read last."""
        known = self._known.get((backend, path))
        if known is None:
            return False
        start, end = span or (0, known.size)
        return any(first <= start and end <= last for first, last in known.spans)

    def shown(self, backend: str, path: str) -> tuple[Span, ...]:
        """What has been shown of the version read last: sorted, apart from each other."""
        known = self._known.get((backend, path))
        return known.spans if known else ()

    def forget(self, backend: str, path: str) -> None:
        """Drop a file that is gone."""
        self._known.pop((backend, path), None)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
