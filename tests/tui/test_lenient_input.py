"""What a terminal sends, as the keys that it stands for."""

import pytest
from textual.events import Key, Paste

from tui.lenient_input import LenientParser


def keys(sent: str) -> list[tuple[str, str | None]]:
    """Each key with the text that it types; None where it types nothing."""
    events = [event for event in LenientParser().feed(sent) if isinstance(event, Key)]
    return [(key.key, key.character if key.is_printable else None) for key in events]


@pytest.mark.parametrize("character", ["\u3000", "\xa0", "\u200c", "\u200d", "\xad", "\ufeff", "\ue0b0", "中", "é"])
def test_every_harmless_character_is_text(character: str) -> None:
    """T19: the wide blank of Chinese input, hard blanks, the joiners of Persian and of emoji."""
    assert [text for _, text in keys(f"a{character}b")] == ["a", character, "b"]


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u2028", "\x9b", "\ud83d"])
def test_what_would_act_on_the_terminal_is_no_text(character: str) -> None:
    assert [text for _, text in keys(f"a{character}b")] == ["a", None, "b"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b[27;5;106~", "ctrl+j"),
        ("\x1b[27;5;117~", "ctrl+u"),
        ("\x1b[27;6;122~", "ctrl+shift+z"),
        ("\x1b[27;3;102~", "alt+f"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;5;13~", "ctrl+enter"),
        ("\x1b[27;1;127~", "backspace"),
        ("\x1b[27;2;9~", "shift+tab"),
        ("\x1b[27;1;27~", "escape"),
        ("\x1b[99;133u", "ctrl+c"),
        ("\x1b[13;130u", "shift+enter"),
    ],
)
def test_a_key_that_types_nothing_is_known_in_every_form(sent: str, key: str) -> None:
    """T27: in xterm's way, and in kitty's with num lock on, without a letter that gets into the text."""
    assert keys(sent) == [(key, None)]


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("\x1b[32;2u", " "),
        ("\x1b[27;2;32~", " "),
        ("\x1b[32;130u", " "),
        ("\x1b[98;2u", "B"),
        ("\x1b[49:33;2u", "!"),
        ("\x1b[27;2;65~", "A"),
        ("\x1b[228;2u", "Ä"),
    ],
)
def test_a_key_with_shift_alone_types_its_text(sent: str, text: str) -> None:
    """T27: shift and the space bar come so from kitty."""
    assert [typed for _, typed in keys(sent)] == [text]


COLOURED = "\x1b[31mred\x1b[0m\nnext\x1b\n\x1b[200~\x1b[A\x1b]0;x\x07 \x1b[20\x03"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_a_paste_is_text_whatever_is_in_it_and_however_it_is_torn(size: int) -> None:
    """T17: colours, half a mark and control characters in it press no key, such as the Enter that would send half."""
    sent = f"a\x1b[200~{COLOURED}\x1b[201~b\x1b[200~\x1b[201~\x1b[200~two\x1b[201~c"
    parser = LenientParser()
    events = [event for start in range(0, len(sent), size) for event in parser.feed(sent[start : start + size])]
    got = [event.text if isinstance(event, Paste) else event.key for event in events if isinstance(event, Key | Paste)]
    assert got == ["a", COLOURED, "b", "", "two", "c"]
