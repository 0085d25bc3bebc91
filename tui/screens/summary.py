"""The screen on which the summary is read, and from which it is edited or removed."""

from __future__ import annotations

from typing import Literal as OneOf

from tui.commands import SUMMARY, bindings
from tui.screens.reading import ReadingScreen

Wish = OneOf["edit", "remove"]


class SummaryScreen(ReadingScreen[Wish]):
    """Shows the summary, and ends with what a person wants to do with it; None for nothing."""

    BINDINGS = bindings(SUMMARY)

    def action_edit(self) -> None:
        """Put it in other words."""
        self.dismiss("edit")

    def action_remove(self) -> None:
        """Do without it."""
        self.dismiss("remove")
