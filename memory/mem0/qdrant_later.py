"""mem0 without the client of Qdrant, as long as nobody stores anything there.

While it is imported, mem0 makes a config as the default of an argument, and that loads `qdrant_client`: 50 MiB and a
second of processor time, for a store in whose place ours is used. It has no switch for that. So for the time of the
import, and no longer, the module of that config is one whose `QdrantConfig` becomes the real one when it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

_MODULE = "mem0.configs.vector_stores.qdrant"


@contextmanager
def qdrant_left_for_later() -> Iterator[None]:
    """Import mem0 in here. Where its module of Qdrant is loaded already, nothing is done."""
    if _MODULE in sys.modules:
        yield
        return
    stand_in = ModuleType(_MODULE)
    stand_in.QdrantConfig = _LaterConfig  # type: ignore[attr-defined]
    sys.modules[_MODULE] = stand_in
    try:
        yield
    finally:
        del sys.modules[_MODULE]


class _LaterConfig:
    """A `QdrantConfig` that is made when something is asked of it, as `mem0.Memory()` does elsewhere in the process."""

    path: str | None
    """mem0 looks whether there may be one, and gives it then."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name == "_values":
            # A copy is asked for something before it has been filled.
            raise AttributeError(name)
        return getattr(import_module(_MODULE).QdrantConfig(**self._values), name)
