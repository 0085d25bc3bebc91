"""The house widget: literal in every case."""

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from tui.widgets.literal import Literal, literal, literal_line


class Shower(App[None]):
    def __init__(self, text: str | Content) -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        yield Literal(self.text)


def shown_text(app: App[None]) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips).rstrip()


@pytest.mark.parametrize(
    "text", ['{"on": [true, false]}', "[/]", "[00]", "[#12]", "[/some/path]", "[link=x]y[/link]", "\\[b]"]
)
async def test_nothing_is_markup(text: str) -> None:
    """T01, T02."""
    app = Shower(text)
    async with app.run_test() as pilot:
        assert shown_text(app) == text
        app.query_one(Literal).show(f"{text}!")
        await pilot.pause()
        assert shown_text(app) == f"{text}!"


def test_one_style_covers_the_whole_text() -> None:
    content = literal("a[/b]", "bold")
    assert content.plain == "a[/b]"
    assert [(span.start, span.end, span.style) for span in content.spans] == [(0, 5, "bold")]


def test_tabs_are_columns_already() -> None:
    assert literal("a\tb").plain == "a   b"


def test_one_line_stays_one_line() -> None:
    assert literal_line("a\nb\x1b[2J").plain == "a␊b␛[2J"
