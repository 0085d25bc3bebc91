"""Which memory somebody means who names one: as exactly as they put it, else by its beginning, else what is near."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from memory.agentic.memory_file import MemoryFile

_NEAR = 3


def meant(name: str, files: Sequence[MemoryFile]) -> list[str]:
    """The paths of the memories that have this name, in the header or as a file; else of those that begin with it."""
    wanted = name.strip().casefold()
    if not wanted:
        return []
    called = {file.relative: _names(file) for file in files}
    exact = [path for path, names in called.items() if wanted in names]
    return exact or [path for path, names in called.items() if any(one.startswith(wanted) for one in names)]


def near(name: str, files: Iterable[MemoryFile]) -> list[str]:
    """The paths of a few memories whose names are much like this one, the likest first."""
    from difflib import get_close_matches

    by_name = {called: file.relative for file in files for called in _names(file)}
    found = get_close_matches(name.strip().casefold(), by_name, n=2 * _NEAR, cutoff=0.6)
    return list(dict.fromkeys(by_name[called] for called in found))[:_NEAR]


def _names(file: MemoryFile) -> tuple[str, ...]:
    """What a memory may be called: its header's name, its path, its file's name, each with and without `.md`."""
    path = file.relative.casefold()
    base = posixpath.basename(path)
    return (file.name.casefold(), path, path[:-3], base, base[:-3])
