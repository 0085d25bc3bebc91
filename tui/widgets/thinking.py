"""The model's reasoning, folded."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line, wrapped
from tui.views.chat_items import ThinkingItem
from tui.views.clip import clip
from tui.views.figures import span
from tui.widgets.chat_row import FoldableRow
from tui.widgets.literal import literal, literal_line

MAX_LINES = 400
MAX_CHARACTERS = 40_000
_GLIMPSE = 400
_TOLD_FROM = 0.5


class Thinking(FoldableRow[ThinkingItem]):
    """Folded, it shows the line that is being thought; once it is over, how long it took."""

    def header(self, width: int) -> Content:
        """What is being thought, or how long it took."""
        item = self.item
        if item.is_live:
            return literal_line(f"thinking: {_last_line(item.text)}")
        took = f" for {span(item.seconds)}" if item.seconds and item.seconds >= _TOLD_FROM else ""
        return literal_line(f"thought{took}")

    def body(self, width: int) -> list[Line]:
        """The reasoning."""
        text, note = clip(self.item.text, MAX_LINES, MAX_CHARACTERS)
        lines = wrapped(literal(text, "$text-muted"), width)
        return [*lines, Line(literal_line(note, "italic"))] if note else lines


def _last_line(text: str) -> str:
    lines = text[-_GLIMPSE:].split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
