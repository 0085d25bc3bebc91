"""A question that must be answered with yes or no before anything else."""

from __future__ import annotations

from textual.app import ComposeResult

from tui.commands import ASK, bindings
from tui.screens.framed import FramedScreen
from tui.widgets.literal import Literal


class ConfirmScreen(FramedScreen[bool]):
    """Asks once; escape is no.

    Args:
        question: what is asked, with the keys that answer it.
    """

    BINDINGS = bindings(ASK)
    DEFAULT_CSS = """
    ConfirmScreen > .frame {
        width: 70;
        max-width: 90%;
        height: auto;
        border: round $warning;
    }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question."""
        yield Literal(self._question, classes="frame")

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Answer no."""
        self.dismiss(False)
