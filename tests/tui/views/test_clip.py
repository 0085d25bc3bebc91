"""Long texts, cut for the screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.views.clip import Clipped, clip, size_in_words


def test_a_short_text_is_whole() -> None:
    assert clip("a\nb", 2, 10) == Clipped("a\nb", "")


def test_too_many_lines_are_cut_with_a_note() -> None:
    assert clip("a\nb\nc", 2, 100) == Clipped("a\nb", "… 3 lines, 5 characters in all; only the beginning is shown")


def test_too_many_characters_are_cut_with_a_note() -> None:
    assert clip("x" * 2000, 2, 10) == Clipped(
        "x" * 10, "… 1 line, 2,000 characters in all; only the beginning is shown"
    )


@given(st.text(), st.integers(1, 20), st.integers(1, 50))
def test_what_is_shown_is_the_beginning_and_within_the_limits(text: str, lines: int, characters: int) -> None:
    shown, note = clip(text, lines, characters)
    assert text.startswith(shown)
    assert len(shown) <= characters
    assert shown.count("\n") < lines
    assert bool(note) == (shown != text)


def test_sizes_are_told_in_words() -> None:
    assert size_in_words("a") == "1 line, 1 character"
    assert size_in_words("a\n" * 1200) == "1,201 lines, 2,400 characters"
