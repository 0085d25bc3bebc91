"""What somebody said, with the marks that it has."""

from __future__ import annotations

from textual.content import Content

from tui.lines import Line, Prefix, prefixed, wrapped
from tui.views.chat_items import UserItem
from tui.views.clip import clip
from tui.widgets.chat_row import ChatRow
from tui.widgets.literal import literal, literal_line
from tui.widgets.marks import chips

MAX_LINES = 24
MAX_CHARACTERS = 4_000
_PREFIX = Prefix(Content.styled("❯ ", "bold $text-primary"), Content("  "), skipped=2)


class UserRow(ChatRow[UserItem]):
    """One message of a person; a long one is cut, with its size."""

    DEFAULT_CSS = """
    UserRow {
        background: $boost;
        margin-top: 1;
    }
    """

    def layout_lines(self, width: int) -> list[Line]:
        """The text, then who said it where that is not the user, the marks, and how much is not shown."""
        item = self.item
        text, note = clip(item.text, MAX_LINES, MAX_CHARACTERS)
        lines = wrapped(literal(text), max(1, width - 2))
        extras = [
            literal_line(f"({item.name})", "$text-muted") if item.name != "user" else Content(""),
            chips(item.marks),
            literal_line(note, "italic $text-muted"),
            literal_line("(deleted from memory)", "italic $text-muted") if item.deleted else Content(""),
        ]
        lines += [Line(extra.truncate(max(1, width - 2), ellipsis=True), len(extra)) for extra in extras if extra]
        return prefixed(lines, _PREFIX)
