"""A screen on which one text is read whole, and copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer

from tui.commands import READING, bindings
from tui.diff_content import diff_content
from tui.screens.framed import FramedScreen, R
from tui.views.figures import short_count
from tui.views.message_details import Section, as_text
from tui.widgets.literal import Literal

_SHOWN_CHARACTERS = 20_000
"""Of each section; laying out a megabyte takes seconds."""


class ReadingScreen(FramedScreen[R], Generic[R]):
    """Shows sections of text literally, above what was there. It ends without a result, unless a subclass has one.

    Args:
        title: what it is.
        sections: headings and texts; a long text is cut on the screen, not in what is copied.
    """

    BINDINGS = bindings(READING)
    DEFAULT_CSS = """
    ReadingScreen {
        & > .frame { scrollbar-gutter: stable; }
        .title { text-style: bold; }
        .heading { margin-top: 1; color: $text-accent; text-style: bold; }
        .note { color: $text-muted; text-style: italic; }
    }
    """

    def __init__(self, title: str, sections: Sequence[Section]) -> None:
        super().__init__()
        self._title = title
        self._sections = sections

    def compose(self) -> ComposeResult:
        """One scrolling column above the keys."""
        with VerticalScroll(classes="frame"):
            yield Literal(self._title, classes="title")
            for heading, text, is_diff in self._sections:
                if heading:
                    yield Literal(heading, classes="heading")
                shown = text[:_SHOWN_CHARACTERS]
                yield Literal(diff_content(shown) if is_diff else shown)
                if len(text) > _SHOWN_CHARACTERS:
                    rest = short_count(len(text) - _SHOWN_CHARACTERS)
                    yield Literal(f"… {rest} more characters; copying takes all", classes="note")
        yield Footer(show_command_palette=False)

    def action_copy(self) -> None:
        """Copy the whole text."""
        text = as_text(self._sections)
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {short_count(len(text))} characters", markup=False)
