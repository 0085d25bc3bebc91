"""One line that says what is being waited for, for how long already, and how to stop it; gone when nothing is."""

from __future__ import annotations

import time
from itertools import cycle

from textual.content import Content
from textual.timer import Timer

from tui.lines import Line
from tui.views.status import StatusView
from tui.views.status_text import working_text
from tui.widgets.line_text import LineText
from tui.widgets.literal import literal_line

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_STILL = "…"
_SECONDS_PER_FRAME = 0.125


class WorkingLine(LineText):
    """The wait, made visible. Its timer runs only while there is one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    WorkingLine {
        height: 1;
        padding: 0 1;
        color: $text-muted;
        display: none;
        &.-working { display: block; }
    }
    """

    def __init__(self, view: StatusView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._model = ""
        self._frames = cycle(_FRAMES)
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Prepare the timer."""
        is_still = self.app.animation_level == "none"
        self._frames = cycle(_STILL if is_still else _FRAMES)
        self._timer = self.set_interval(1.0 if is_still else _SECONDS_PER_FRAME, self.changed, pause=True)

    def show(self, model: str) -> None:
        """Draw the present state; `model` is what to call the model."""
        self._model = model
        is_working = self._view.is_working
        self.set_class(is_working, "-working")
        if self._timer is not None:
            (self._timer.resume if is_working else self._timer.pause)()
        self.changed()

    def layout_lines(self, width: int) -> list[Line]:
        """The next frame."""
        line = Content.assemble(
            Content.styled(f"{next(self._frames)} ", "$text-warning"),
            literal_line(working_text(self._view, self._model, time.time())),
            Content.styled("  Esc stops", "dim"),
        )
        return [Line(line.truncate(width, ellipsis=True))]
