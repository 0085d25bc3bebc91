"""What the keys of the index pane change: memories are written, edited, renamed, deleted, and all that is undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, cast

from textual import work
from textual.message import Message

from agent_core.errors import MnemoscopeError
from memory.agentic.folder import INDEX_NAME
from memory.agentic.memory_disk import MemoryConflict
from memory.agentic.memory_file import BINARY
from memory.agentic.names import checked_name
from tui.draft import Draft
from tui.external_editor import edit_outside
from tui.panes.index_base import IndexBase
from tui.panes.memory_hand import NEW_MEMORY, saving, saving_new
from tui.screens.editing import EditingScreen, Save
from tui.screens.reading import ReadingScreen
from tui.views.history import told_action
from tui.views.message_details import Section
from tui.widgets.file_text import why_not

if TYPE_CHECKING:
    from memory.agentic.book import MemoryBook, Shown
    from memory.agentic.journal_entry import JournalEntry
    from memory.agentic.writer import Written
    from tui.app import MnemoscopeApp

T = TypeVar("T")
_NAMED = 3


class IndexKeys(IndexBase):
    """The actions that change memories. What came of them comes back through the trace and the next look."""

    class ForGoodAsked(Message):
        """A memory is to be deleted for good, with what sessions tell of it, which is not for a pane to do.

        Args:
            path: the memory, from its folder.
            done: to be called afterwards.
        """

        def __init__(self, path: str, done: Callable[[], None]) -> None:
            super().__init__()
            self.path = path
            self.done = done

    def action_new(self) -> None:
        """Write a new memory."""
        if (book := self.book()) is not None:
            note = "The description decides whether it is recalled: make it specific."
            self._open_editor("A new memory", NEW_MEMORY, saving_new(book), note)

    @work(exclusive=True, group="hand")
    async def action_edit(self) -> None:
        """Edit the memory here."""
        if (file := self.file()) is not None:
            await self._edit_here(file.path)

    @work(exclusive=True, group="hand")
    async def action_edit_index(self) -> None:
        """Edit MEMORY.md here."""
        await self._edit_here(INDEX_NAME)

    @work(exclusive=True, group="hand")
    async def action_edit_outside(self) -> None:
        """Edit the memory in the editor that the person has set."""
        file, book = self.file(), self.book()
        if file is None or book is None:
            return
        try:
            shown = await book.show(file.path)
            draft = Draft(shown.path, shown.data)
        except MnemoscopeError as error:
            self.tell(str(error), "error")
            return
        app = cast("MnemoscopeApp", self.app)
        app.draft = draft
        try:
            after, problem = await edit_outside(self.app, draft)
        except MnemoscopeError as error:
            self.tell(str(error), "warning")
            return
        finally:
            app.draft = None
            draft.discard()
        if after == shown.data:
            self.tell(problem or f"{shown.path} is as it was.", "warning" if problem else "information")
        else:
            await self._save_from_outside(book, shown, after.decode("utf-8", "replace"), problem)

    @work(exclusive=True, group="hand")
    async def action_rename(self) -> None:
        """Ask for another name, tell what will change, and rename."""
        file, book = self.file(), self.book()
        if file is None or book is None:
            return
        new = await self.ask.text(f"Rename {file.relative} to:", file.relative, check=checked_name)
        touched = await self._outcome(book.renamed_with(file.path, new)) if new else None
        if not new or not touched:
            return
        links = f"; links to it change in {_names(touched[1:])}" if touched[1:] else "; no links lead to it"
        if await self.ask.confirm(f"Rename {file.relative} to {touched[0]}{links}?"):
            await self.carry_out(book.rename(file.path, new), f"{touched[0]}: renamed, u takes it back.")

    @work(exclusive=True, group="hand")
    async def action_delete(self) -> None:
        """Delete the memory, or delete it for good, when a person says so."""
        file, book = self.file(), self.book()
        if file is None or book is None:
            return
        choices = {"y": "yes, U brings it back", "f": "for good, wherever it is told of", "n": "no"}
        answer = await self.ask.choose(f"Delete {file.relative}?", choices)
        if answer == "y":
            await self.carry_out(book.delete(file.path), f"{file.relative} is deleted; U brings it back.")
        elif answer == "f":
            self.post_message(self.ForGoodAsked(file.relative, self.look_soon))

    @work(exclusive=True, group="hand")
    async def action_pin(self) -> None:
        """Have the memory recalled before all others, or no more."""
        file, book = self.file(), self.book()
        if file is not None and book is not None:
            done = "no longer pinned" if file.is_pinned else "recalled before all others now"
            await self.carry_out(book.pin(file.path, not file.is_pinned), f"{file.relative}: {done}.")

    @work(exclusive=True, group="hand")
    async def action_disable(self) -> None:
        """Take the memory out of use, or back into use."""
        file, book = self.file(), self.book()
        if file is not None and book is not None:
            done = "in use again" if file.is_disabled else "out of use, not deleted; x takes it back"
            await self.carry_out(book.disable(file.path, not file.is_disabled), f"{file.relative}: {done}.")

    @work(exclusive=True, group="hand")
    async def action_undo(self) -> None:
        """Undo the last change of the memory."""
        file, book = self.file(), self.book()
        if file is not None and book is not None:
            await self._undo_last(book, file.path, file.relative)

    @work(exclusive=True, group="hand")
    async def action_undo_any(self) -> None:
        """Undo the last change of any memory, when a person says so."""
        book = self.book()
        if book is not None:
            await self._undo_last(book, None, "the memory")

    async def undo(self, book: MemoryBook, entry: JournalEntry) -> bool:
        """Undo a change and tell what came of it; whether it was undone."""
        undone = await self._outcome(book.undo(entry.id), f"Not undone: {entry.path}")
        if undone is None:
            return False
        left = f" Changed since, and left as it is: {_names(undone.left)}." if undone.left else ""
        self.tell(f"Undone: {told_action(entry)}. Undoing that brings it back.{left}")
        self.look_soon()
        return True

    async def carry_out(self, change: Awaitable[Written], done: str) -> None:
        """Make a change and tell what was done, or what went wrong."""
        if await self._outcome(change, "Nothing was written") is not None:
            self.tell(done)
        self.look_soon()

    async def _outcome(self, work: Awaitable[T], refused: str = "") -> T | None:
        """What the work gives; None when it goes wrong, which is told.

        Args:
            refused: heads the difference that is shown where a file has changed since it was seen.
        """
        try:
            return await work
        except MemoryConflict as conflict:
            sections = [Section("", str(conflict)), Section("changed since", conflict.diff, is_diff=True)]
            self.app.push_screen(ReadingScreen(refused, sections))
        except MnemoscopeError as error:
            self.tell(str(error), "error")
        return None

    async def _undo_last(self, book: MemoryBook, path: str | None, name: str) -> None:
        history = await self._outcome(book.history(path))
        if history is None:
            return
        entries = [entry for entry in history if path is not None or not entry.group]
        if not entries:
            self.tell(f"Nothing has changed {name} since its history began.")
        elif path is not None or await self.ask.confirm(f"Undo the last change: {told_action(entries[0])}?"):
            await self.undo(book, entries[0])

    async def _edit_here(self, path: str) -> None:
        book = self.book()
        shown = await self._outcome(book.show(path)) if book is not None else None
        if book is None or shown is None:
            return
        problem = "it is binary" if BINARY in shown.badges else why_not(shown.text)
        if problem:
            self.tell(f"{shown.path} cannot be edited here: {problem}. E opens it in $EDITOR.", "warning")
        else:
            self._open_editor(shown.path, shown.text, saving(book, shown.path, shown.data), "; ".join(shown.badges))

    async def _save_from_outside(self, book: MemoryBook, shown: Shown, text: str, problem: str) -> None:
        """Save what came back; where that cannot be done at once, the text stays in the editor of the app."""
        save = saving(book, shown.path, shown.data)
        note = problem

        async def refuse(question: str, diff: str) -> bool:
            nonlocal note
            note = question
            return False

        if not note:
            try:
                if await save(text, refuse):
                    self.tell(f"{shown.path} is saved; u takes it back.")
                    self.look_soon()
                    return
            except MnemoscopeError as error:
                note = str(error)
        self._open_editor(shown.path, text, save, f"Not saved yet: {note}", is_saved=False)

    def _open_editor(self, title: str, text: str, save: Save, note: str = "", *, is_saved: bool = True) -> None:
        screen = EditingScreen(title, text, save, note=note, is_saved=is_saved)
        self.app.push_screen(screen, lambda _: self.look_soon())


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
