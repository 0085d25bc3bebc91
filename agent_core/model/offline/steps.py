"""What the offline model does next: say something and be done, or make calls and look again."""

from __future__ import annotations

from typing import NamedTuple

READ, WRITE, EDIT = "Read", "Write", "Edit"


class Call(NamedTuple):
    """A tool call to make."""

    name: str
    arguments: dict[str, str]


class Do(NamedTuple):
    """Make these calls, in this order. `words` tell the person what is going on; may be empty."""

    calls: tuple[Call, ...]
    words: str = ""


class Say(NamedTuple):
    """Answer with this text."""

    text: str


Step = Do | Say


def read(path: str) -> Call:
    """Read a file."""
    return Call(READ, {"file_path": path})


def write(path: str, content: str) -> Call:
    """Write a new file."""
    return Call(WRITE, {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    """Replace a text that the file holds once."""
    return Call(EDIT, {"file_path": path, "old_string": old, "new_string": new})
