"""Breaking text into lines, and putting it together again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tui.lines import Prefix, copied, folded, prefixed, wrapped

TEXT = st.text(alphabet="ab 日語🙂\u0301\u200b\u200d\n", max_size=80)


def texts(lines: list) -> list[str]:
    return [line.content.plain for line in lines]


def test_running_text_breaks_at_blanks() -> None:
    assert texts(wrapped(Content("one two three"), 8)) == ["one two", "three"]


def test_a_word_that_is_too_long_breaks_inside() -> None:
    assert texts(wrapped(Content("abcdefgh"), 3)) == ["abc", "def", "gh"]


def test_wide_characters_count_twice() -> None:
    assert texts(wrapped(Content("日本語"), 4)) == ["日本", "語"]
    assert texts(folded(Content("日本語"), 5)) == ["日本", "語"]


def test_blank_lines_stay() -> None:
    assert texts(wrapped(Content("a\n\nb\n"), 5)) == ["a", "", "b", ""]
    assert texts(folded(Content("a\n\nb"), 5)) == ["a", "", "b"]


def test_a_prefix_stands_before_every_line() -> None:
    lines = prefixed(wrapped(Content("one two"), 4), Prefix(Content("- "), Content("  ")))
    assert texts(lines) == ["- one", "  two"]


def test_marks_without_a_width_stay_with_their_letters() -> None:
    accented, family = "e\u0301", "👩\u200d👩\u200d👧"
    assert texts(folded(Content(accented * 7), 3)) == [accented * 3, accented * 3, accented]
    assert texts(folded(Content(family * 3), 5)) == [family * 2, family]


@given(TEXT, st.integers(2, 12))
def test_what_was_wrapped_copies_as_it_was(text: str, width: int) -> None:
    lines = wrapped(Content(text), width)
    assert all(line.content.cell_length <= width for line in lines)
    whole = copied(lines, (0, 0), (len(lines) - 1, 1000))
    assert "\n".join(line.rstrip() for line in whole.split("\n")) == "\n".join(
        line.rstrip() for line in text.split("\n")
    )


@given(TEXT, st.integers(2, 12))
def test_what_was_folded_copies_as_it_was(text: str, width: int) -> None:
    lines = folded(Content(text), width)
    assert all(line.content.cell_length <= width for line in lines)
    assert copied(lines, (0, 0), (len(lines) - 1, 1000)) == text
