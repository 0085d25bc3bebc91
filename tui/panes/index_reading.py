"""What the keys of the index pane open: files, histories, what is not in order, what a search finds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import work

from agent_core.errors import MnemoscopeError
from agent_core.text import first_line
from tui.panes.index_keys import IndexKeys
from tui.screens.findings import FindingsScreen
from tui.screens.history import HistoryScreen
from tui.screens.reading import ReadingScreen
from tui.views.figures import plural
from tui.views.history import Happening, history
from tui.views.index import IndexView
from tui.views.index_facts import file_facts
from tui.views.message_details import Section

if TYPE_CHECKING:
    from memory.agentic.book import MemoryBook
    from memory.agentic.lint import Problem
    from memory.agentic.local_search import FoundFile

_FOUND_AT_MOST = 50


class IndexReading(IndexKeys):
    """The actions that change nothing."""

    view: IndexView

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Open the file under the cursor."""
        file = self.file()
        if file is None or self.memory is None:
            return
        try:
            text, _ = await self.memory.folder.read(file.path)
        except OSError as error:
            reason = first_line(error.strerror or str(error))
            self.tell(f"{file.relative} cannot be read: {reason}", "error")
        else:
            sections = [Section("", file_facts(self.view, file)), Section("text", text)]
            self.app.push_screen(ReadingScreen(file.relative, sections))

    def action_open_index(self) -> None:
        """Open MEMORY.md as it was injected, with all that is wrong with it."""
        read = self.view.read
        sections = [Section(read.path, read.text)] if read is not None and read.text else []
        if self.view.problems:
            sections.insert(0, Section("What is wrong", "\n".join(self.view.problems)))
        if sections:
            self.app.push_screen(ReadingScreen(f"MEMORY.md: {self.view.injected_line}", sections))

    def action_history(self) -> None:
        """Open the history of the file under the cursor."""
        file, book = self.file(), self.book()
        if file is not None and book is not None:
            self._open_history(book, file.path, f"History of {file.relative}")

    def action_history_of_all(self) -> None:
        """Open the history of the folder."""
        if (book := self.book()) is not None:
            self._open_history(book, None, "History of the memory")

    def action_lint(self) -> None:
        """Open what is not in order."""
        book, memory = self.book(), self.memory
        if book is None or memory is None:
            return

        async def find() -> list[Problem]:
            return await book.lint(memory.parameters.memory_max_tokens, self.agent.system_prompt)

        self.app.push_screen(FindingsScreen(book, find), lambda _: self.look_soon())

    @work(exclusive=True, group="search")
    async def action_search(self) -> None:
        """Ask what to search for, and show what is found, best first."""
        book = self.book()
        question = await self.ask.text("Search all memories for:") if book is not None else None
        if book is None or not question:
            return
        self.show_search("searching …")
        try:
            found = [one for one in await book.search(question, _FOUND_AT_MOST) if one.is_related]
        except MnemoscopeError as error:
            self.show_search("")
            self.tell(str(error), "error")
            return
        self.show_search("" if not found else f"{plural(len(found), 'file')} for “{question}”, best first", found)
        if not found:
            self.tell(f"No memory fits “{question}”.")

    def show_search(self, note: str, found: Sequence[FoundFile] = ()) -> None:
        """Show what was found; nothing shows all files again."""
        raise NotImplementedError

    def _open_history(self, book: MemoryBook, path: str | None, title: str) -> None:
        async def load() -> list[Happening]:
            entries = await book.history(path)
            events = tuple(self.agent.trace)
            return await asyncio.to_thread(history, path, entries, events)

        screen = HistoryScreen(title, book, load, lambda entry: self.undo(book, entry))
        self.app.push_screen(screen, lambda _: self.look_soon())
