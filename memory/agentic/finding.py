"""Which memory somebody means who names one: as exactly as they put it, else by its beginning, else what is near."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Sequence

from agent_core.errors import StorageError
from agent_core.paths import one_line
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import relative_to
from memory.agentic.memory_disk import MemoryDisk
from memory.agentic.memory_file import MemoryFile

_TOLD = 5
"""So many names are told at most where several are meant."""
_NEAR = 3


async def find(name: str, folder: MemoryFolder, disk: MemoryDisk) -> str:
    """The path, from the memory folder, of the memory that somebody means.

    Raises:
        StorageError: there is none, or several may be meant, or it cannot be reached.
    """
    for path in paths_of(name):
        located = await folder.locate(path)
        try:
            info = await folder.backend.stat(located) if located is not None else None
        except OSError as error:
            raise StorageError(f"{one_line(name)} cannot be reached: {error.strerror or error}.") from error
        if info is not None and not info.is_dir:
            return await disk.relative(path)
    files = (await folder.scan()).files
    found = _meant(name, files)
    if len(found) == 1:
        # As the disk has it: what is shown of a name that is not UTF-8 names no file.
        return relative_to(await folder.root(), found[0].path)
    if found:
        some = ", ".join(one_line(file.relative) for file in found[:_TOLD])
        more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
        raise StorageError(f"{one_line(name)} may be any of {some}{more}: give the path.")
    like = _near(name, files)
    hint = f" Near to it: {', '.join(map(one_line, like))}." if like else ""
    raise StorageError(f"There is no memory {one_line(name) or 'without a name'}.{hint}")


def paths_of(name: str) -> tuple[str, ...]:
    """The paths that a name may stand for: a memory is meant before a file beside it that is none."""
    return (name,) if name[-3:].lower() == ".md" else (f"{name}.md", name)


def _meant(name: str, files: Sequence[MemoryFile]) -> list[MemoryFile]:
    """The memories that have this name, in the header or as a file; else of those that begin with it."""
    wanted = _plain(name)
    if not wanted:
        return []
    exact = [file for file in files if wanted in _names(file)]
    return exact or [file for file in files if any(one.startswith(wanted) for one in _names(file))]


def _near(name: str, files: Iterable[MemoryFile]) -> list[str]:
    """The paths of a few memories whose names are much like this one, the likest first."""
    from difflib import get_close_matches

    by_name = {called: file.relative for file in files for called in _names(file)}
    found = get_close_matches(_plain(name), by_name, n=2 * _NEAR, cutoff=0.6)
    return list(dict.fromkeys(by_name[called] for called in found))[:_NEAR]


def _names(file: MemoryFile) -> tuple[str, ...]:
    """What a memory may be called: its header's name, its path, its file's name, each with and without `.md`."""
    path = _plain(file.relative)
    base = posixpath.basename(path)
    return (_plain(file.name), path, path[:-3], base, base[:-3])


def _plain(name: str) -> str:
    """A name without what nobody sees in it: letter case, blanks, and how its characters are encoded."""
    return unicodedata.normalize("NFC", " ".join(name.casefold().split()))
