"""Names of files that look the same: they differ only in how they encode the same characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


def composed(name: str) -> str:
    """A name in the one encoding that all that look the same share."""
    return unicodedata.normalize("NFC", name)


class ByName(Generic[V]):
    """What belongs to files, by name. Of two files whose names look the same, each is meant by its own.

    Args:
        values: by the names that the files have.
    """

    def __init__(self, values: Mapping[str, V]) -> None:
        self._values = {composed(name): value for name, value in values.items()} | dict(values)

    def get(self, name: str) -> V | None:
        """What belongs to the file of this name, else to one whose name looks the same; None when there is none."""
        return self._values[name] if name in self._values else self._values.get(composed(name))
