"""Paths of files in a memory folder: whole, as the back end has them, and from the folder, always with `/` between."""

from __future__ import annotations

import os


def relative_to(root: str, path: str) -> str:
    """The path from a folder of a file inside it; both are resolved."""
    return path[len(root) :].replace(_separator(root), "/").lstrip("/")


def path_in(root: str, relative: str) -> str:
    """The whole path of a file in a folder."""
    separator = _separator(root)
    return root.rstrip(separator) + separator + relative.replace("/", separator)


def split(root: str) -> tuple[str, str]:
    """The folder that a folder lies in, and its name there."""
    separator = _separator(root)
    parent, _, name = root.rstrip(separator).rpartition(separator)
    return parent or separator, name


def _separator(root: str) -> str:
    """What is between folders: back ends elsewhere have `/` wherever this program runs."""
    return os.sep if os.sep in root else "/"
