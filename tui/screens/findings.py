"""What is not in order in the memory folder, and mending it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content

from agent_core.errors import MnemoscopeError
from memory.agentic.folder import INDEX_NAME
from tui.commands import FINDINGS, bindings
from tui.screens.reading import ReadingScreen
from tui.screens.rows import RowsScreen
from tui.views.figures import plural
from tui.views.message_details import Section
from tui.widgets.cells import fit
from tui.widgets.literal import literal_line

if TYPE_CHECKING:
    from memory.agentic.book import MemoryBook
    from memory.agentic.lint import Problem

_KIND_WIDTH = 13


class FindingsScreen(RowsScreen["Problem"]):
    """Lists the problems of the folder; mends what can be mended without anything being lost.

    Args:
        book: the memory.
        find: gives the problems that there are by now.
    """

    BINDINGS = bindings(FINDINGS)
    DEFAULT_CSS = """
    FindingsScreen .detail { height: 4; }
    """

    def __init__(self, book: MemoryBook, find: Callable[[], Awaitable[Sequence[Problem]]]) -> None:
        super().__init__("What is not in order")
        self._book = book
        self._find = find

    def on_mount(self) -> None:
        """Look."""
        self.put_head("looking …")
        self._reload()

    def action_mend(self) -> None:
        """Mend what is under the cursor."""
        chosen = self.chosen
        if chosen is not None:
            self._mend([chosen])

    def action_mend_all(self) -> None:
        """Mend all that can be mended."""
        self._mend(self._drawn.values)

    def on_row_list_opened(self) -> None:
        """Open the file of the row that was clicked twice."""
        self.action_open()

    @work(exclusive=True, group="findings")
    async def action_open(self) -> None:
        """Open the file."""
        chosen = self.chosen
        if chosen is None:
            return
        try:
            shown = await self._book.show(chosen.path)
        except MnemoscopeError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.app.push_screen(ReadingScreen(shown.path, [Section("", chosen.text), Section("text", shown.text)]))

    def show_detail(self) -> None:
        """Say what can be done about it."""
        chosen = self.chosen
        if chosen is None:
            self.put_detail("")
            return
        can = "m mends it, and it can be undone." if chosen.fixable else "Mend it by hand; nothing is ever deleted."
        self.put_detail(f"{_place(chosen)}: {chosen.text}. {can}")

    def draw_row(self, value: Problem, width: int) -> Content:
        """What sort, where, what."""
        return Content.assemble(
            ("m " if value.fixable else "  ", "$text-success"),
            (fit(value.kind, _KIND_WIDTH), "$text-warning"),
            " ",
            literal_line(_place(value), "bold"),
            literal_line(f"  {value.text}"),
        )

    @work(exclusive=True, group="findings")
    async def _mend(self, problems: Sequence[Problem]) -> None:
        fixable = [problem for problem in problems if problem.fixable]
        if not fixable:
            self.notify("This can only be mended by hand.", markup=False)
            return
        try:
            mended = await self._book.mend(fixable)
        except MnemoscopeError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        done = f"{INDEX_NAME} is mended; U takes it back." if mended else "It was in order already."
        self.notify(done, markup=False)
        await self._fill()

    @work(exclusive=True, group="findings")
    async def _reload(self) -> None:
        await self._fill()

    async def _fill(self) -> None:
        problems = await self._find()
        fixable = sum(problem.fixable for problem in problems)
        told = f"{plural(len(problems), 'finding')}, {fixable} can be mended" if problems else "all is in order"
        self.take(problems, told)


def _place(problem: Problem) -> str:
    path = problem.path or "the folder"
    return f"{path}:{problem.line}" if problem.line else path
