"""The prompt with what belongs to it: what waits, ways to complete a command, what was typed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from tui.conversation import Draft
from tui.prompt_history import PromptHistory
from tui.slash import Choices, PlainText, SlashCall, UnknownSlash, completions, parse_slash
from tui.widgets.completion_list import CompletionList
from tui.widgets.prompt_input import PromptInput
from tui.widgets.waiting import Waiting


class PromptArea(Vertical):
    """Turns what is typed into something said or a command called.

    Args:
        history: what was typed before.
        choices: gives what may be filled in behind a command's name.
    """

    DEFAULT_CSS = """
    PromptArea { height: auto; }
    """

    @dataclass
    class Said(Message):
        """A text is to be said to the agent."""

        text: str

    @dataclass
    class Called(Message):
        """A slash command is to be carried out."""

        call: SlashCall

    class Changed(Message):
        """Something was typed."""

    class TakeBackWanted(Message):
        """What was queued last is wanted back."""

    class Left(Message):
        """The person wants to go on to what is next on the screen."""

    def __init__(self, history: PromptHistory, choices: Choices, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._history = history
        self._choices = choices
        self._queued: Sequence[Draft] = ()
        self._waiting = Waiting()
        self._completions = CompletionList()
        self.input = PromptInput(id="prompt")

    def compose(self) -> ComposeResult:
        """What waits, the completions, the input."""
        yield self._waiting
        yield self._completions
        yield self.input

    def show(self, queued: Sequence[Draft], marks: Sequence[str]) -> None:
        """Show what waits and which marks are set on what is typed next."""
        self._queued = queued
        self._waiting.show(queued, marks)

    @property
    def unsent(self) -> str:
        """What is typed and not sent, in the input or on the way back to what was typed before."""
        return self._history.unsent(self.input.whole_text)

    def start_over(self, text: str) -> None:
        """Have only this text typed."""
        self._history.start_over()
        self.input.set_text(text)

    def begin(self, text: str) -> None:
        """Begin to type this; what stands there comes back with the key for the prompt before."""
        self._history.add(self.input.whole_text)
        self.input.set_text(text)

    def close_completions(self) -> bool:
        """Close the list of completions; whether it was open."""
        was_open = self._completions.chosen is not None
        self._completions.show(())
        return was_open

    @on(TextArea.Changed)
    def _offer_completions(self, event: TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Changed())
        document = self.input.document
        text = document.get_line(0) if document.line_count == 1 else ""
        self._completions.show(completions(text, self._choices) if text.startswith("/") else ())

    @on(PromptInput.Submitted)
    def _submit(self, event: PromptInput.Submitted) -> None:
        event.stop()
        text = event.text
        chosen = self._completions.chosen
        meaning = parse_slash(text)
        if chosen is not None and isinstance(meaning, UnknownSlash):
            if not chosen.is_complete:
                self.input.put_before(chosen.text)
                return
            meaning = parse_slash(chosen.text)
        match meaning:
            case UnknownSlash():
                self.app.notify(str(meaning), severity="warning")
                self.input.put_before(text)
                return
            case SlashCall():
                self.post_message(self.Called(meaning))
            case PlainText(said) if said.strip():
                self.post_message(self.Said(said))
        self._history.add(text)
        if self._history.problem:
            self.app.notify(self._history.problem, severity="warning")
            self._history.problem = ""

    @on(PromptInput.OlderWanted)
    def _older(self, event: PromptInput.OlderWanted) -> None:
        event.stop()
        if self._completions.chosen is not None:
            self._completions.move(-1)
        elif self._queued and self.input.is_blank:
            self.post_message(self.TakeBackWanted())
        elif (text := self._history.older(event.text)) is not None:
            self.input.set_text(text)

    @on(PromptInput.NewerWanted)
    def _newer(self, event: PromptInput.NewerWanted) -> None:
        event.stop()
        if self._completions.chosen is not None:
            self._completions.move(1)
        elif (text := self._history.newer(event.text)) is not None:
            self.input.set_text(text)

    @on(PromptInput.CompletionWanted)
    def _complete(self, event: PromptInput.CompletionWanted) -> None:
        event.stop()
        if (chosen := self._completions.chosen) is not None:
            self.input.set_text(chosen.text)
        else:
            self.post_message(self.Left())
