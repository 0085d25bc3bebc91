"""The index pane: MEMORY.md as it was injected, the memory files as they are on disk, and all that is done to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from agent_core.agent import Agent
from memory.agentic.memory_file import MemoryFile
from memory.agentic.middleware import AgenticMemoryMiddleware
from tui.commands import INDEX, bindings
from tui.panes.index_reading import IndexReading
from tui.panes.index_rows import IndexRows
from tui.views.index import IndexView
from tui.views.index_facts import foot_line
from tui.views.index_look import look_at
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from memory.agentic.local_search import FoundFile

_SHARE_OF_TIME = 1 / 300
"""How much of the time looking at the folder may take: a large or distant folder is looked at less often."""

_SHOWN_PROBLEMS = 2


class IndexPane(IndexReading):
    """Shows the long-term memory. While it is seen it looks at the folder, so that edits from outside appear.

    Args:
        agent: in whose trace changes are told.
        view: what is shown.
        memory: the long-term memory; None where there is none.

    Attributes:
        PACE: seconds between two looks at the folder, at least.
    """

    TITLE = "Index"
    HELP = (
        "MEMORY.md as it went into the system prompt, with what was cut, and the memory files. Before each: ✓ its line "
        "is in the prompt, ✂ it is cut off, ○ no line leads to it, – it is disabled, ✗ it cannot be read. Then type, "
        "age, name, where it came from, what is odd about it, description. Changes made by other programs appear by "
        "themselves; every change, theirs too, is in the history (h) and can be undone (u)."
    )
    PACE: ClassVar[float] = 2.0
    BINDINGS = bindings(INDEX)
    DEFAULT_CSS = """
    IndexPane {
        .injected { height: auto; max-height: 40%; padding: 0 1; background: $panel; }
    }
    """

    def __init__(
        self, agent: Agent, view: IndexView, memory: AgenticMemoryMiddleware | None, *, id: str | None = None
    ) -> None:
        super().__init__(agent, memory, id=id)
        self.view = view
        self._head = Literal(classes="pane-head")
        self._text = Literal()
        self._files = IndexRows(view)
        self._rows = RowList(self._files)
        self._foot = Literal(classes="pane-foot")
        self._note = ""
        self._wake = asyncio.Event()

    def compose(self) -> ComposeResult:
        """What was injected, its text, the files, more on the file under the cursor."""
        yield self._head
        with VerticalScroll(classes="injected"):
            yield self._text
        yield self._rows
        yield self._foot
        yield self.ask

    def draw(self) -> None:
        """Draw the pane; where there is news of the folder, look at it at once."""
        if self.view.is_stale:
            self.look_soon()
        self.put(self._head, self._summary())
        read = self.view.read
        self.put(self._text, read.text if read is not None else "")
        self._text.parent.display = bool(read is not None and read.text)  # type: ignore[union-attr]
        self._rows.rows_changed()
        self._show_file()

    def on_show(self) -> None:
        """Begin to look at the folder."""
        self._watch()

    def on_hide(self) -> None:
        """Look at it no longer."""
        self.workers.cancel_group(self, "watch")

    def on_row_list_cursor_moved(self) -> None:
        """Say more on another file."""
        self._show_file()

    def on_row_list_opened(self) -> None:
        """Open the file that was clicked twice."""
        self.action_open()

    def action_leave(self) -> None:
        """Show all files again; where they are shown the key means what it means elsewhere."""
        if not self._note:
            raise SkipAction
        self.show_search("")

    def file(self) -> MemoryFile | None:
        """The file under the cursor."""
        cursor = self._rows.cursor
        return None if cursor is None or cursor >= len(self._files.files) else self._files.files[cursor]

    def look_soon(self) -> None:
        """Look at the folder at once."""
        self._wake.set()

    def show_search(self, note: str, found: Sequence[FoundFile] = ()) -> None:
        """Show what was found; nothing shows all files again."""
        self._note = note
        self._files.narrow(found)
        self.draw()
        if found:
            self._rows.move_cursor(0)

    @work(exclusive=True, group="watch")
    async def _watch(self) -> None:
        memory = self.memory
        while memory is not None:
            self._wake.clear()
            self.view.is_stale = False
            started = time.perf_counter()
            changed = self.view.take(await look_at(memory, self.view.look))
            taken = time.perf_counter() - started
            if changed:
                self.draw()
            # What other programs have done is told in the trace before the first prompt, too.
            memory.recording.know(self.agent)
            # A look that found something new had files to read; the next one will cost less.
            pause = self.PACE if changed else max(self.PACE, taken / _SHARE_OF_TIME)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)

    def _summary(self) -> Content:
        if self.memory is None:
            return literal_line("this agent has no memory folder")
        view = self.view
        lines = [literal_line(f"MEMORY.md: {view.injected_line}")]
        warnings = [line for line in (view.drift_line, *view.problems) if line]
        if len(warnings) > _SHOWN_PROBLEMS + 1:
            more = len(warnings) - _SHOWN_PROBLEMS
            warnings[_SHOWN_PROBLEMS:] = [f"… and {more} more that are wrong (i shows them, l mends)"]
        lines += [literal_line(line, "$text-warning") for line in warnings]
        lines.append(literal_line(view.files_line))
        if self._note:
            lines.append(literal_line(f"{self._note}  (esc: all again)", "$text-accent"))
        return Content("\n").join(lines)

    def _show_file(self) -> None:
        file = self.file()
        if file is None:
            self.put(self._foot, "" if self.memory is None else "no memory yet: n writes one")
        else:
            why = self._files.why(file)
            self.put(self._foot, literal_line(" · ".join(filter(None, [why, foot_line(self.view, file)]))))
