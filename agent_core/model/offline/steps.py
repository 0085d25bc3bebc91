"""What the offline model does next: say something and be done, or make calls and look again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

READ, WRITE, EDIT = "Read", "Write", "Edit"


class Call(NamedTuple):
    """A tool call to make."""

    name: str
    arguments: dict[str, Any]


class Step(NamedTuple):
    """Say `text`, and make the calls, in this order; a step without calls is the last one."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def read(path: str) -> Call:
    """Read a file."""
    return Call(READ, {"file_path": path})


def write(path: str, content: str) -> Call:
    """Write a new file."""
    return Call(WRITE, {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    """Replace a text that the file holds once."""
    return Call(EDIT, {"file_path": path, "old_string": old, "new_string": new})


def as_write(path: str, text: str, edits: Sequence[Call]) -> Call:
    """The edits of a file that says `text` as one `Write`, for an agent that has no `Edit`."""
    for change in edits:
        text = text.replace(change.arguments["old_string"], change.arguments["new_string"])
    return write(path, text.rstrip("\n") + "\n")
