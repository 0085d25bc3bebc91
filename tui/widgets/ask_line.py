"""A question at the foot of a pane, with a line to answer it in or a key for yes and no. It blocks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from tui.commands import ASK, bindings
from tui.widgets.line_input import MarksInput
from tui.widgets.literal import Literal, literal, literal_line

Check = Callable[[str], object]
"""Raises a `ValueError` that says, in one line, what is wrong with an answer."""


class AskLine(Vertical, can_focus=True):
    """Asks one question at a time; a new one takes the place of the old one, which then has no answer.

    `text` and `confirm` wait for a person, so call them from a worker.
    """

    BINDINGS = bindings(ASK)
    DEFAULT_CSS = """
    AskLine {
        dock: bottom;
        display: none;
        height: auto;
        background: $panel;
        padding: 0 1;
        Literal { text-style: bold; }
        & > #details {
            max-height: 6;
            color: $text-muted;
            text-style: none;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        Input { background: transparent; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._question = Literal()
        self._details = Literal(id="details")
        self._input = MarksInput(lambda: self._known)
        self._known: Sequence[str] = ()
        self._check: Check | None = None
        self._answer: asyncio.Future[str | None] | None = None
        self._focus_before: Widget | None = None
        self._choices: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """The question, and what there is to know for it, above the line."""
        yield self._question
        yield self._details
        yield self._input

    async def text(
        self, question: str, value: str = "", *, known: Sequence[str] = (), check: Check | None = None
    ) -> str | None:
        """Ask for a line of text.

        Args:
            question: what is asked.
            value: what stands in the line at first.
            known: marks that are offered to complete what is typed.
            check: what it refuses is told and asked again.

        Returns:
            The answer; None when there is none.
        """
        self._known, self._check = known, check
        self._input.value = value
        self._input.cursor_position = len(value)
        return await self._ask(f"{question}  (enter: ok, esc: cancel)", self._input)

    async def confirm(self, question: str, details: Sequence[str] = ()) -> bool:
        """Ask for yes or no; no when there is no answer.

        Args:
            question: what is asked.
            details: lines below it, such as what would be changed; each is cut where the pane ends.
        """
        return await self._ask(f"{question}  (y/n)", self, details) is not None

    async def choose(self, question: str, choices: Mapping[str, str]) -> str | None:
        """Ask for yes, no, or something else.

        Args:
            question: what is asked.
            choices: what each key means; besides `y` and `n` those of the commands `choose`.

        Returns:
            The key; None for `n`, and when there is no answer.
        """
        self._choices = frozenset(choices)
        offered = " · ".join(f"{key}: {meaning}" for key, meaning in choices.items())
        answer = await self._ask(f"{question}  {offered}", self)
        return "y" if answer == "" else answer

    async def _ask(self, question: str, focus: Widget, details: Sequence[str] = ()) -> str | None:
        self._settle(None)
        self._question.show(question)
        self._details.show(Content("\n").join([literal_line(line) for line in details]))
        self._details.display = bool(details)
        self._input.display = focus is self._input
        self.display = True
        if not self.has_focus_within:
            self._focus_before = self.screen.focused
        focus.focus()
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._answer = answer
        try:
            return await answer
        finally:
            if self._answer is answer:
                self._close()

    def _close(self) -> None:
        self._answer = None
        self._choices = frozenset()
        had_focus = self.has_focus_within
        self.display = False
        if had_focus and self._focus_before is not None and self._focus_before.is_attached:
            self._focus_before.focus()

    def _settle(self, answer: str | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the line, if there is nothing wrong with it."""
        event.stop()
        try:
            if self._check is not None:
                self._check(event.value)
        except ValueError as error:
            self._question.show(literal(str(error), "$text-error"))
            return
        self._settle(event.value)

    def action_yes(self) -> None:
        """Answer yes."""
        self._settle("")

    def action_choose(self, key: str) -> None:
        """Answer something else, where that is offered."""
        if key in self._choices and self.has_focus:
            self._settle(key)

    def action_no(self) -> None:
        """Answer no, or nothing."""
        self._settle(None)
