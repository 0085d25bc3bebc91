"""Colours that stand back."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tui.theme import faded_variables


@pytest.mark.parametrize("name", [name for name in BUILTIN_THEMES if not name.startswith(("ansi", "textual-ansi"))])
def test_what_stands_back_lies_between_text_and_ground(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    variables = {**theme.to_color_system().generate(), **theme.variables}
    faded = faded_variables(variables)
    ground, text, muted = (
        Color.parse(color).brightness
        for color in (variables["background"], variables["foreground"], faded["text-muted"])
    )
    assert min(ground, text) < muted < max(ground, text)


def test_the_colours_of_a_terminal_are_left_alone() -> None:
    assert faded_variables({"foreground": "ansi_default", "background": "ansi_default", "text-muted": "auto 60%"}) == {}
    assert faded_variables({}) == {}
