"""The measure of things: a Textual app with the same panes as Mnemoscope, and nothing in them."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Static, TextArea


class EmptyApp(App[None]):
    """A chat with its prompt on the left, four panes on the right."""

    CSS = """
    Horizontal > Vertical { width: 1fr; }
    Static { height: 1fr; border-top: solid gray; }
    TextArea { height: 3; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("Chat")
                yield TextArea()
            with Vertical():
                for name in ("Content", "Filter", "Index", "Hints"):
                    yield Static(name)
        yield Footer()


if __name__ == "__main__":
    EmptyApp().run()
