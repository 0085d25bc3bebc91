"""A one-line input for text from anywhere: what is pasted into it cannot act on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.suggester import Suggester
from textual.widgets import Input

from tui.commands import MARKS, bindings
from tui.literal_text import visible_line
from tui.mark_syntax import complete


class LineInput(Input):
    """An input of one line without a border."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, compact=True, id=id)

    def validate_value(self, value: str) -> str:
        """Control characters become their pictures."""
        return visible_line(value)


class MarksInput(LineInput):
    """An input for marks that offers to complete the last one; right or tab takes the offer.

    Args:
        known: gives the marks to choose from.
        value: what stands in it at first.
        placeholder: what is shown while it is empty.
    """

    BINDINGS = bindings(MARKS)

    def __init__(
        self, known: Callable[[], Sequence[str]], value: str = "", *, placeholder: str = "", id: str | None = None
    ) -> None:
        super().__init__(value, placeholder=placeholder, id=id)
        self.suggester = _MarkSuggester(known)

    def action_take_offer(self) -> None:
        """Take the offer; without one, go on to the next widget."""
        if self._suggestion and self.cursor_at_end:
            self.action_cursor_right()
        else:
            self.screen.focus_next()


class _MarkSuggester(Suggester):
    def __init__(self, known: Callable[[], Sequence[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        return complete(value, self._known())
