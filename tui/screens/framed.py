"""A screen with one framed thing in the middle, above what was there."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import ModalScreen

R = TypeVar("R")


class FramedScreen(ModalScreen[R], Generic[R]):
    """Draws a frame around its child of class `frame`, which takes most of the screen unless a subclass says less."""

    DEFAULT_CSS = """
    FramedScreen {
        align: center middle;
        & > .frame {
            width: 90%;
            max-width: 120;
            height: 90%;
            padding: 0 1;
            background: $surface;
            border: round $primary;
            border-title-color: $text-muted;
        }
    }
    """

    def action_close(self) -> None:
        """Back to what was there."""
        self.dismiss()
