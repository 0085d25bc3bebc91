"""The text of a file in a text area."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tui.widgets.file_text import FileText, why_not


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a\n",
        "\n\na\n\n",
        "a\x0cb\x1c\x85c\u2028d\n",
        "tab\tand \x1b[2J\x00\x7f\x9b31m",
        "\u202eabc",
        "中文 🍵",
    ],
)
def test_what_is_not_touched_comes_back_as_it_was(text):
    assert FileText(text).file_text == text


@given(st.text())
def test_any_text_comes_back_with_newlines_as_line_ends(text):
    if not why_not(text):
        assert FileText(text).file_text == text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("text", ["x" * 20_001, "x\n" * 200_000, "\U000f0001"])
def test_what_it_cannot_take_is_told(text):
    assert why_not(text)


class OneArea(App[None]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.area = FileText(text)

    def compose(self) -> ComposeResult:
        yield self.area


async def test_nothing_acts_on_the_terminal_and_keys_count_in_their_order():
    app = OneArea("\x1b[2J red\nsecond")
    async with app.run_test() as pilot:
        app.area.focus()
        assert str(app.area.get_line(0)) == "␛[2J red"
        await pilot.press("down", "end", "!", "up", "home", "a")
        assert app.area.file_text == "a\x1b[2J red\nsecond!"
        app.area.insert("\x1b]0;x\x07")
        assert "\x1b]0" not in app.area.file_text


async def test_the_beginning_and_the_end_of_a_text_have_keys():
    class Small(App[None]):
        def compose(self) -> ComposeResult:
            yield FileText("one\ntwo\n")

    async with Small().run_test() as pilot:
        area = pilot.app.query_one(FileText)
        await pilot.press("ctrl+end", "z", "ctrl+home", "a")
        assert area.file_text == "aone\ntwo\nz"
