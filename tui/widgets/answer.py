"""An answer of the model, while it is written and afterwards."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line
from tui.views.chat_items import AnswerItem
from tui.widgets.literal import literal_line
from tui.widgets.markdown_text import MarkdownText


class Answer(MarkdownText):
    """One answer in Markdown; below it, in words, what kept it from being complete."""

    DEFAULT_CSS = """
    Answer {
        margin-top: 1;
    }
    """

    def __init__(self, item: AnswerItem) -> None:
        super().__init__()
        self.item = item
        self._drawn = item.revision
        self.set_text(item.text, is_live=item.is_live)

    def show(self) -> None:
        """Draw the item if it has changed since it was drawn last."""
        if self.item.revision != self._drawn:
            self._drawn = self.item.revision
            self.set_text(self.item.text, is_live=self.item.is_live)

    def layout_lines(self, width: int) -> list[Line]:
        """The Markdown, and the note."""
        lines = super().layout_lines(width)
        note = self._note().truncate(width, ellipsis=True)
        return [*lines, Line(note, len(note))] if note else lines

    def _note(self) -> Content:
        words = ["deleted from memory"] if self.item.deleted else []
        if self.item.label:
            words.append(f"{self.item.label}; /retry goes on")
        return literal_line(f"— {', '.join(words)}", "italic $text-warning") if words else Content("")
