"""Where a person types: several lines, growing with the text, with what was typed before at the up key."""

from __future__ import annotations

import time
from dataclasses import dataclass

from textual.binding import Binding
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.commands import PROMPT, bindings
from tui.literal_text import visible
from tui.views.clip import size_in_words
from tui.widgets.scroll_chat import ScrollChat

_SIZE_IS_TOLD_ABOVE = 2_000
"""Characters from which the size of the text is shown."""
_ACTIONS = {
    key: binding.action
    for binding in (*TextArea.BINDINGS, *bindings(PROMPT))
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
}
"""What a key does here; our own bindings go before those of the base class."""


class PromptInput(TextArea):
    """The prompt. Enter sends; what is pasted never does, whatever it holds."""

    BINDINGS = bindings(PROMPT)
    DEFAULT_CSS = """
    PromptInput {
        height: auto;
        min-height: 3;
        max-height: 10;
        border: round $foreground 25%;
        background: transparent;
        padding: 0 1;
        scrollbar-size-vertical: 1;
        &:focus { border: round $border; }
        & .text-area--cursor-line { background: transparent; }
    }
    """

    @dataclass
    class Submitted(Message):
        """Enter was pressed on this text, which is not in the prompt any more."""

        text: str

    @dataclass
    class OlderWanted(Message):
        """The prompt before the one shown is wanted; `text` is what is shown."""

        text: str

    @dataclass
    class NewerWanted(Message):
        """The prompt after the one shown is wanted; `text` is what is shown."""

        text: str

    class CompletionWanted(Message):
        """A slash command is to be completed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False)
        # Blinking would keep an idle program busy.
        self.cursor_blink = False
        self._typed: list[str] = []
        self._last_key = 0.0

    @property
    def quiet_for(self) -> float:
        """Seconds since the last key."""
        return time.monotonic() - self._last_key

    @property
    def is_blank(self) -> bool:
        """Whether nothing is typed."""
        return not self._typed and not self.document.end[0] and not self.document.get_line(0).strip()

    @property
    def whole_text(self) -> str:
        """The text with the keys that wait to be inserted."""
        if not self._typed:
            return self.text
        start, end = sorted(self.selection)
        before, after = self.get_text_range((0, 0), start), self.get_text_range(end, self.document.end)
        return f"{before}{''.join(self._typed)}{after}"

    def set_text(self, text: str) -> None:
        """Replace the text and put the cursor at its end."""
        self._typed.clear()
        self.text = visible(text)
        self.move_cursor(self.document.end)
        self._tell_size()

    def put_before(self, text: str) -> None:
        """Put `text` on lines of its own before what is typed; the cursor stays where it was in that."""
        self._insert_typed()
        if self.is_blank:
            self.set_text(text)
        else:
            self.insert(f"{text}\n", (0, 0), maintain_selection_offset=True)

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit; whatever way text comes in, nothing in it acts on the terminal."""
        # Terminals send newlines inside a paste as returns.
        edit.text = visible(edit.text.replace("\r\n", "\n").replace("\r", "\n"))
        result = super().edit(edit)
        self._tell_size()
        return result

    # Textual calls the handlers of the base classes as well, so these two do not.

    async def on_key(self, event: Key) -> None:
        """Take what is typed in the order in which it comes, however fast."""
        self._last_key = time.monotonic()
        is_text = event.is_printable and event.character
        if not is_text and event.key not in _ACTIONS:
            self._insert_typed()
            return
        event.stop()
        event.prevent_default()
        if event.character and is_text:
            # A paste without its envelope comes as thousands of keys; inserting them one by one wraps the line anew
            # each time.
            if not self._typed:
                self.call_later(self._insert_typed)
            self._typed.append(event.character)
        else:
            # Left to the bindings it would be carried out after the keys that are waiting here already.
            self._insert_typed()
            await self.run_action(_ACTIONS[event.key])

    def on_paste(self, event: Paste) -> None:
        """Put in order what was typed and what is pasted."""
        self._insert_typed()

    def action_send(self) -> None:
        """Send what is typed, and be empty for what comes next."""
        # It is finished: a question that comes right after it interrupts no typing.
        self._last_key = 0.0
        self.post_message(self.Submitted(self.text))
        self.set_text("")

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_older(self) -> None:
        """Up: a line up, and on the first one the prompt before."""
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            self.post_message(self.OlderWanted(self.text))
        else:
            self.action_cursor_up()

    def action_newer(self) -> None:
        """Down: a line down, and on the last one the prompt after."""
        if self.navigator.is_last_wrapped_line(self.cursor_location):
            self.post_message(self.NewerWanted(self.text))
        else:
            self.action_cursor_down()

    def action_complete(self) -> None:
        """Tab."""
        self.post_message(self.CompletionWanted())

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the chat."""
        self.post_message(ScrollChat(pages))

    def _insert_typed(self) -> None:
        text = "".join(self._typed)
        self._typed.clear()
        if text:
            self._replace_via_keyboard(text, *self.selection)

    def _tell_size(self) -> None:
        """Show how long a long text is. It is looked at line by line, since putting it together takes time."""
        characters = 0
        for row in range(self.document.line_count):
            characters += len(self.document.get_line(row)) + 1
            if characters > _SIZE_IS_TOLD_ABOVE:
                self.border_subtitle = size_in_words(self.text)
                return
        self.border_subtitle = ""
