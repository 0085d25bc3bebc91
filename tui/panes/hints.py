"""The hints pane: what was looked up for each reply, when, and what became of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from agent_core.agent import Agent
from tui.commands import HINTS, bindings
from tui.panes.hints_rows import HintsRows, Line
from tui.panes.pane import Pane
from tui.screens.reading import ReadingScreen
from tui.views.figures import plural, span
from tui.views.hints import HintsView
from tui.views.timeline import LEGEND
from tui.widgets.literal import Literal
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from memory.agentic.middleware import AgenticMemoryMiddleware


class HintsPane(Pane):
    """Shows what was recalled, newest reply first.

    Args:
        agent: whose replies they are.
        view: what is shown.
        memory: the long-term memory, for the settings of its retrieval; None where there is none.
    """

    TITLE = "Hints"
    HELP = (
        "For each reply, newest first: what was looked up in long-term memory, when each stage of that and each round "
        "of the reply took place, what became of it, the files that were chosen and why, and the text that was put in. "
        "The first round is held back (╌) for what is looked up, until the grace period is over (╎) at the latest: "
        "/grace SECONDS. What comes too late goes into the next reply, unless /carry is off. "
        "A search of mem0 is labelled facts; what it found is in the Facts pane."
    )
    BINDINGS = bindings(HINTS)

    def __init__(
        self, agent: Agent, view: HintsView, memory: AgenticMemoryMiddleware | None = None, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._memory = memory
        self._view = view
        self._head = Literal(classes="pane-head")
        self._lines = HintsRows(view)
        self._rows = RowList(self._lines, follow="start")

    def compose(self) -> ComposeResult:
        """How many replies, their lines, what the characters mean."""
        yield self._head
        yield self._rows
        yield Literal(LEGEND, classes="pane-foot")

    def draw(self) -> None:
        """Draw the pane."""
        running = self._agent.state.reply_id
        self._lines.refresh(running, time.time())
        self._rows.rows_changed()
        count = len(self._view.replies)
        replies = plural(count, "reply", "replies") if count else "no reply yet"
        self.put(self._head, " · ".join([replies, *self._settings()]))
        self.keep_drawing(running is not None)

    def on_hide(self) -> None:
        """Let nothing grow that is not seen."""
        self.keep_drawing(False)

    def on_row_list_opened(self) -> None:
        """Open the line that was clicked twice."""
        self.action_open()

    def action_open(self) -> None:
        """Open the text of the line under the cursor, or fold and unfold the reply."""
        line = self._line()
        if line is None:
            return
        if line.section is not None:
            self.app.push_screen(ReadingScreen(line.reply.question or "Recalled", [line.section]))
            return
        self._lines.unfolded ^= {line.reply.key}
        self.draw()

    def _settings(self) -> list[str]:
        if self._memory is None:
            return []
        parameters = self._memory.parameters
        grace = span(parameters.retrieval_grace) if parameters.retrieval_grace else "none"
        return [f"grace {grace}", f"carry {'on' if parameters.retrieval_carry_over else 'off'}"]

    def _line(self) -> Line | None:
        cursor = self._rows.cursor
        return None if cursor is None or cursor >= len(self._lines.lines) else self._lines.lines[cursor]
