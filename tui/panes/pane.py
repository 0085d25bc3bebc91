"""What all panes share: they draw what their view holds, and only while they are seen."""

from __future__ import annotations

from typing import ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer

from tui.widgets.literal import Literal, literal
from tui.widgets.row_list import RowList

_TICK = 0.25
"""Seconds between two drawings of something that grows by itself, such as the time that it has taken so far."""


class Pane(Vertical):
    """A part of the screen that shows one view.

    Attributes:
        TITLE: what it is called.
        HELP: what it is for, in a few lines of plain text.
    """

    TITLE: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    DEFAULT_CSS = """
    Pane {
        .pane-head { height: auto; max-height: 50%; padding: 0 1; color: $text-muted; }
        .pane-foot { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
        RowList { height: 1fr; }
    }
    """

    def show(self) -> None:
        """Draw what the view holds now; nothing while the pane is not seen, since it is drawn on coming into sight."""
        if self.is_attached and self.is_on_screen:
            self.draw()

    _wants_focus = False
    _ticker: Timer | None = None

    def take_focus(self) -> None:
        """Put the focus on the rows; where the pane is only being mounted, as soon as it is."""
        rows = self.query(RowList)
        self._wants_focus = not rows
        if rows:
            rows.first().focus()

    def put(self, place: Literal, text: str | Content) -> None:
        """Show a text there, unless it is there already: comparing costs less than laying out anew."""
        content = literal(text) if isinstance(text, str) else text
        shown = place.content
        if not (isinstance(shown, Content) and shown.is_same(content)):
            place.show(content)

    def draw(self) -> None:
        """Draw everything; for subclasses to fill in."""

    def keep_drawing(self, is_live: bool) -> None:
        """Draw again and again as long as something goes on."""
        if is_live and self._ticker is None:
            self._ticker = self.set_interval(_TICK, self.show)
        elif not is_live and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def on_mount(self) -> None:
        """Draw for the first time."""
        self.draw()
        if self._wants_focus:
            self.take_focus()

    def on_show(self) -> None:
        """Draw what has changed while the pane was hidden."""
        self.draw()
