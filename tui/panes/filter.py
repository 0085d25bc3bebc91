"""The filter pane: a filter is made, looked through, and applied."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input

from agent_core.agent import Agent
from agent_core.marks import MemoryFilter
from tui.commands import FILTER, bindings
from tui.mark_syntax import (
    MarkSyntaxError,
    describe_filter,
    explain_contradiction,
    format_marks,
    make_filter,
    parse_marks,
)
from tui.panes.filter_rows import FilterRows
from tui.panes.pane import Pane
from tui.panes.views_changed import ViewsChanged
from tui.screens.comparing import comparing_screen
from tui.views.filter import FilterView
from tui.widgets.line_input import MarksInput
from tui.widgets.literal import Literal, literal_line
from tui.widgets.row_list import RowList

_EVERYTHING = MemoryFilter()


class FilterPane(Pane):
    """Shows what the agent sends by and what the content pane shows by, and lets a person make another filter.

    Args:
        agent: whose filter it is.
        view: what is shown.

    Attributes:
        sticky_marks: set on what is typed next; the app keeps them and sets them here.
    """

    TITLE = "Filter"
    HELP = (
        "What the filter lets through. A filter that you make here is looked through first: the content pane shows "
        "what passes, and the agent still sends what it sent. Applied, it governs what the agent sends. Summary on "
        "keeps covered messages out and sends the summary for them; off brings them back."
    )
    BINDINGS = bindings(FILTER)
    DEFAULT_CSS = """
    FilterPane {
        .line { height: 1; padding: 0 1; }
        .line > .label { width: 9; color: $text-muted; }
        .line > Input { width: 1fr; }
        .line > #summary { width: 1fr; }
        .pane-head { color: $text; }
        #notes { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }
        RowList { min-height: 2; }
    }
    """

    sticky_marks: reactive[tuple[str, ...]] = reactive(())

    @dataclass
    class StickyMarksChanged(Message):
        """A person wants these marks on what is typed next."""

        marks: tuple[str, ...]

    def __init__(self, agent: Agent, view: FilterView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._view = view
        self._head = Literal(classes="pane-head")
        self._wanted = MarksInput(self._known_marks, placeholder="any", id="wanted")
        self._unwanted = MarksInput(self._known_marks, placeholder="none", id="unwanted")
        self._summary = Literal(id="summary")
        self._notes = Literal(id="notes")
        self._marks = FilterRows(view)
        self._rows = RowList(self._marks)
        self._sticky = MarksInput(self._known_marks, placeholder="no marks on what you say next", id="sticky")
        self._error = ""

    def compose(self) -> ComposeResult:
        """What is in force, the filter that is being made, what it lets through, all marks, the sticky marks."""
        yield self._head
        for label, widget in (("mark", self._wanted), ("not mark", self._unwanted), ("summary", self._summary)):
            yield Horizontal(Literal(label, classes="label"), widget, classes="line")
        yield self._notes
        yield self._rows
        yield Horizontal(Literal("next", classes="label"), self._sticky, classes="line")

    def draw(self) -> None:
        """Draw the pane."""
        draft = self._view.draft
        self._fill(self._wanted, draft.wanted or ())
        self._fill(self._unwanted, draft.unwanted)
        self.put(
            self._summary,
            "on: it goes for what it covers" if draft.prepend_summary else "off: what it covers goes itself",
        )
        self._marks.refresh()
        self._rows.rows_changed()
        self.put(self._head, self._in_force())
        self.put(self._notes, self._what_passes())

    def watch_sticky_marks(self, marks: tuple[str, ...]) -> None:
        """Show marks that were set elsewhere."""
        self._fill(self._sticky, marks)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Follow what is typed as long as it can be read."""
        event.stop()
        if event.input is self._sticky:
            return
        try:
            wanted, unwanted = parse_marks(self._wanted.value), parse_marks(self._unwanted.value)
        except MarkSyntaxError as error:
            self._error = str(error)
            self.put(self._notes, self._what_passes())
            return
        self._error = ""
        self._edit(make_filter(wanted, unwanted, self._view.draft.prepend_summary))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the marks; with sticky marks, set them."""
        event.stop()
        if event.input is self._sticky:
            self._set_sticky(event.value)
        elif not self._error:
            self._rows.focus()

    def on_click(self, event: Click) -> None:
        """Switch the summary where it is clicked on."""
        if event.widget is self._summary:
            self.action_switch_summary()

    def on_row_list_opened(self) -> None:
        """Want the mark that was clicked twice, or no longer."""
        self.action_want()

    def action_want(self) -> None:
        """Want the mark under the cursor, or no longer."""
        mark = self._rows.cursor_key
        if isinstance(mark, str):
            self._view.toggle_wanted(mark)
            self._changed()

    def action_leave_out(self) -> None:
        """Leave out what has the mark under the cursor, or no longer."""
        mark = self._rows.cursor_key
        if isinstance(mark, str):
            self._view.toggle_unwanted(mark)
            self._changed()

    def action_switch_summary(self) -> None:
        """Switch the summary on or off."""
        self._edit(replace(self._view.draft, prepend_summary=not self._view.draft.prepend_summary))

    def action_apply(self) -> None:
        """Have the agent send by the filter that was made here."""
        self._agent.memory_filter = self._view.draft
        self._view.look(False)
        self._changed()

    def action_look(self) -> None:
        """Have the content pane show only what passes, or everything."""
        self._view.look(not self._view.is_looking)
        self._changed()

    def action_clear(self) -> None:
        """Filter nothing any more, here and at the agent."""
        self._agent.memory_filter = _EVERYTHING
        self._edit(_EVERYTHING)

    def action_compare(self) -> None:
        """Show the filter that was made here beside the one that the agent sends by."""
        if self._view.is_applied:
            self.notify("This filter is the one applied: make another, and it is compared with it.", markup=False)
        else:
            self.app.push_screen(comparing_screen(self._view.stored, self._view.applied, self._view.draft))

    def action_type(self) -> None:
        """Type marks."""
        self._wanted.focus()

    def action_leave(self) -> None:
        """Back from a line to the marks; from there the key means what it means elsewhere."""
        if self._rows.has_focus:
            raise SkipAction
        self._rows.focus()

    def _edit(self, draft: MemoryFilter) -> None:
        if draft != self._view.draft:
            self._view.edit(draft)
            self._changed()

    def _changed(self) -> None:
        self.draw()
        self.post_message(ViewsChanged(frozenset({"content", "filter"})))

    def _set_sticky(self, text: str) -> None:
        try:
            marks = parse_marks(text)
        except MarkSyntaxError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.post_message(self.StickyMarksChanged(marks))
            self._rows.focus()

    def _fill(self, line: Input, marks: tuple[str, ...]) -> None:
        # What a person is typing is not put into another form under the cursor.
        if line.has_focus and _reads_as(line.value, marks):
            return
        with self.prevent(Input.Changed):
            line.value = format_marks(marks)

    def _known_marks(self) -> list[str]:
        return [count.mark for count in self._view.marks]

    def _in_force(self) -> Content:
        """What the agent sends by, and what the content pane shows by."""
        view = self._view
        sends = "bold $text-warning" if view.applied != _EVERYTHING else "bold"
        shows = f"{describe_filter(view.draft)}  (view only)" if view.is_looking else "everything"
        return Content.assemble(
            ("agent sends    ", "$text-muted"),
            literal_line(describe_filter(view.applied), sends),
            "\n",
            ("content shows  ", "$text-muted"),
            literal_line(shows, "bold $text-accent" if view.is_looking else ""),
        )

    def _what_passes(self) -> Content:
        view = self._view
        will = "sends " if view.is_applied else "would send "
        lines = [literal_line(f"passes {view.passing_line}"), literal_line(f"{will}{view.sending_line}")]
        if problem := self._error or explain_contradiction(view.draft):
            lines.insert(0, literal_line(problem, "$text-error"))
        elif not view.is_applied:
            lines.insert(0, literal_line("not applied: a has the agent send by it, c clears it", "$text-accent"))
        return Content("\n").join(lines)


def _reads_as(text: str, marks: tuple[str, ...]) -> bool:
    """Whether `text` means these marks, or nothing yet."""
    try:
        return parse_marks(text) == marks
    except MarkSyntaxError:
        return True
