"""Packages that only some back ends need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Make an import that fails inside say how to install what is missing."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or "a package").partition(".")[0]
        raise ImportError(f"{missing} is needed for this: pip install 'mnemoscope[{extra}]'") from error
