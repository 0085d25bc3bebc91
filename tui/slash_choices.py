"""What may be filled in behind the name of a slash command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tui.commands import Command
from tui.mark_syntax import format_mark

if TYPE_CHECKING:
    from tui.screens.main import MainScreen


class SlashChoices:
    """Gives the choices that stand in the table of commands, and those that depend on what there is."""

    def __init__(self, main: MainScreen) -> None:
        self._main = main

    def __call__(self, command: Command) -> Iterable[str]:
        """The choices for a command, in the order in which they are offered."""
        if command.choices:
            return command.choices
        match command.id:
            case "theme":
                return sorted(self._main.app.available_themes)
            case "mark":
                return [*self._known_marks(), "off"]
            case "filter":
                marks = self._known_marks()
                return [*marks, *(f"!{mark}" for mark in marks), "off"]
        return ()

    def _known_marks(self) -> list[str]:
        return [format_mark(mark) for mark in sorted(self._main.views.content.stored.mark_counts)]
