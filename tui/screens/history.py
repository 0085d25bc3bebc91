"""The history of a memory: who changed it, when, why and how, and what it was used for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content

from agent_core.errors import MnemoscopeError
from tui.commands import HISTORY, bindings
from tui.diff_content import diff_content
from tui.screens.reading import ReadingScreen
from tui.screens.rows import RowsScreen
from tui.views.history import RECALLED, Happening, summary_line
from tui.views.message_details import Section
from tui.views.moments import moment
from tui.widgets.cells import fit
from tui.widgets.literal import literal, literal_line

if TYPE_CHECKING:
    from memory.agentic.book import MemoryBook
    from memory.agentic.journal_entry import JournalEntry

_WHO_WIDTH = 13
_NO_DIFF = "What the file held is not kept any more, or it is no text."
Undo = Callable[["JournalEntry"], Awaitable[bool]]


class HistoryScreen(RowsScreen[Happening]):
    """Lists what happened, newest first, with the diff of the change under the cursor.

    Args:
        title: whose history it is.
        book: the memory.
        load: gives what has happened by now.
        undo: undoes a change and tells what came of it.
    """

    BINDINGS = bindings(HISTORY)

    def __init__(
        self, title: str, book: MemoryBook, load: Callable[[], Awaitable[Sequence[Happening]]], undo: Undo
    ) -> None:
        super().__init__(title)
        self._book = book
        self._load = load
        self._undo = undo

    def on_mount(self) -> None:
        """Show what has happened."""
        self._reload()

    def on_row_list_opened(self) -> None:
        """Open the row that was clicked twice."""
        self.action_open()

    @work(exclusive=True, group="history")
    async def action_undo(self) -> None:
        """Undo the change under the cursor."""
        chosen = self.chosen
        if chosen is None or chosen.entry is None:
            self.notify("That is no change.", markup=False)
        elif await self._undo(chosen.entry):
            await self._fill()

    @work(exclusive=True, group="history")
    async def action_open(self) -> None:
        """Open what is under the cursor whole."""
        chosen = self.chosen
        if chosen is not None:
            change = await self._change(chosen)
            facts = Section("", "\n".join(_facts(chosen)))
            self.app.push_screen(ReadingScreen(chosen.what, [facts, change]))

    def show_detail(self) -> None:
        """Show the diff."""
        self._load_detail()

    @work(exclusive=True, group="detail")
    async def _load_detail(self) -> None:
        chosen = self.chosen
        if chosen is None:
            self.put_detail("")
            return
        change = await self._change(chosen)
        shown = diff_content(change.text) if change.is_diff else literal(change.text)
        self.put_detail(Content("\n").join([*(literal_line(fact) for fact in _facts(chosen)), Content(""), shown]))

    def draw_row(self, value: Happening, width: int) -> Content:
        """When, who, what, because of what."""
        style = "$text-success" if value.who == RECALLED else "$text-warning" if value.who[0] == "t" else "$text-accent"
        return Content.assemble(
            (moment(value.at)[5:16], "$text-muted"),
            "  ",
            (fit(value.who, _WHO_WIDTH), style),
            " ",
            literal_line(value.what),
            literal_line(f"  {value.cause}" if value.cause else "", "$text-muted"),
        )

    @work(exclusive=True, group="history")
    async def _reload(self) -> None:
        await self._fill()

    async def _fill(self) -> None:
        try:
            happened = await self._load()
        except MnemoscopeError as error:
            self.take((), str(error))
        else:
            self.take(happened, summary_line(happened))

    async def _change(self, happening: Happening) -> Section:
        if happening.entry is None:
            return Section("what went into the conversation", happening.text)
        try:
            diff = await self._book.diff(happening.entry)
        except MnemoscopeError as error:
            return Section("change", str(error))
        return Section("change", diff, is_diff=True) if diff else Section("change", _NO_DIFF)


def _facts(happening: Happening) -> list[str]:
    facts = [f"{moment(happening.at)}  {happening.who}  {happening.what}"]
    if happening.cause:
        facts.append(f"because of {happening.cause}")
    entry = happening.entry
    if entry is not None:
        ids = {"change": entry.id[:8], "session": entry.session_id, "call": entry.call_id, "undoes": entry.undoes[:8]}
        facts.append(" · ".join(f"{name} {value}" for name, value in ids.items() if value))
    return facts
