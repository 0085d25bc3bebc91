"""Which files the model has read, and in which version: the ground of "read before you change"."""

from __future__ import annotations

import hashlib


class ReadRecord:
    """Remembers, by back end and path, the hash of the bytes that were last shown to the model."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], str] = {}

    def remember(self, backend: str, path: str, data: bytes) -> None:
        """Note that the model knows this version of the file."""
        self._hashes[backend, path] = _hash(data)

    def knows(self, backend: str, path: str) -> bool:
        """Whether any version of the file has been read."""
        return (backend, path) in self._hashes

    def is_current(self, backend: str, path: str, data: bytes) -> bool:
        """Whether `data` is the version that was read last."""
        return self._hashes.get((backend, path)) == _hash(data)

    def forget(self, backend: str, path: str) -> None:
        """Drop a file that is gone."""
        self._hashes.pop((backend, path), None)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
