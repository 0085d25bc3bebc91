"""Paths as text: is one inside another, does a pattern match it, is it sensitive. Nothing here touches a disk.

Paths are compared folder by folder, never as strings, and must have been resolved before. On Windows and macOS letter
case makes no difference, as on their disks.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from fnmatch import fnmatchcase

FOLDS_CASE = sys.platform in ("win32", "darwin")
"""Whether two spellings of a path that differ in case name the same file here."""

_SEPARATOR = re.compile(r"[/\\]" if sys.platform == "win32" else r"/")
_WILDCARD = re.compile(r"[*?[]")
_ESCAPED = re.compile(r"\[([*?[])\]")

_SENSITIVE_FOLDERS = frozenset(
    (
        ".git", ".hg", ".svn", ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker", ".vscode", ".idea",
        ".mnemoscope",
    )
)  # fmt: skip
_SENSITIVE_FILES = frozenset(
    (
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".login", ".inputrc",
        ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
        ".kshrc", ".cshrc", ".tcshrc", "config.fish", ".xprofile", ".xinitrc", ".vimrc",
        ".gitconfig", ".gitmodules", ".npmrc", ".yarnrc", ".pypirc", ".mcp.json",
        ".netrc", "_netrc", ".pgpass", "authorized_keys", "id_rsa", "id_ecdsa", "id_ed25519",
    )
)  # fmt: skip


def is_inside(folder: str, path: str, *, fold_case: bool = FOLDS_CASE) -> bool:
    """Whether `path` is `folder` or lies inside it."""
    outer, inner = _parts(folder, fold_case), _parts(path, fold_case)
    return inner[: len(outer)] == outer


def matches(pattern: str, path: str, *, fold_case: bool = FOLDS_CASE) -> bool:
    """Whether a pattern matches a path as a whole.

    `*`, `?` and `[...]` stand for characters within one folder or file name; `**`, as a name of its own, for any number
    of folders, none included. A `..` in a pattern stands for nothing, since resolved paths have none.
    """
    wanted, given = _parts(pattern, fold_case), _parts(path, fold_case)
    position = place = 0
    resume: tuple[int, int] | None = None
    while place < len(given):
        if position < len(wanted) and wanted[position] == "**":
            resume = position, place
            position += 1
        elif position < len(wanted) and fnmatchcase(given[place], wanted[position]):
            position, place = position + 1, place + 1
        elif resume:
            # Let the last `**` swallow one folder more and go on behind it.
            resume = resume[0], resume[1] + 1
            position, place = resume[0] + 1, resume[1]
        else:
            return False
    return all(part == "**" for part in wanted[position:])


def escape(path: str) -> str:
    """A pattern that matches this path and nothing else."""
    return _WILDCARD.sub(r"[\g<0>]", path)


def is_literal(pattern: str) -> bool:
    """Whether a pattern names one path, as `escape` makes them."""
    return not _WILDCARD.search(_ESCAPED.sub("", pattern))


def split_pattern(pattern: str) -> tuple[str, str]:
    """The folders at the front of a pattern that are plain text, and the rest, which starts with a wildcard's name."""
    wildcard = _WILDCARD.search(pattern)
    if wildcard is None:
        return pattern, ""
    end = max((found.end() for found in _SEPARATOR.finditer(pattern, 0, wildcard.start())), default=0)
    return pattern[:end], pattern[end:]


def is_sensitive(path: str) -> bool:
    """Whether a path holds secrets, or settings that make other programs run something."""
    parts = _parts(path, fold_case=True)
    name = parts[-1] if parts else ""
    return name.startswith(".env") or name in _SENSITIVE_FILES or not _SENSITIVE_FOLDERS.isdisjoint(parts)


def one_line(path: str) -> str:
    """A path for a message to people: characters that would break the line or act on a terminal are replaced."""
    return "".join(character if character.isprintable() else "�" for character in path)


def _parts(path: str, fold_case: bool) -> list[str]:
    if fold_case:
        path = unicodedata.normalize("NFC", path).casefold()
    return [part for part in _SEPARATOR.split(path) if part]
