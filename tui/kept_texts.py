"""Texts that were being edited when the program had to end: kept in files beside the data, and told of."""

from __future__ import annotations

from pathlib import Path

from agent_core.errors import StorageError
from tui.draft import Draft

_FOLDER = "drafts"
_TOLD = ".told"
"""A file of this name beside a text says that its owner has been told of it at a start."""


def keep_text(data_dir: Path | None, title: str, text: str) -> str:
    """Keep a text that has not been saved; returns what to tell people. Never fails.

    Args:
        data_dir: where it is kept, in a folder of its own; None for the system's folder of temporary files.
        title: what it is.
        text: the text.
    """
    name = title if title.endswith(".md") else f"{title}.md"
    try:
        draft = Draft(name, text.encode("utf-8", "replace"), data_dir / _FOLDER if data_dir else None)
    except StorageError as error:
        return f"{title} was not saved. {error}"
    return f"{title} was not saved. {draft.kept}"


def untold_texts(data_dir: Path | None) -> list[str]:
    """What to tell people at a start of the texts that are kept, each text once."""
    if data_dir is None:
        return []
    told = []
    for path in sorted((data_dir / _FOLDER).glob("mnemoscope-edit-*/[!.]*")):
        mark = path.parent / _TOLD
        if not mark.exists():
            told.append(f"When the program was ended, a text was not saved yet: it is in {path}.")
            try:
                mark.touch()
            except OSError:
                # It is told once more then.
                continue
    return told
