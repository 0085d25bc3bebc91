"""Saving the summary that a person has edited."""

from __future__ import annotations

from agent_core.errors import MnemoscopeError
from agent_core.text import first_line
from tui.panes.memory_editor import MemoryEditor
from tui.screens.editing import Confirm, Save
from tui.views.stored import StoredMessages


def saving_summary(editor: MemoryEditor, stored: StoredMessages) -> Save:
    """What saves a text in the place of the summary that is stored now.

    Args:
        editor: changes the memory.
        stored: follows the memory.
    """
    before = stored.summary

    async def save(text: str, confirm: Confirm) -> bool:
        if not text.strip():
            raise MnemoscopeError("An empty summary tells the model nothing; leave with esc, and remove it with s, d.")
        if stored.summary != before and not await confirm(f"{_meanwhile(stored.summary)} Put this in its place?", ""):
            return False
        try:
            await editor.edit_summary(text)
        except MnemoscopeError:
            raise
        except Exception as error:
            # A memory of the user's own may raise anything.
            raise MnemoscopeError(first_line(str(error)) or type(error).__name__) from error
        return True

    return save


def _meanwhile(summary: str) -> str:
    return "There is another summary meanwhile." if summary else "The summary has been removed meanwhile."
