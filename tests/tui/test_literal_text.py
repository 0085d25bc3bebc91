"""Text from anywhere is seen, and does nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.literal_text import harmless_json, visible, visible_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b]0;hi\x07", "␛]0;hi␇"),
        ("\x1b]8;;http://e\x1b\\x\x1b]8;;\x1b\\", "␛]8;;http://e␛\\x␛]8;;␛\\"),
        ("\x1b[2J", "␛[2J"),
        ("\x1b[6n", "␛[6n"),
        ("\x1bc", "␛c"),
        ("\x1b]", "␛]"),
        ("\x9b31m", "\\x9b31m"),
        ("\x90q\x9c", "\\x90q\\x9c"),
        ("a\x7fb", "a␡b"),
        ("a\x00b\x08", "a␀b␈"),
    ],
)
def test_control_sequences_become_readable(text: str, shown: str) -> None:
    """T06."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["“é”, 中, 🙂", "naïve Ünï", "👩‍👩‍👧 🏳️‍🌈 ☎️", "שלום", "ไทย", "a\nb\tc", "", "[/x] [bold]"]
)
def test_ordinary_text_of_any_script_is_unchanged(text: str) -> None:
    """T09: 8-bit controls are judged by character, not by the bytes of UTF-8 that look like them."""
    assert visible(text) == text


def test_bidi_overrides_and_isolates_show_themselves() -> None:
    assert visible("user\u202e gpj.exe\u2066x\u2069") == "user\\u202e gpj.exe\\u2066x\\u2069"


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    """T20."""
    assert visible("hi \ud83d") == "hi \ufffd"
    assert visible("\ud83d\ude42") == "🙂"


def test_windows_newlines_are_newlines_and_a_lone_return_is_seen() -> None:
    assert visible("a\r\nb\rc") == "a\nb␍c"


def test_separators_that_python_takes_for_newlines_are_seen() -> None:
    assert visible("a\u2028b\u2029c\x85d\x0be\x1cf") == "a\\u2028b\\u2029c\\x85d␋e␜f"


def test_one_line_stays_one_line() -> None:
    assert visible_line("a\nb\tc\x1b") == "a␊b␉c␛"


@given(st.text(st.characters()))
def test_nothing_that_acts_gets_through(text: str) -> None:
    shown = visible(text)
    assert all(ch in "\n\t" or not (ord(ch) < 32 or 127 <= ord(ch) < 160) for ch in shown)
    assert shown.encode().decode() == shown
    assert len(shown.splitlines()) == len(shown.split("\n")) - (shown.endswith("\n") or not shown)


@given(st.text())
def test_what_is_safe_already_stays(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    "text", ["\x9b31m\x7f", "a\u2028b", "\u202egnp\u2066", "a\udce9", "\ud83d\ude00", "é 中 🙂\\n\t"]
)
def test_json_means_the_same_and_does_nothing(text: str) -> None:
    """T06 for `--json`: what acts is an escape, the rest stands as it was."""
    line = harmless_json(json.dumps({text: [text]}, ensure_ascii=False))
    meant = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert json.loads(line) == {meant: [meant]}
    assert visible(line) == line
    assert len(line.splitlines()) == 1
    assert "🙂" not in text or "é 中 🙂" in line
