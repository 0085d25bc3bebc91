"""Markdown as one cheap widget, whether it is still being written or complete."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from tui.lines import Line
from tui.markdown.document import MarkdownDocument
from tui.widgets.line_text import LineText

_PARSED_IN_THREAD_ABOVE = 4_000
_LAID_OUT_IN_THREAD_ABOVE = 20_000
"""Characters beyond which it is done in a thread, so that keys are answered meanwhile."""
_REST = 3
"""A parse that takes long is followed by a pause of so many times its length: threads of Python share one processor."""
_LONGEST_PAUSE = 1.0
"""Seconds that it may be at most."""


class MarkdownText(LineText):
    """Shows Markdown that is given whole each time; what has not changed is not parsed again."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._document = MarkdownDocument()
        self._wanted = _Wanted()
        self._is_parsing = False

    def set_text(self, text: str, *, is_live: bool = False) -> None:
        """Show `text`, of which more will come when `is_live`."""
        self._wanted = _Wanted(text, is_live, self.size.width)
        if self._is_parsing:
            return
        if self._document.cost(text) <= _PARSED_IN_THREAD_ABOVE and self._is_laid_out_soon(self.size.width):
            self._document = self._wanted.parsed(self._document)
            self.changed()
        else:
            self._parse_later()

    def layout_lines(self, width: int) -> list[Line]:
        """The Markdown at that width; until a long one has been laid out anew, as it was before."""
        if self._is_laid_out_soon(width):
            return self._document.lines(width)
        self._wanted = self._wanted._replace(width=width)
        if not self._is_parsing:
            self._parse_later()
        return self._lines

    def _is_laid_out_soon(self, width: int) -> bool:
        document = self._document
        return document.is_laid_out(width) or len(document.text) <= _LAID_OUT_IN_THREAD_ABOVE

    def _parse_later(self) -> None:
        self._is_parsing = True
        self.call_later(self._start_parsing)

    def _start_parsing(self) -> None:
        self.run_worker(self._parse_in_thread())

    async def _parse_in_thread(self) -> None:
        try:
            parsed = None
            while parsed != self._wanted:
                parsed = self._wanted
                started = time.monotonic()
                self._document = await asyncio.to_thread(parsed.parsed, self._document)
                self.changed()
                if self._wanted.is_live:
                    await asyncio.sleep(min(_REST * (time.monotonic() - started), _LONGEST_PAUSE))
        finally:
            self._is_parsing = False


class _Wanted(NamedTuple):
    text: str = ""
    is_live: bool = False
    width: int = 0

    def parsed(self, document: MarkdownDocument) -> MarkdownDocument:
        """What `document`, of the text up to now, becomes."""
        new = document.grown(self.text) if self.is_live else document.settled(self.text)
        if self.width:
            # Laid out here too, so that it is done already when the widget is drawn.
            new.lines(self.width)
        return new
