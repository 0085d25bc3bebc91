"""Names of memory files: which ones are fit to be written, and how one is made from a title."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from agent_core.paths import one_line
from agent_core.text import well_formed
from memory.agentic.folder import INDEX_NAME

LONGEST = 200
"""Bytes of one name: most disks take 255, and a lock or a temporary file needs some of them."""
_SLUG_LENGTH = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class UnfitName(ValueError):
    """No memory file can have this name; the text says why, in one line for people."""


def checked_name(relative: str) -> str:
    """A path from the memory folder that a new memory may have; `.md` is added where it is missing.

    It is listed by every scan, and is not the index; see also `checked_path`.

    Raises:
        UnfitName: it does not.
    """
    relative = checked_path(relative)
    if relative[-3:].lower() != ".md":
        relative += ".md"
    if relative.rsplit("/", maxsplit=1)[-1].lower() == INDEX_NAME.lower():
        raise UnfitName(f"{INDEX_NAME} is the index: choose another name")
    return relative


def checked_path(relative: str) -> str:
    """A path from the memory folder that a file may have on every disk; nothing hidden, nothing outside.

    Raises:
        UnfitName: it may not.
    """
    relative = unicodedata.normalize("NFC", relative.strip()).removeprefix("./")
    shown = one_line(relative)
    if well_formed(relative) != relative or _UNFIT.search(relative):
        raise UnfitName(f"{shown} has characters that not every disk takes: choose another name")
    if not relative or relative.startswith(("/", "~")):
        raise UnfitName(f"{shown or 'An empty name'} is no path from the memory folder: give a name such as tea.md")
    for part in relative.split("/"):
        if not part.strip(" .") or part.startswith(".") or part.endswith((" ", ".")):
            raise UnfitName(f"{shown} has a part that is empty, hidden, or ends in a blank or dot: choose another name")
        if _RESERVED.fullmatch(part) or len(part.encode()) > LONGEST:
            raise UnfitName(f"{shown} has a part that is too long or reserved on some systems: choose another name")
    return relative


def name_for(title: str, taken: Collection[str]) -> str:
    """A file name that tells what a title tells, different from all in `taken`."""
    words = "".join(letter if letter.isalnum() else " " for letter in unicodedata.normalize("NFKC", well_formed(title)))
    slug = "_".join(words.lower().split())[:_SLUG_LENGTH].strip("_") or "memory"
    if _RESERVED.fullmatch(slug) or slug == "memory":
        slug = f"{slug}_1"
    used = {name.lower() for name in taken}
    number, name = 1, f"{slug}.md"
    while name in used:
        number += 1
        name = f"{slug}_{number}.md"
    return name
