"""The house widget for text: what it is given is shown as it is, and never parsed as markup."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tui.literal_text import visible, visible_line

_TAB_SIZE = 4


def literal(text: str, style: str = "") -> Content:
    """`text` as content that shows every character of it, in one style.

    Tabs become spaces here: Textual expands them while drawing only, and a selection would then be off by columns.
    """
    return Content.styled(visible(text).expandtabs(_TAB_SIZE), style)


def literal_line(text: str, style: str = "") -> Content:
    """`literal` for a place that holds one line: newlines and tabs are shown as pictures."""
    return Content.styled(visible_line(text), style)


class Literal(Static):
    """A `Static` for text from anywhere. Strings are shown literally; `Content` is shown as it was put together.

    Args:
        text: a str, or `Content` made with `literal` where parts differ in style.
    """

    def __init__(
        self, text: str | Content = "", *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(_content(text), markup=False, name=name, id=id, classes=classes)

    def show(self, text: str | Content, *, layout: bool = True) -> None:
        """Show another text; `layout=False` when its size is certain to be the same."""
        self.update(_content(text), layout=layout)


def _content(text: str | Content) -> Content:
    return literal(text) if isinstance(text, str) else text
