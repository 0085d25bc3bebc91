"""The facts pane: what mem0 recalled and wrote for each reply, and all that it holds of the user."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize

from agent_core.agent import Agent
from agent_core.text import first_line
from tui.commands import FACTS, bindings
from tui.panes.facts_editor import FactsEditor
from tui.panes.facts_rows import FactRows, TurnRows
from tui.panes.pane import Pane
from tui.screens.reading import ReadingScreen
from tui.views.fact_details import fact_line, fact_sections, history_sections, listing_line, quoted
from tui.views.facts import FactsView
from tui.views.facts_text import title, turn_sections
from tui.views.figures import span
from tui.widgets.ask_line import AskLine
from tui.widgets.asking import Asking
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware
    from memory.mem0.answers import Fact

_WIDE = 100
"""Columns from which the memories stand beside the replies, and not below them."""
_OF_A_MEMORY = frozenset({"edit", "delete", "history"})
_NEW = ""
"""Stands for the id of a memory that is not there yet."""


class FactsPane(Asking, Pane):
    """Shows what mem0 does, and lets a person look into its memories and change them.

    Args:
        agent: whose replies they are.
        view: what happened for each.
        middleware: holds the memories; they are listed when the pane is first seen, which opens the store.
    """

    TITLE = "Facts"
    HELP = (
        "Above, for each reply, newest first: what mem0 was searched for, what it found with scores, whether and why "
        "it was told to the model, and what was written afterwards: + added, ~ updated, ↷ replaced, = known already. "
        "Below, the user's memories, newest first, replaced ones included; they can be searched, changed and deleted."
    )
    BINDINGS = bindings(FACTS)
    DEFAULT_CSS = """
    FactsPane {
        #turns-part { height: 2fr; }
        #memories-part { height: 3fr; }
        #memories-part > .pane-head { background: $boost; }
        &.-wide { layout: horizontal; }
        &.-wide > #turns-part, &.-wide > #memories-part { height: 100%; width: 1fr; }
    }
    """

    def __init__(self, agent: Agent, view: FactsView, middleware: Mem0Middleware, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._view = view
        self._turns = TurnRows(view)
        self._turn_head = Literal(classes="pane-head")
        self._turn_rows = RowList(self._turns, follow="start", id="turns")
        self._facts = FactRows()
        self._fact_head = Literal(classes="pane-head")
        self._fact_rows = RowList(self._facts, follow="start", id="memories")
        self._foot = Literal(classes="pane-foot")
        self.ask = AskLine()
        self._take_over(middleware)

    def compose(self) -> ComposeResult:
        """The replies, then the memories with more on the one under the cursor."""
        with Vertical(id="turns-part"):
            yield self._turn_head
            yield self._turn_rows
        with Vertical(id="memories-part"):
            yield self._fact_head
            yield self._fact_rows
            yield self._foot
        yield self.ask

    def use(self, middleware: Mem0Middleware) -> None:
        """Show another memory from now on, with nothing left of the one before."""
        self.workers.cancel_node(self)
        self._take_over(middleware)
        self.show()

    def _take_over(self, middleware: Mem0Middleware) -> None:
        self._middleware = middleware
        self._editor = FactsEditor(self._agent, middleware)
        self._facts.facts = ()
        self._query, self._is_other_query = "", False
        self._said = "opening the memory …"
        self._load_problem = self._problem = ""
        self._unsaved: dict[str, str] = {}
        self._loaded_at = -1

    def take_focus(self) -> None:
        """Put the focus on the memories, which is what most keys are about."""
        self._wants_focus = not self._fact_rows.is_attached
        if self._fact_rows.is_attached:
            self._fact_rows.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While a question is open, keys belong to its answer; what is about a memory needs the focus on one."""
        can_be_done = action not in _OF_A_MEMORY or self._fact_rows.has_focus
        return can_be_done and super().check_action(action, parameters)

    def draw(self) -> None:
        """Draw the pane; where something was written since the memories were listed, list them again."""
        running = self._agent.state.reply_id
        self._turns.refresh(running, time.time())
        self._turn_rows.rows_changed()
        self.put(self._turn_head, self._summary())
        self._draw_facts()
        self.keep_drawing(running is not None or self._view.writing > 0)
        if self._loaded_at != self._view.written:
            self.action_load()

    def on_hide(self) -> None:
        """Let nothing grow that is not seen, and list the memories anew afterwards: others may change them."""
        self._loaded_at = -1
        self.keep_drawing(False)

    def on_resize(self, event: Resize) -> None:
        """Put the two parts side by side where there is room."""
        self.set_class(event.size.width >= _WIDE, "-wide")

    def on_row_list_cursor_moved(self) -> None:
        """Say more on another memory."""
        self._show_fact()

    def on_row_list_opened(self) -> None:
        """Open what was clicked twice."""
        self.action_open()

    @work(exclusive=True, group="load")
    async def action_load(self) -> None:
        """List the memories, or search them again; what goes wrong is told in the pane."""
        self._loaded_at = self._view.written
        started = time.perf_counter()
        facts = self._middleware.facts
        try:
            found = await (facts.search(self._query) if self._query else facts.list())
        except Exception as error:
            # A client of the user's own may raise anything; the app goes on.
            self._load_problem = f"{_in_words(error)} (r: try again)"
        else:
            self._load_problem = ""
            self._facts.facts = found
            self._said = listing_line(found, self._query, span(time.perf_counter() - started))
        self._draw_facts()
        if self._is_other_query:
            self._is_other_query = False
            self._fact_rows.move_cursor(0)

    def action_open(self) -> None:
        """Open the memory under the cursor whole; on the replies, all that happened for one."""
        if self._turn_rows.has_focus:
            turn = self._turns.turn(self._turn_rows.cursor)
            if turn is not None:
                sections = turn_sections(turn, time.time(), is_running=turn.key == self._agent.state.reply_id)
                self.app.push_screen(ReadingScreen(title(turn), sections))
        elif (fact := self._fact()) is not None:
            self.app.push_screen(ReadingScreen("Memory", fact_sections(fact, self._facts.facts)))

    @work(exclusive=True, group="ask")
    async def action_find(self) -> None:
        """Ask what to search for; nothing lists all."""
        query = await self.ask.text("Search the memories for:", self._query)
        if query is not None:
            self._look_for(query.strip())

    @work(exclusive=True, group="ask")
    async def action_add(self) -> None:
        """Ask for a memory and store it as it is."""
        text = await self.ask.text("Remember:", self._unsaved.get(_NEW, ""), check=_check_text)
        if text is not None:
            self._unsaved[_NEW] = text
            self._carry_out(self._editor.add(text), _NEW)

    @work(exclusive=True, group="ask")
    async def action_edit(self) -> None:
        """Ask for another text of the memory under the cursor."""
        fact = self._named_fact()
        if fact is None:
            return
        before = " ".join(fact.text.split())
        text = await self.ask.text("Change to:", self._unsaved.get(fact.id, before), check=_check_text)
        if text is not None and text.strip() != before:
            self._unsaved[fact.id] = text
            self._carry_out(self._editor.update(fact.id, text), fact.id)

    @work(exclusive=True, group="ask")
    async def action_delete(self) -> None:
        """Delete the memory under the cursor, when a person says so."""
        fact = self._named_fact()
        if fact is not None and await self.ask.confirm(f"Delete {quoted(fact.text)}?"):
            self._carry_out(self._editor.delete(fact.id))

    def action_history(self) -> None:
        """Show what has happened to the memory under the cursor."""
        fact = self._named_fact()
        if fact is not None:
            self._carry_out(self._show_history(fact))

    async def action_forget(self) -> None:
        """Forget everything about the user, when a person says so; sessions go too, so the app does it."""
        await self.app.run_action("app.command('forget')")

    def action_leave(self) -> None:
        """From what was found to all memories; there the key means what it means elsewhere."""
        if not self._query:
            raise SkipAction
        self._look_for("")

    def _look_for(self, query: str) -> None:
        self._query, self._is_other_query = query, query != self._query
        self._said = f"searching for {quoted(query)} …" if query else "listing the memories …"
        self._draw_facts()
        self.action_load()

    @work(group="change")
    async def _carry_out(self, work: Awaitable[str], saved: str | None = None) -> None:
        """Do something with the store; what there is to say is told, and why it failed stands in the pane.

        Args:
            work: does it.
            saved: of which memory a text is saved by that.
        """
        self._problem = ""
        try:
            told = await work
        except Exception as error:
            kept = "" if saved is None else " (what you typed stands there when you try again)"
            self._problem = f"{_in_words(error)}{kept}"
        else:
            if saved is not None:
                self._unsaved.pop(saved, None)
            if told:
                self.notify(told, markup=False)
        self._draw_facts()

    async def _show_history(self, fact: Fact) -> str:
        changes = await self._middleware.facts.history(fact.id)
        self.app.push_screen(ReadingScreen(f"History of {quoted(fact.text)}", history_sections(changes)))
        return ""

    def _fact(self) -> Fact | None:
        return self._facts.fact(self._fact_rows.cursor)

    def _named_fact(self) -> Fact | None:
        """The memory under the cursor, if it can be spoken of."""
        fact = self._fact()
        if fact is not None and not fact.id:
            self.notify("This store does not say the ids of its memories, so this cannot be done.", markup=False)
            return None
        return fact

    def _draw_facts(self) -> None:
        self._fact_rows.rows_changed()
        lines = [literal_line(self._said)]
        lines += [literal_line(problem, "$text-error") for problem in (self._load_problem, self._problem) if problem]
        self.put(self._fact_head, Content("\n").join(lines))
        self._show_fact()

    def _show_fact(self) -> None:
        fact = self._fact()
        self.put(self._foot, literal_line(fact_line(fact) if fact is not None else ""))

    def _summary(self) -> str:
        middleware, writing = self._middleware, self._view.writing
        parts = [f"mem0 {middleware.mode}", f"user {middleware.scope.user}"]
        if writing:
            parts.append(f"{writing} being written")
        if not self._view.turns:
            parts.append("no reply yet")
        return " · ".join(parts)


def _check_text(text: str) -> None:
    if not text.strip():
        raise ValueError("A memory must say something; esc leaves it.")


def _in_words(error: Exception) -> str:
    return first_line(str(error)) or type(error).__name__
