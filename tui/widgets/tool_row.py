"""A tool call: what is done to what, how it ended, and behind that its arguments, its diff and its result."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from tui.diff_content import diff_content
from tui.lines import Line, folded, wrapped
from tui.literal_text import visible_line
from tui.views.chat_items import ToolItem
from tui.views.clip import clip
from tui.views.tool_text import STATE_LOOKS, arguments_text, outcome, subject
from tui.widgets.cells import cut
from tui.widgets.chat_row import FoldableRow
from tui.widgets.literal import literal, literal_line

MAX_LINES = 200
MAX_CHARACTERS = 20_000
_NARROWEST = 12
_TITLE_STYLE = "bold $text-muted"


class ToolRow(FoldableRow[ToolItem]):
    """One call, from its first letter to its result."""

    def header(self, width: int) -> Content:
        """`✓ Write notes.md  done in 0.1 s, +3 -1`; of these what the call is about gives way first."""
        item = self.item
        look = STATE_LOOKS[item.state]
        name = Content.assemble((f"{look.sign} ", look.style), literal_line(item.name, "bold"))
        end = Content.assemble("  ", literal_line(outcome(item), look.style))
        about = subject(item)
        room = max(_NARROWEST, width - name.cell_length - end.cell_length - 1)
        return Content.assemble(name, literal_line(f" {_cut(about, room)}" if about else ""), end)

    def body(self, width: int) -> list[Line]:
        """Arguments, diff and result, each under its title where there is one."""
        item = self.item
        lines: list[Line] = []
        if arguments := arguments_text(item):
            lines += _section("arguments", arguments, width)
        if item.diff:
            lines += [_title("diff"), *folded(diff_content(item.diff), width)]
        if item.result:
            lines += _section("result", item.result, width)
        return lines or [Line(literal_line("nothing yet", "italic"))]


def _cut(text: str, width: int) -> str:
    """`text` in at most `width` cells. Of a path the end tells more, of anything else the beginning."""
    if " " in text or "/" not in text:
        return cut(text, width)
    line = visible_line(text)
    if cell_len(line) <= width:
        return line
    while cell_len(line) >= width:
        line = line[1:]
    return f"…{line}"


def _section(title: str, text: str, width: int) -> list[Line]:
    shown, note = clip(text, MAX_LINES, MAX_CHARACTERS)
    lines = [_title(title), *wrapped(literal(shown), width)]
    return [*lines, Line(literal_line(note, "italic"))] if note else lines


def _title(title: str) -> Line:
    return Line(Content.styled(title, _TITLE_STYLE))
