"""The content pane: every stored message with its marks, and whether it is in the next prompt."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.content import Content

from agent_core.agent import Agent
from agent_core.marks import Entry
from agent_core.text import first_line
from tui.commands import CONTENT, bindings
from tui.mark_syntax import describe_filter, format_mark, format_marks, make_filter, parse_mark, parse_marks
from tui.panes.content_rows import ContentRows
from tui.panes.memory_editor import MemoryEditor
from tui.panes.pane import Pane
from tui.panes.views_changed import ViewsChanged
from tui.screens.reading import ReadingScreen
from tui.views.content import ContentView, Row
from tui.views.figures import estimated, plural
from tui.views.filter import FilterView
from tui.views.message_details import message_sections, verdict
from tui.views.message_text import whole_text
from tui.widgets.ask_line import AskLine
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

_ID_LENGTH = 8


class ContentPane(Pane):
    """Shows the working memory and lets a person change it.

    Args:
        agent: whose memory it is.
        view: what is shown.
        filter_view: holds the filter through which it is looked at.
    """

    TITLE = "Content"
    HELP = (
        "Every message that the agent holds, oldest first: its number, whether it is in the next prompt (✓) or not "
        "(✗, with the reason), role, name, tokens, marks and first line. Marks decide what a filter lets through."
    )
    BINDINGS = bindings(CONTENT)

    def __init__(self, agent: Agent, view: ContentView, filter_view: FilterView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._view = view
        self._filter = filter_view
        self._editor = MemoryEditor(agent)
        self._head = Literal(classes="pane-head")
        self._rows = RowList(ContentRows(view), follow="end")
        self._foot = Literal(classes="pane-foot")
        self._ask = AskLine()
        self._last_marks: tuple[str, ...] = ()
        self._query = ""
        self._found: tuple[int | None, str] = (None, "")

    def compose(self) -> ComposeResult:
        """What there is to say of all, the rows, and more on the row under the cursor."""
        yield self._head
        yield self._rows
        yield self._foot
        yield self._ask

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While a question is open, keys belong to its answer."""
        return not self._ask.has_focus_within

    def draw(self) -> None:
        """Draw the pane."""
        self._rows.rows_changed()
        self.put(self._head, self._summary())
        self._show_row()

    def on_row_list_cursor_moved(self) -> None:
        """Say more on another row."""
        self._show_row()

    def on_row_list_opened(self) -> None:
        """Open the row that was clicked twice."""
        self.action_open()

    def action_open(self) -> None:
        """Open the message under the cursor whole."""
        row = self._row()
        if row is not None:
            sections = message_sections(row, self._view.last_prompt.get(row.entry.msg.id))
            self.app.push_screen(ReadingScreen(f"Message {row.number}", sections))

    def action_select(self) -> None:
        """Select the message under the cursor, and go on to the next."""
        self._rows.toggle_row()
        self._rows.action_down()
        self._show_row()

    def action_select_all(self) -> None:
        """Select all messages that are shown, or none."""
        self._rows.toggle_all()
        self._show_row()

    @work(exclusive=True)
    async def action_mark(self) -> None:
        """Ask for marks and toggle them on the targets."""
        if not self._targets():
            return
        question = f"Mark on {self._concerned()} (one that all have comes off):"
        text = await self._ask.text(question, known=list(self._view.stored.mark_counts), check=parse_marks)
        if text:
            await self._toggle(parse_marks(text))

    @work(exclusive=True)
    async def action_mark_again(self) -> None:
        """Toggle the marks that were used last on the targets."""
        if self._last_marks:
            await self._toggle(self._last_marks)
        else:
            self.notify("No mark has been set yet: m sets one.", markup=False)

    @work(exclusive=True)
    async def action_rename_mark(self) -> None:
        """Rename a mark on what is selected, or everywhere."""
        old = await self._choose_mark("Rename which mark?")
        if old is None:
            return
        selected = bool(self._rows.selected)
        count = sum(old in entry.marks for entry in self._targets()) if selected else self._view.stored.mark_counts[old]
        question = f"Rename {format_mark(old)} on {'' if selected else 'all '}{plural(count, 'message')} to:"
        text = await self._ask.text(question, format_mark(old), check=parse_mark)
        if text:
            ids = [entry.msg.id for entry in self._targets()] if selected else None
            await self._carry_out(self._editor.replace_mark(old, parse_mark(text), ids))

    @work(exclusive=True)
    async def action_remove_mark(self) -> None:
        """Take a mark off the targets."""
        mark = await self._choose_mark(f"Take which mark off {self._concerned()}?", here=True)
        if mark is not None:
            ids = [entry.msg.id for entry in self._targets()]
            await self._carry_out(self._editor.replace_mark(mark, None, ids))

    @work(exclusive=True)
    async def action_delete(self) -> None:
        """Delete the targets, when a person says so."""
        keys = self._rows.targets
        if not keys or not await self._ask.confirm(f"Delete {self._concerned()}?"):
            return
        await self._carry_out(self._editor.delete([entry.msg.id for entry in self._entries(keys)]))

    @work(exclusive=True)
    async def action_find(self) -> None:
        """Ask what to search for, and go to the next message that has it."""
        query = await self._ask.text("Search for:", self._query)
        if query is not None:
            self._query = query
            self._find(forward=True, include_here=True)

    def action_find_next(self) -> None:
        """Go to the next message that has what was searched for."""
        self._find(forward=True)

    def action_find_previous(self) -> None:
        """Go to the one before."""
        self._find(forward=False)

    @work(exclusive=True)
    async def action_filter_mark(self) -> None:
        """Look at what has a mark of the message only, or at everything again."""
        if self._filter.is_looking:
            self._filter.edit(self._filter.applied)
        else:
            mark = await self._choose_mark("Show only what has which mark?")
            if mark is None:
                return
            self._filter.edit(make_filter((mark,), (), self._filter.applied.prepend_summary))
            self._filter.look(True)
        self.draw()
        self.post_message(ViewsChanged(frozenset({"content", "filter"})))

    def action_leave(self) -> None:
        """Select nothing; without a selection the key means what it means elsewhere."""
        if not self._rows.selected:
            raise SkipAction
        self._rows.clear_selection()
        self._show_row()

    def _row(self) -> Row | None:
        """The stored message under the cursor; None when there is none, or it is in flight."""
        cursor, shown = self._rows.cursor, self._view.shown
        return None if cursor is None or cursor >= len(shown) else self._view.row(shown[cursor])

    def _targets(self) -> list[Entry]:
        return self._entries(self._rows.targets)

    def _entries(self, keys: Sequence[object]) -> list[Entry]:
        """The messages that still are there of those that the keys name."""
        wanted = set(keys)
        pairs = zip(self._view.stored.keys, self._view.stored.entries, strict=True)
        return [entry for key, entry in pairs if key in wanted]

    def _concerned(self) -> str:
        return plural(len(self._rows.targets), "message")

    async def _choose_mark(self, question: str, *, here: bool = False) -> str | None:
        """The one mark of the targets, or the one of several that a person chooses; `here` offers no others."""
        marks = tuple(dict.fromkeys(mark for entry in self._targets() for mark in entry.marks))
        if len(marks) == 1:
            return marks[0]
        known = marks if here else (*marks, *self._view.stored.mark_counts)
        if not known:
            self.notify("There is no mark here." if here else "There are no marks yet.", markup=False)
            return None
        text = await self._ask.text(f"{question} {format_marks(marks)}".strip(), known=known, check=parse_mark)
        return parse_mark(text) if text else None

    async def _toggle(self, marks: tuple[str, ...]) -> None:
        self._last_marks = marks
        await self._carry_out(self._editor.toggle_marks(marks, self._targets()))

    async def _carry_out(self, change: Coroutine[Any, Any, int]) -> None:
        """Make a change; what goes wrong is told in one line."""
        try:
            changed = await change
        except Exception as error:
            # A memory of the user's own may raise anything; the app goes on.
            self.notify(first_line(str(error)) or type(error).__name__, severity="error", markup=False)
        else:
            if not changed:
                self.notify("Nothing had to be changed.", markup=False)

    def _find(self, *, forward: bool, include_here: bool = False) -> None:
        query = self._query.casefold()
        if not query:
            self._show_row()
            return
        entries, shown = self._view.stored.entries, self._view.shown
        found = [index for index, place in enumerate(shown) if query in whole_text(entries[place].msg).casefold()]
        here = self._rows.cursor or 0
        if not found:
            self._found = here, f"“{self._query}” is in none of these messages"
        else:
            after = [index for index in found if index > here or (include_here and index == here)]
            before = [index for index in found if index < here]
            index = (after or found)[0] if forward else (before or found)[-1]
            self._found = index, f"“{self._query}”: {found.index(index) + 1} of {len(found)}, n and N go on"
            self._rows.move_cursor(index)
        self._show_row()

    def _summary(self) -> Content:
        view = self._view
        judged, count = view.judged, len(view.stored.entries)
        lines = [
            f"next prompt: {judged.sent} of {plural(count, 'message')}, {estimated(judged.sent_tokens)} tokens",
            view.summary_line(self._agent.context_config.trigger_ratio, self._agent.model.context_size),
        ]
        if self._filter.applied != make_filter((), ()):
            lines.append(f"filter applied: {describe_filter(self._filter.applied)}")
        if view.narrowing is not None:
            lines.append(f"view only: {len(view.shown)} with {describe_filter(view.narrowing)} (f: all again)")
        if self._editor.limits:
            lines.append(self._editor.limits)
        return Content("\n").join([literal_line(line) for line in lines])

    def _show_row(self) -> None:
        row = self._row()
        place, note = self._found
        parts = [note] if note and place == self._rows.cursor else []
        if self._rows.selected:
            parts.append(f"{len(self._rows.selected)} selected")
        if row is not None:
            marks = format_marks(row.entry.marks) or "no marks"
            parts += [f"{row.number} {verdict(row.included, row.reason)}", marks, f"id {row.entry.msg.id[:_ID_LENGTH]}"]
        self.put(self._foot, literal_line(" · ".join(parts)))
