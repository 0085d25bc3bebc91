"""A text area for the text of a file: what it cannot show, such as control characters, comes back as it was."""

from __future__ import annotations

import re

from rich.text import Text
from textual.binding import Binding
from textual.events import Key
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.literal_text import visible

LONGEST = 300_000
"""Characters of a text that can be edited without keys being answered late."""
LONGEST_LINE = 20_000
_BASE = 0xF0000
"""Where the private characters begin that stand for what acts on a terminal, or breaks lines for Python alone."""
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STAND_IN = re.compile(f"[{chr(_BASE)}-{chr(_BASE + 0x2069)}]")
_LINE_END = re.compile(r"\r\n|\r")

_ACTIONS = {
    key: binding.action
    for binding in TextArea.BINDINGS
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
} | {"ctrl+home": "text_start", "ctrl+end": "text_end"}


class FileText(TextArea):
    """Edits the text of a file. Line ends become newlines; see `why_not` for texts that it cannot take.

    Args:
        text: the text at first.
    """

    DEFAULT_CSS = """
    FileText {
        border: none;
        padding: 0;
        &:focus { border: none; }
        & .text-area--cursor-line { background: transparent; }
    }
    """

    def __init__(self, text: str, *, id: str | None = None) -> None:
        super().__init__(_hide(text), id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        # Blinking would keep an idle program busy.
        self.cursor_blink = False

    @property
    def file_text(self) -> str:
        """The text as it is to be saved."""
        return _STAND_IN.sub(lambda match: chr(ord(match[0]) - _BASE), "\n".join(self.document.lines))

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        line = self.document.get_line(line_index)
        return Text(_STAND_IN.sub(lambda match: _picture(ord(match[0]) - _BASE), line), end="", no_wrap=True)

    async def on_key(self, event: Key) -> None:
        """Carry out what a key does in the order in which keys come: left to the bindings, it would come after text."""
        if (action := _ACTIONS.get(event.key)) is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def action_text_start(self) -> None:
        """To the beginning of the text, which a `TextArea` has no key for."""
        self.move_cursor((0, 0))

    def action_text_end(self) -> None:
        """To the end of the text."""
        self.move_cursor(self.document.end)

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit; whatever way text comes in, nothing in it acts on the terminal."""
        edit.text = visible(_LINE_END.sub("\n", edit.text))
        return super().edit(edit)


def why_not(text: str) -> str:
    """Why a text cannot be edited here, in a few words; empty when it can."""
    if len(text) > LONGEST or max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        return "it is too large for the editor here"
    return "it has characters that the editor here needs for itself" if _STAND_IN.search(text) else ""


def _hide(text: str) -> str:
    return _HIDDEN.sub(lambda match: chr(_BASE + ord(match[0])), _LINE_END.sub("\n", text))


def _picture(code: int) -> str:
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"
