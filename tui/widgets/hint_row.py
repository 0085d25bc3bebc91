"""A memory that was recalled for the model, folded to one slim line."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line, wrapped
from tui.views.chat_items import HintItem
from tui.widgets.chat_row import FoldableRow
from tui.widgets.literal import literal, literal_line


class HintRow(FoldableRow[HintItem]):
    """Where it came from; opened, what the model was told."""

    def header(self, width: int) -> Content:
        """`recalled user_profile.md`."""
        return literal_line(f"recalled {self.item.source}", "italic")

    def body(self, width: int) -> list[Line]:
        """The text that the model was given."""
        return wrapped(literal(self.item.text), width)
