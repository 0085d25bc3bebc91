"""Markdown as one cheap widget, whether it is still being written or complete."""

from __future__ import annotations

import asyncio
import time

from tui.lines import Line
from tui.markdown.document import MarkdownDocument
from tui.widgets.line_text import LineText

_IN_THREAD_ABOVE = 4_000
"""Characters to be parsed beyond which it is done in a thread, so that keys are answered meanwhile."""
_REST = 3
"""A parse that takes long is followed by a pause of so many times its length: threads of Python share one processor."""
_LONGEST_PAUSE = 1.0
"""Seconds that it may be at most."""


class MarkdownText(LineText):
    """Shows Markdown that is given whole each time; what has not changed is not parsed again."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._document = MarkdownDocument()
        self._wanted = ("", False)
        self._is_parsing = False

    def set_text(self, text: str, *, is_live: bool = False) -> None:
        """Show `text`, of which more will come when `is_live`."""
        self._wanted = (text, is_live)
        if self._is_parsing:
            return
        if self._document.cost(text) <= _IN_THREAD_ABOVE:
            self._document = _parsed(self._document, text, is_live, self.size.width)
            self.changed()
        else:
            self._is_parsing = True
            self.call_later(self._start_parsing)

    def layout_lines(self, width: int) -> list[Line]:
        """The Markdown at that width."""
        return self._document.lines(width)

    def _start_parsing(self) -> None:
        self.run_worker(self._parse_in_thread())

    async def _parse_in_thread(self) -> None:
        try:
            parsed = None
            while parsed != self._wanted:
                parsed = self._wanted
                started = time.monotonic()
                self._document = await asyncio.to_thread(_parsed, self._document, *parsed, self.size.width)
                self.changed()
                if self._wanted[1]:
                    await asyncio.sleep(min(_REST * (time.monotonic() - started), _LONGEST_PAUSE))
        finally:
            self._is_parsing = False


def _parsed(document: MarkdownDocument, text: str, is_live: bool, width: int) -> MarkdownDocument:
    new = document.grown(text) if is_live else document.settled(text)
    if width:
        # Laid out here too, so that it is done already when the widget is drawn.
        new.lines(width)
    return new
