from __future__ import annotations

import pytest

from agent_core.text import first_line, shorten, well_formed


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("longer text", 7, "longer…"),
        ("👩‍👩‍👧 family", 4, "…"),
        ("e\u0301" * 4, 4, "e\u0301…"),
        ("日本語の文", 3, "日本…"),
        ("abc", 0, "…"),
    ],
)
def test_shorten_never_cuts_a_grapheme(text: str, limit: int, expected: str) -> None:
    """S30: a cut that would land inside an emoji sequence moves before it."""
    cut = shorten(text, limit)
    assert cut == expected
    cut.encode()


def test_well_formed_touches_nothing_that_is_well_formed() -> None:
    text = "“é”, 中, 🙂 \x1b\x00"
    assert well_formed(text) is text
    assert well_formed("a\ud83db") == "a\ufffdb"


def test_first_line_skips_blanks_and_is_bounded() -> None:
    assert first_line("\n\n  hello  \nworld") == "hello"
    assert first_line("") == ""
    assert len(first_line("x" * 1_000_000, 10)) == 10
