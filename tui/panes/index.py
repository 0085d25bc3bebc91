"""The index pane: MEMORY.md as it was injected, and the memory files as they are on disk."""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from agent_core.agent import Agent
from agent_core.text import first_line
from memory.agentic.memory_file import MemoryFile
from memory.agentic.middleware import AgenticMemoryMiddleware
from tui.commands import INDEX, bindings
from tui.panes.index_rows import IndexRows
from tui.panes.pane import Pane
from tui.screens.reading import ReadingScreen
from tui.views.figures import plural, short_count
from tui.views.index import IndexView, look_at
from tui.views.message_details import Section
from tui.views.moments import moment
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

_SHARE_OF_TIME = 1 / 300
"""How much of the time looking at the folder may take: a large or distant folder is looked at less often."""

_SHOWN_PROBLEMS = 2


class IndexPane(Pane):
    """Shows the long-term memory. While it is seen it looks at the folder, so that edits from outside appear.

    Args:
        agent: whose memory it is; the first agentic memory among its middlewares counts.
        view: what is shown.

    Attributes:
        PACE: seconds between two looks at the folder, at least.
    """

    TITLE = "Index"
    HELP = (
        "MEMORY.md as it went into the system prompt, with what was cut, and the memory files: type, age, name, what "
        "is odd about them, description. Changes made by other programs appear by themselves."
    )
    PACE: ClassVar[float] = 1.0
    BINDINGS = bindings(INDEX)
    DEFAULT_CSS = """
    IndexPane {
        .injected { height: auto; max-height: 40%; padding: 0 1; background: $panel; }
    }
    """

    def __init__(self, agent: Agent, view: IndexView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._view = view
        self._head = Literal(classes="pane-head")
        self._text = Literal()
        self._files = IndexRows(view)
        self._rows = RowList(self._files)
        self._foot = Literal(classes="pane-foot")

    def compose(self) -> ComposeResult:
        """What was injected, its text, the files, more on the file under the cursor."""
        yield self._head
        with VerticalScroll(classes="injected"):
            yield self._text
        yield self._rows
        yield self._foot

    def draw(self) -> None:
        """Draw the pane."""
        self.put(self._head, self._summary())
        read = self._view.read
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

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Open the file under the cursor."""
        file, middleware = self._file(), self._middleware()
        if file is None or middleware is None:
            return
        try:
            text, _ = await middleware.folder.read(file.path)
        except OSError as error:
            reason = first_line(error.strerror or str(error))
            self.notify(f"{file.relative} cannot be read: {reason}", severity="error", markup=False)
        else:
            self.app.push_screen(ReadingScreen(file.relative, self._sections(file, text)))

    def action_open_index(self) -> None:
        """Open MEMORY.md as it was injected, with all that is wrong with it."""
        read = self._view.read
        sections = [Section(read.path, read.text)] if read is not None and read.text else []
        if self._view.problems:
            sections.insert(0, Section("What is wrong", "\n".join(self._view.problems)))
        if sections:
            self.app.push_screen(ReadingScreen(f"MEMORY.md: {self._view.injected_line}", sections))

    @work(exclusive=True, group="watch")
    async def _watch(self) -> None:
        middleware = self._middleware()
        while middleware is not None:
            started = time.perf_counter()
            changed = self._view.take(await look_at(middleware, self._view.look))
            taken = time.perf_counter() - started
            if changed:
                self.draw()
            # A look that found something new had files to read; the next one will cost less.
            await asyncio.sleep(self.PACE if changed else max(self.PACE, taken / _SHARE_OF_TIME))

    def _middleware(self) -> AgenticMemoryMiddleware | None:
        return next((one for one in self._agent.middlewares if isinstance(one, AgenticMemoryMiddleware)), None)

    def _file(self) -> MemoryFile | None:
        cursor = self._rows.cursor
        return None if cursor is None or cursor >= len(self._files.files) else self._files.files[cursor]

    def _summary(self) -> Content:
        if self._middleware() is None:
            return literal_line("this agent has no memory folder")
        view = self._view
        lines = [literal_line(f"MEMORY.md: {view.injected_line}")]
        warnings = [line for line in (view.drift_line, *view.problems) if line]
        if len(warnings) > _SHOWN_PROBLEMS + 1:
            more = len(warnings) - _SHOWN_PROBLEMS
            warnings[_SHOWN_PROBLEMS:] = [f"… and {more} more that are wrong (i shows them)"]
        lines += [literal_line(line, "$text-warning") for line in warnings]
        lines.append(literal_line(plural(len(self._files.files), "memory file")))
        return Content("\n").join(lines)

    def _show_file(self) -> None:
        file = self._file()
        if file is None:
            self.put(self._foot, "")
            return
        origin = self._view.origins.get(file.path)
        parts = [file.path, f"{short_count(file.size)} bytes", moment(file.modified)]
        self.put(self._foot, literal_line(" · ".join([*parts, *([f"changed by {origin}"] if origin else [])])))

    def _sections(self, file: MemoryFile, text: str) -> list[Section]:
        facts = [
            ("file", file.path),
            ("name", file.name),
            ("type", file.type or "none"),
            ("description", file.description or "none"),
            ("modified", moment(file.modified)),
            ("size", f"{file.size} bytes"),
            ("badges", ", ".join(self._view.badges_of(file)) or "none"),
        ]
        return [Section("", "\n".join(f"{name:<12}{value}" for name, value in facts)), Section("text", text)]
