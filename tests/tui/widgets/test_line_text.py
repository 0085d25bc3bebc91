"""Text in lines, drawn only where it has changed."""

from textual.app import App, ComposeResult
from textual.content import Content

from tui.lines import Line
from tui.widgets.line_text import LineText


class Lines(LineText):
    """Shows lines, and counts how often one is drawn."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.shown = [Line(Content(text)) for text in texts]
        self.drawn: list[str] = []

    def layout_lines(self, width: int) -> list[Line]:
        return list(self.shown)

    def _draw(self, line, span, base):
        self.drawn.append(line.content.plain)
        return super()._draw(line, span, base)


class LinesApp(App[None]):
    CSS = "Lines { color: $primary; }"

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.lines = Lines(*texts)

    def compose(self) -> ComposeResult:
        yield self.lines


async def test_a_line_that_stays_the_same_is_drawn_once_while_others_are_added():
    app = LinesApp("one", "two")
    async with app.run_test() as pilot:
        app.lines.shown.append(Line(Content("three")))
        app.lines.changed()
        await pilot.pause()

        assert app.lines.drawn == ["one", "two", "three"]
        assert app.lines.size.height == 3


async def test_a_line_with_other_words_is_drawn_anew():
    app = LinesApp("one", "two")
    async with app.run_test() as pilot:
        app.lines.shown[1] = Line(Content("2"))
        app.lines.changed()
        await pilot.pause()

        assert app.lines.render_line(1).text.strip() == "2"


async def test_another_theme_shows_in_lines_that_were_drawn_before():
    app = LinesApp("one")
    async with app.run_test() as pilot:
        before = app.lines.render_line(0)
        app.theme = "dracula"
        await pilot.pause()

        assert list(app.lines.render_line(0)) != list(before)
        assert app.lines.render_line(0).text == before.text


async def test_a_selection_shows_and_goes_again():
    app = LinesApp("one two")
    async with app.run_test() as pilot:
        before = list(app.lines.render_line(0))
        app.screen.text_select_all()
        await pilot.pause()
        assert list(app.lines.render_line(0)) != before

        app.screen.clear_selection()
        await pilot.pause()
        assert list(app.lines.render_line(0)) == before
