"""What a person changes in the content pane: asked for, shown before it happens, done, and undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from agent_core.marks import COMPRESSED
from agent_core.text import first_line
from tui.mark_syntax import format_mark, format_marks, parse_mark, parse_marks
from tui.panes.memory_editor import Change, MemoryEditor
from tui.views.change_preview import Numbered, concerned, message_lines
from tui.views.content import ContentView
from tui.views.figures import plural
from tui.widgets.ask_line import AskLine

_NAMED = 8


class Place(Protocol):
    """Where changes are asked for."""

    @property
    def targets(self) -> list[Numbered]:
        """The messages that are selected, else the one under the cursor."""

    @property
    def has_selection(self) -> bool:
        """Whether the targets are selected."""

    def note(self, text: str) -> None:
        """Say something in passing."""

    def tell(self, text: str, *, is_error: bool = False) -> None:
        """Say something that is not to be missed."""


class ContentChanges:
    """Carries changes out. Its methods wait for a person, so call them from a worker.

    Args:
        editor: changes the memory.
        view: what the memory holds.
        ask: where questions are asked.
        place: says what is to be changed, and shows what came of it.
    """

    def __init__(self, editor: MemoryEditor, view: ContentView, ask: AskLine, place: Place) -> None:
        self._editor = editor
        self._view = view
        self._ask = ask
        self._place = place
        self._last_marks: tuple[str, ...] = ()

    async def mark(self) -> None:
        """Ask for marks and toggle them on the targets."""
        targets = self._place.targets
        if not targets:
            return
        has = "it has" if len(targets) == 1 else "all have"
        question = f"Set which mark on {plural(len(targets), 'message')}? One {has} comes off."
        text = await self._ask.text(question, known=list(self._view.stored.mark_counts), check=parse_marks)
        if text:
            await self._toggle(parse_marks(text))

    async def mark_again(self) -> None:
        """Toggle the marks that were used last on the targets."""
        if self._last_marks:
            await self._toggle(self._last_marks)
        else:
            self._place.tell("No mark has been set yet: m sets one.")

    async def rename_mark(self) -> None:
        """Rename a mark on what is selected, or everywhere."""
        old = await self.choose_mark("Rename which mark?")
        if old is None:
            return
        chosen = self._having(old, everywhere=not self._place.has_selection)
        every = "" if self._place.has_selection else "all "
        question = f"Rename {format_mark(old)} on {every}{plural(len(chosen), 'message')} to:"
        text = await self._ask.text(question, format_mark(old), check=parse_mark)
        if not text or (new := parse_mark(text)) == old:
            return
        both = sum(new in one.entry.marks for one in chosen)
        note = f"; {both} of them already {'has' if both == 1 else 'have'} {format_mark(new)}" if both else ""
        question = f"Rename {format_mark(old)} to {format_mark(new)} on {concerned(chosen)}{note}?"
        if await self._confirm(question, chosen):
            await self._carry_out(lambda: self._editor.rename_mark(old, new, _ids(chosen)))

    async def remove_mark(self, *, everywhere: bool) -> None:
        """Take a mark off the targets, or off every message. One message is no question: it is seen, and undone."""
        there = "every message" if everywhere else plural(len(self._place.targets), "message")
        mark = await self.choose_mark(f"Take which mark off {there}?", here=not everywhere)
        if mark is None:
            return
        chosen = self._having(mark, everywhere=everywhere)
        question = f"Take {format_mark(mark)} off {concerned(chosen)}?"
        if (len(chosen) == 1 and not everywhere) or await self._confirm(question, chosen):
            await self._carry_out(lambda: self._editor.remove_mark(mark, _ids(chosen)))

    async def delete(self) -> None:
        """Delete the targets, when a person says so."""
        targets = self._place.targets
        if targets and await self._confirm(f"Delete {concerned(targets)}?", targets):
            await self._carry_out(lambda: self._editor.delete(_ids(targets)))

    async def delete_by_mark(self) -> None:
        """Delete every message that has a mark, when a person says so."""
        mark = await self.choose_mark("Delete all messages with which mark?")
        if mark is None:
            return
        chosen = self._having(mark, everywhere=True)
        question = f"Delete all that is marked {format_mark(mark)}: {concerned(chosen)}?"
        if chosen and await self._confirm(question, chosen):
            # What was shown goes, and not what has got the mark meanwhile.
            await self._carry_out(lambda: self._editor.delete(_ids(chosen)))

    async def clear(self) -> None:
        """Delete everything, the summary too, when a person says so."""
        everything, summary = self._everything(), " and the summary" if self._view.stored.summary else ""
        if not everything and not summary:
            self._place.tell("There is nothing to delete.")
        elif await self._confirm(f"Delete everything, {concerned(everything)}{summary}?", everything):
            await self._carry_out(self._editor.clear)

    async def remove_summary(self) -> None:
        """Do without the summary, when a person says so."""
        covered = self._having(COMPRESSED, everywhere=True)
        question = f"Remove the summary? What it covers is sent itself again: {concerned(covered)}."
        if await self._confirm(question, covered):
            await self._carry_out(self._editor.remove_summary)

    async def undo(self) -> None:
        """Take back what was done last."""
        await self._go(self._editor.undo, "undone: {} (U does it again)", "there is nothing to undo")

    async def redo(self) -> None:
        """Do again what was undone last."""
        await self._go(self._editor.redo, "done again: {} (u undoes it)", "there is nothing to do again")

    async def choose_mark(self, question: str, *, here: bool = False) -> str | None:
        """The one mark of the targets, or the one of several that a person chooses; `here` offers no others."""
        marks = tuple(dict.fromkeys(mark for one in self._place.targets for mark in one.entry.marks))
        if len(marks) == 1:
            return marks[0]
        known = marks if here else tuple(dict.fromkeys((*marks, *self._view.stored.mark_counts)))
        if not known:
            self._place.tell("There is no mark here." if here else "There are no marks yet.")
            return None

        def check(text: str) -> None:
            if text and parse_mark(text) not in known:
                raise ValueError(f"No message {'here ' if here else ''}is marked {text}; there is {_some(known)}")

        text = await self._ask.text(f"{question} {_some(marks or known)}", known=known, check=check)
        return parse_mark(text) if text else None

    async def _toggle(self, marks: tuple[str, ...]) -> None:
        self._last_marks = marks
        entries = [one.entry for one in self._place.targets]
        await self._carry_out(lambda: self._editor.toggle_marks(marks, entries))

    async def _confirm(self, question: str, messages: Sequence[Numbered]) -> bool:
        warning = "" if self._editor.can_undo else " This memory cannot undo it."
        return await self._ask.confirm(question + warning, message_lines(messages))

    async def _carry_out(self, change: Callable[[], Awaitable[Change]]) -> None:
        """Make a change; what goes wrong is told in one line."""
        try:
            label, messages = await change()
        except Exception as error:
            # A memory of the user's own may raise anything; the app goes on.
            self._fail(error)
        else:
            if not messages:
                self._place.tell("Nothing had to be changed.")
            elif self._editor.can_undo:
                self._place.note(f"{label} (u undoes it)")

    async def _go(self, step: Callable[[], Awaitable[str | None]], done: str, nothing: str) -> None:
        """Go a step back or forward. It is said where the eye is: many notices one after the other hide the rows."""
        try:
            label = await step()
        except Exception as error:
            self._fail(error)
        else:
            self._place.note(nothing if label is None else done.format(label))

    def _fail(self, error: Exception) -> None:
        self._place.tell(first_line(str(error)) or type(error).__name__, is_error=True)

    def _having(self, mark: str, *, everywhere: bool) -> list[Numbered]:
        among = self._everything() if everywhere else self._place.targets
        return [one for one in among if mark in one.entry.marks]

    def _everything(self) -> list[Numbered]:
        return [Numbered(place + 1, entry) for place, entry in enumerate(self._view.stored.entries)]


def _some(marks: Sequence[str]) -> str:
    """The first of these marks, as many as people take in."""
    more = " …" if len(marks) > _NAMED else ""
    return format_marks(tuple(marks[:_NAMED])) + more


def _ids(messages: Sequence[Numbered]) -> list[str]:
    return [one.entry.msg.id for one in messages]
