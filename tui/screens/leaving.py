"""What is seen while the program waits, before it ends, for what is still being written."""

from __future__ import annotations

from textual.app import ComposeResult

from tui.commands import LEAVING, bindings
from tui.screens.framed import FramedScreen
from tui.widgets.literal import Literal


class LeavingScreen(FramedScreen[None]):
    """Says how many memories are still being written."""

    BINDINGS = bindings(LEAVING)
    DEFAULT_CSS = """
    LeavingScreen > .frame {
        width: auto;
        max-width: 90%;
        height: auto;
    }
    """

    def __init__(self, remaining: int) -> None:
        super().__init__()
        self._line = Literal(classes="frame")
        self.show(remaining)

    def compose(self) -> ComposeResult:
        """One line."""
        yield self._line

    def show(self, remaining: int) -> None:
        """Say how many are left."""
        what = "1 memory" if remaining == 1 else f"{remaining} memories"
        self._line.show(f"writing {what}… (Esc or ctrl+c leaves; the rest is written next time)")

    async def action_leave_now(self) -> None:
        """Leave without waiting."""
        await self.app.run_action("app.command('quit')")
