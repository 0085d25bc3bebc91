"""All keys and commands, from the one table, and what the panes are for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from tui.commands import COMMANDS, READING, Command, bindings
from tui.lines import Line, Prefix, prefixed, wrapped
from tui.screens.framed import FramedScreen
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal

_COLUMN = 26


class HelpText(LineText):
    """The help as text, that can be selected.

    Args:
        panes: title and purpose of each pane.
    """

    def __init__(self, panes: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._panes = panes

    def layout_lines(self, width: int) -> list[Line]:
        """A heading for each group, a row for each command."""
        lines: list[Line] = []
        for group, commands in grouped(COMMANDS):
            lines += [*_heading(group), *(line for command in commands for line in _command_lines(command, width))]
        for title, purpose in self._panes:
            lines += [*_heading(f"{title} pane"), *wrapped(literal(purpose), width)]
        return lines[1:]


class HelpScreen(FramedScreen[None]):
    """Shows the help above what was there."""

    BINDINGS = bindings(READING)
    DEFAULT_CSS = """
    HelpScreen > .frame {
        max-width: 100;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, panes: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._text = HelpText(panes)

    def compose(self) -> ComposeResult:
        """One scrolling column."""
        scroll = VerticalScroll(self._text, classes="frame")
        scroll.border_title = "Keys and commands · Esc closes"
        yield scroll

    def action_copy(self) -> None:
        """Copy the whole help."""
        self.app.copy_to_clipboard("\n".join(line.content.plain for line in self._text.lines(_COLUMN * 4)))


def grouped(commands: Iterable[Command]) -> list[tuple[str, list[Command]]]:
    """The commands by group, groups in the order in which they come first."""
    order = list(dict.fromkeys(command.group for command in commands))
    ordered = sorted(commands, key=lambda command: order.index(command.group))
    return [(group, list(members)) for group, members in groupby(ordered, lambda command: command.group)]


def _heading(text: str) -> list[Line]:
    return [Line(Content("")), Line(Content.styled(text, "bold $text-accent"))]


def _command_lines(command: Command, width: int) -> list[Line]:
    names = ", ".join(command.key_labels)
    slash = f"/{command.slash} {command.usage}".rstrip() if command.slash else ""
    left = "  ".join(filter(None, (names, slash)))
    indent = Content(" " * _COLUMN)
    is_long = len(left) >= _COLUMN
    first = indent if is_long else Content.styled(left.ljust(_COLUMN), "bold")
    text = prefixed(wrapped(Content(command.help), max(1, width - _COLUMN)), Prefix(first, indent))
    return [Line(Content.styled(left, "bold")), *text] if is_long else text
