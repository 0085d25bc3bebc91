"""The content pane: every stored message with its marks, and whether it is in the next prompt."""

from __future__ import annotations

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.content import Content

from agent_core.agent import Agent
from tui.commands import CONTENT, bindings
from tui.mark_syntax import describe_filter, format_marks, make_filter
from tui.panes.content_changes import ContentChanges
from tui.panes.content_rows import ContentRows
from tui.panes.content_search import find
from tui.panes.memory_editor import MemoryEditor
from tui.panes.pane import Pane
from tui.panes.summary_editing import saving_summary
from tui.panes.views_changed import ViewsChanged
from tui.screens.editing import EditingScreen
from tui.screens.reading import ReadingScreen
from tui.screens.summary import SummaryScreen, Wish
from tui.views.change_preview import Numbered
from tui.views.content import ContentView, Row
from tui.views.figures import estimated, plural, short_id
from tui.views.filter import FilterView
from tui.views.message_details import message_sections
from tui.views.prompt_story import verdict
from tui.views.rules import rules_behind
from tui.views.summary_text import summary_excerpt, summary_sections
from tui.widgets.ask_line import AskLine
from tui.widgets.asking import Asking
from tui.widgets.file_text import why_not
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

_EXCERPT_LENGTH = 56


class ContentPane(Asking, Pane):
    """Shows the working memory and lets a person change it.

    Args:
        agent: whose memory it is.
        view: what is shown.
        filter_view: holds the filter through which it is looked at.
        editor: changes it; shared with whatever else changes it, so that all of it can be undone.
    """

    TITLE = "Content"
    HELP = (
        "Every message that the agent holds, oldest first: its number, whether it is in the next prompt (✓) or not "
        "(✗, with the reason), role, name, tokens, marks and first line. Marks decide what a filter lets through."
    )
    BINDINGS = bindings(CONTENT)

    def __init__(
        self,
        agent: Agent,
        view: ContentView,
        filter_view: FilterView,
        editor: MemoryEditor,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._view = view
        self._filter = filter_view
        self._editor = editor
        # All of them: the agent drops one that took too long, which has set marks until then all the same.
        self._mark_rules = agent.mark_rules
        self._head = Literal(classes="pane-head")
        self._rows = RowList(ContentRows(view), follow="end")
        self._foot = Literal(classes="pane-foot")
        self.ask = AskLine()
        self._changes = ContentChanges(editor, view, self.ask, self)
        self._query = ""
        self._note: tuple[int | None, str] = (None, "")

    def compose(self) -> ComposeResult:
        """What there is to say of all, the rows, and more on the row under the cursor."""
        yield self._head
        yield self._rows
        yield self._foot
        yield self.ask

    def draw(self) -> None:
        """Draw the pane. What was noted stays where the rows change under a cursor that nobody moved."""
        place, note = self._note
        stays = place == self._rows.cursor
        self._rows.rows_changed()
        if stays:
            self._note = self._rows.cursor, note
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
            sections = message_sections(row, self._view.prompts, rules_behind(row.entry, self._mark_rules))
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
        await self._changes.mark()

    @work(exclusive=True)
    async def action_mark_again(self) -> None:
        """Toggle the marks that were used last on the targets."""
        await self._changes.mark_again()

    @work(exclusive=True)
    async def action_rename_mark(self) -> None:
        """Rename a mark on what is selected, or everywhere."""
        await self._changes.rename_mark()

    @work(exclusive=True)
    async def action_remove_mark(self) -> None:
        """Take a mark off the targets."""
        await self._changes.remove_mark(everywhere=False)

    @work(exclusive=True)
    async def action_remove_mark_everywhere(self) -> None:
        """Take a mark off every message."""
        await self._changes.remove_mark(everywhere=True)

    @work(exclusive=True)
    async def action_delete(self) -> None:
        """Delete the targets, when a person says so."""
        await self._changes.delete()

    @work(exclusive=True)
    async def action_delete_by_mark(self) -> None:
        """Delete every message that has a mark, when a person says so."""
        await self._changes.delete_by_mark()

    @work(exclusive=True)
    async def action_clear(self) -> None:
        """Delete everything, when a person says so."""
        await self._changes.clear()

    @work(group="undo")
    async def action_undo(self) -> None:
        """Take back what was done last."""
        await self._changes.undo()

    @work(group="undo")
    async def action_redo(self) -> None:
        """Do again what was undone last."""
        await self._changes.redo()

    def action_summary(self) -> None:
        """Read the summary, and then do with it what a person wants."""
        sections = summary_sections(self._view, *self._window())
        if self._view.stored.summary:
            self.app.push_screen(SummaryScreen("Summary", sections), self._treat_summary)
        else:
            self.app.push_screen(ReadingScreen("No summary", sections))

    def _treat_summary(self, wish: Wish | None) -> None:
        match wish:
            case "edit":
                self._edit_summary()
            case "remove":
                self._remove_summary()

    def _edit_summary(self) -> None:
        summary = self._view.stored.summary
        if problem := why_not(summary):
            self.tell(f"The summary cannot be edited here: {problem}.", is_error=True)
            return

        def tell(_: None) -> None:
            if self._view.stored.summary != summary and self._editor.can_undo:
                self.note("edit the summary (u undoes it)")

        save = saving_summary(self._editor, self._view.stored)
        self.app.push_screen(EditingScreen("Summary", summary, save), tell)

    @work(exclusive=True)
    async def _remove_summary(self) -> None:
        await self._changes.remove_summary()

    @work(exclusive=True)
    async def action_find(self) -> None:
        """Ask what to search for, and go to the next message that has it."""
        query = await self.ask.text("Search for:", self._query)
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
            mark = await self._changes.choose_mark("Show only what has which mark?")
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

    @property
    def targets(self) -> list[Numbered]:
        """The messages that are selected, else the one under the cursor; of those that still are there."""
        wanted = set(self._rows.targets)
        stored = zip(self._view.stored.keys, self._view.stored.entries, strict=True)
        return [Numbered(place, entry) for place, (key, entry) in enumerate(stored, 1) if key in wanted]

    @property
    def has_selection(self) -> bool:
        """Whether messages are selected."""
        return bool(self._rows.selected)

    def note(self, text: str) -> None:
        """Say something below the rows, until the cursor moves."""
        self._note = self._rows.cursor, text
        self._show_row()

    def tell(self, text: str, *, is_error: bool = False) -> None:
        """Say something for a while."""
        self.notify(text, severity="error" if is_error else "information", markup=False)

    def _row(self) -> Row | None:
        """The stored message under the cursor; None when there is none, or it is in flight."""
        cursor, shown = self._rows.cursor, self._view.shown
        return None if cursor is None or cursor >= len(shown) else self._view.row(shown[cursor])

    def _find(self, *, forward: bool, include_here: bool = False) -> None:
        if self._query:
            here = self._rows.cursor or 0
            found = find(self._view, self._query, here, forward=forward, include_here=include_here)
            if found.row is not None:
                self._rows.move_cursor(found.row)
            self.note(found.note)
        else:
            self._show_row()

    def _summary(self) -> Content:
        view = self._view
        judged, count = view.judged, len(view.stored.entries)
        lines = [
            f"next prompt: {judged.sent} of {plural(count, 'message')}, {estimated(judged.sent_tokens)} tokens",
            view.summary_line(*self._window()),
        ]
        if view.stored.summary:
            lines.append(f"“{summary_excerpt(view.stored.summary, _EXCERPT_LENGTH)}” (s: all)")
        if self._filter.applied != make_filter((), ()):
            lines.append(f"filter applied: {describe_filter(self._filter.applied)}")
        if view.narrowing is not None:
            lines.append(f"view only: {len(view.shown)} with {describe_filter(view.narrowing)} (f: all again)")
        if self._editor.limits:
            lines.append(self._editor.limits)
        return Content("\n").join([literal_line(line) for line in lines])

    def _window(self) -> tuple[float, int | None]:
        """The share of the window that calls for a summary, and the window in tokens."""
        return self._agent.context_config.trigger_ratio, self._agent.model.context_size

    def _show_row(self) -> None:
        row = self._row()
        place, note = self._note
        parts = [note] if note and place == self._rows.cursor else []
        if self._rows.selected:
            parts.append(f"{len(self._rows.selected)} selected")
        if row is not None:
            marks = format_marks(row.entry.marks) or "no marks"
            parts += [f"{row.number} {verdict(row.included, row.reason)}", marks, f"id {short_id(row.entry.msg.id)}"]
        self.put(self._foot, literal_line(" · ".join(parts)))
