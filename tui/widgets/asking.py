"""What panes and screens with a question at the foot share."""

from __future__ import annotations

from tui.widgets.ask_line import AskLine


class Asking:
    """Mixed into a pane or a screen, before its other base.

    Attributes:
        ask: the question, which the pane or screen makes, and puts at its foot.
    """

    ask: AskLine

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While a question is open, keys belong to its answer."""
        return not self.ask.has_focus_within
