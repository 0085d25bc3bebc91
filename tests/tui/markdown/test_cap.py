"""T28: what would cost more than anyone will read is cut, and the cut is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.markdown.cap import (
    MAX_CHARACTERS,
    MAX_CODE_LINES,
    MAX_LINE,
    MAX_LINES,
    MAX_QUOTES,
    MAX_TABLE_CELLS,
    MAX_TABLE_ROWS,
    capped,
)
from tui.markdown.document import MarkdownDocument


def test_what_is_within_the_limits_is_unchanged() -> None:
    text = "# a\n\n| b |\n|---|\n| c |\n\n```\nd\n```\n\n> > e\n" * 10
    assert capped(text) == text


def test_a_huge_table_keeps_its_first_rows() -> None:
    text = "| a |\n|---|\n" + "".join(f"| {number} |\n" for number in range(5000)) + "\nafter"
    lines = [line.content.plain for line in MarkdownDocument().settled(text).lines(80)]
    assert f"{MAX_TABLE_ROWS - 3}" in lines
    assert f"… {5002 - MAX_TABLE_ROWS:,} more rows are not shown; /copy has all of it." in lines
    assert lines[-1] == "after"


def test_a_table_of_many_columns_keeps_fewer_rows() -> None:
    """T28."""
    rows = ["|" * 401, "|-" * 400 + "|", *("|x" * 400 + "|" for _ in range(100)), "", "| a |", "|---|", "| b |"]
    assert capped("\n".join(rows)).split("\n") == [
        *rows[: MAX_TABLE_CELLS // 402],
        "",
        f"… {102 - MAX_TABLE_CELLS // 402} more rows are not shown; /copy has all of it.",
        *rows[-4:-3],
        *rows[-4:],
    ]


def test_huge_code_keeps_its_first_lines_and_its_end() -> None:
    text = "```\n" + "x = 1\n" * 50_000 + "```\nafter"
    lines = capped(text, 10**9).split("\n")
    assert len(lines) == MAX_CODE_LINES + 4
    assert lines[-3] == f"… {50_000 - MAX_CODE_LINES:,} more lines are not shown; /copy has all of it."
    assert lines[-2:] == ["```", "after"]


def test_a_megabyte_of_code_that_has_not_ended() -> None:
    lines = [line.content.plain.rstrip() for line in MarkdownDocument().grown("```\n" + "x" * 1_000_000).lines(80)]
    assert lines[-1].endswith("/copy has all of it.")
    assert len(lines) < 200


def test_a_fence_inside_a_fence_does_not_end_it() -> None:
    text = "````\n```\n" + "x\n" * 1000 + "```\n````\nafter"
    assert capped(text).endswith("````\nafter")


def test_quotes_are_flattened() -> None:
    assert capped(">" * 300 + " deep").split("\n")[0] == f"{'>' * MAX_QUOTES} (300 quotes deep) deep"


@pytest.mark.parametrize("markers", ["- ", "1. ", "> - ", "> 1. ", "* + - ", ">- "])
def test_what_is_nested_in_one_line_is_shown_however_deep(markers: str) -> None:
    for depth in (1, 3, 300):
        lines = [line.content.plain for line in MarkdownDocument().settled(markers * depth + "the word").lines(80)]
        assert any("the word" in line for line in lines)


def test_a_rule_stays_a_rule_however_long() -> None:
    for rule in ("- " * 300, "* " * 300, "---" * 300):
        assert capped(rule) == rule


@pytest.mark.parametrize("line", ["a\n\n", "# a\n\n", "- [ ] x\n", "a  \n", "---\n\n", "> a\n", "a\r"])
def test_a_hundred_thousand_short_lines_are_cut(line: str) -> None:
    text = line * 100_000
    lines = [line.content.plain for line in MarkdownDocument().settled(text).lines(80)]
    assert len(lines) <= 2 * MAX_LINES
    assert lines[-1].endswith("/copy has all of it.")


def test_deep_lists_are_all_shown() -> None:
    text = "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(300))
    lines = [line.content.plain for line in MarkdownDocument().settled(text).lines(80)]
    assert all(any(f"item {depth}" in line for line in lines) for depth in range(300))


def test_one_endless_line_is_cut() -> None:
    assert (
        capped("x" * 50_000)
        == f"{'x' * MAX_LINE} … {50_000 - MAX_LINE:,} more characters are not shown; /copy has all of it."
    )


def test_an_endless_text_is_cut() -> None:
    text = ("Some words. " * 20 + "\n\n") * 3_000
    assert len(capped(text)) < MAX_CHARACTERS + 100
    document = MarkdownDocument()
    for end in range(0, len(text), 50_000):
        document = document.grown(text[:end])
    last = document.grown(text).lines(80)[-1].content.plain
    assert last == f"… {len(text) - MAX_CHARACTERS:,} more characters are not shown; /copy has all of it."


@given(st.text(alphabet="ab|`~> \n", max_size=300))
def test_small_texts_are_never_cut(text: str) -> None:
    assert "not shown" not in capped(text)
