"""A screen on which a text is edited and saved. It is left only when the text is saved or a person gives it up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Footer, TextArea

from agent_core.errors import MnemoscopeError
from tui.commands import EDITING, bindings
from tui.diff_content import diff_content
from tui.screens.framed import FramedScreen
from tui.widgets.ask_line import AskLine
from tui.widgets.asking import Asking
from tui.widgets.file_text import FileText
from tui.widgets.literal import Literal, literal

Confirm = Callable[[str, str], Awaitable[bool]]
"""Asks a question; the second argument is a diff that is shown with it, or empty."""
Save = Callable[[str, Confirm], Awaitable[bool]]
"""Saves a text, and tells whether it has; may raise a `MnemoscopeError` that says why not."""


class EditingScreen(Asking, FramedScreen[None]):
    """Edits one text, above what was there.

    Args:
        title: what it is.
        text: the text at first.
        save: saves it; when it has not, the screen stays, with the text.
        note: what to know about it, in one line.
        is_saved: whether the text as it is given is saved anywhere.
    """

    BINDINGS = bindings(EDITING)
    DEFAULT_CSS = """
    EditingScreen {
        FileText { height: 1fr; background: $surface; }
        .note { height: auto; max-height: 3; color: $text-warning; }
        .change { height: auto; max-height: 40%; background: $panel; display: none; }
    }
    """

    def __init__(self, title: str, text: str, save: Save, *, note: str = "", is_saved: bool = True) -> None:
        super().__init__()
        self._title = title
        self._save = save
        self._saved_text: str | None = None
        self._is_saved = is_saved
        self._area = FileText(text)
        self._note = Literal(note, classes="note")
        self._change = Literal()
        self.ask = AskLine()

    @property
    def is_changed(self) -> bool:
        """Whether there is something to lose."""
        return not self._is_saved or self._area.file_text != self._saved_text

    @property
    def unsaved(self) -> tuple[str, str] | None:
        """What it is and how it reads now; None when there is nothing to lose."""
        return (self._title, self._area.file_text) if self.is_changed else None

    def compose(self) -> ComposeResult:
        """The text, what there is to say about it, a question when there is one."""
        with Vertical(classes="frame") as frame:
            frame.border_title = literal(self._title)
            yield self._area
            yield VerticalScroll(self._change, classes="change")
            yield self._note
            yield self.ask
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to edit."""
        self._saved_text = self._area.file_text
        self._area.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """What was said about the text before is over."""
        event.stop()
        self._note.show("")

    def take_command(self, id: str) -> bool:
        """Take the keys of the app that would lose the text; whether it was one of them."""
        if id == "stop_or_quit":
            if text := self._area.selected_text:
                self.app.copy_to_clipboard(text)
        elif id == "quit":
            self.action_leave()
        return id in ("stop_or_quit", "quit")

    @work(exclusive=True)
    async def action_save(self) -> None:
        """Save, and leave."""
        await self._try_to_save()

    @work(exclusive=True)
    async def action_leave(self) -> None:
        """Leave, unless something would be lost that a person wants to keep."""
        if not self.is_changed:
            self.dismiss()
            return
        choices = {"y": "throw the changes away", "s": "save them", "n": "go on"}
        match await self.ask.choose("Not saved yet.", choices):
            case "y":
                self.dismiss()
            case "s":
                await self._try_to_save()

    async def _try_to_save(self) -> None:
        if not self.is_changed:
            self.dismiss()
            return
        try:
            is_done = await self._save(self._area.file_text, self._confirm)
        except MnemoscopeError as error:
            self._note.show(str(error))
            return
        if is_done:
            self.dismiss()

    async def _confirm(self, question: str, diff: str) -> bool:
        panel = self.query_one(".change", VerticalScroll)
        self._change.show(diff_content(diff))
        panel.display = bool(diff)
        try:
            return await self.ask.confirm(question)
        finally:
            panel.display = False
