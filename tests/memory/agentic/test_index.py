"""MEMORY.md: its links as people write them, and what of it fits into a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tokens import estimate_tokens
from memory.agentic.index import FittedIndex, IndexEntry, fit_index, parse_index, spellings


def test_an_index_line_is_title_target_and_hook() -> None:
    text = "# Index\n\n- [User profile](user_profile.md) — where the user lives\n- [Style](style.md) - short answers\n"
    assert parse_index(text) == [
        IndexEntry("User profile", "user_profile.md", "where the user lives", 3),
        IndexEntry("Style", "style.md", "short answers", 4),
    ]


@pytest.mark.parametrize(
    "link",
    [
        "[Brief](the brief.md)",
        "[Brief](the%20brief.md)",
        "[Brief](<the brief.md>)",
        '[Brief](the brief.md "title")',
        "[Brief](the brief.md 'title')",
        "[Brief](the brief.md (title))",
        '[Brief](<the%20brief.md> "title")',
        "[Brief]( the brief.md )",
        "[Brief](./the%20brief.md)",
        r"[Brief](the\ brief.md)",
        "[Brief](the%2520brief.md)",
    ],
)
def test_a_name_with_a_space_is_found_in_every_spelling(link: str) -> None:
    """L01, L02."""
    (entry,) = parse_index(f"- {link} — when briefing")
    assert (entry.title, entry.hook) == ("Brief", "when briefing")
    assert "the brief.md" in [name.replace("\\ ", " ") for name in spellings(entry.target)]


@pytest.mark.parametrize(
    ("line", "title", "target", "hook"),
    [
        ("* [A](a_(old).md): hook", "A", "a_(old).md", "hook"),
        (r"- [A](a\(1\).md) – hook", "A", "a(1).md", "hook"),
        ("- [A](<a) b.md>) hook", "A", "a) b.md", "hook"),
        (r"- [A \] B](a.md) — hook", "A ] B", "a.md", "hook"),
        ("1. [甲](茶.md)——喜欢乌龙茶", "甲", "茶.md", "喜欢乌龙茶"),
        ("see [A](a.md) for more", "A", "a.md", "for more"),
        ("[[A](a.md) — hook", "A", "a.md", "hook"),
        ("[](a.md)", "", "a.md", ""),
        ("| [A](sub/a.md) | hook |", "A", "sub/a.md", "hook"),
    ],
)
def test_link_forms(line: str, title: str, target: str, hook: str) -> None:
    assert parse_index(line) == [IndexEntry(title, target, hook, 1)]


def test_several_links_of_a_line_are_several_entries() -> None:
    assert [entry.target for entry in parse_index("[A](a.md), [B](b.md)\r\n[C](c.md)\rx [D](d.md)")] == [
        "a.md",
        "b.md",
        "c.md",
        "d.md",
    ]


@pytest.mark.parametrize(
    "line", ["![pic](pic.png)", "[A]()", "[A](a.md", "[A] (a.md)", "[A]: a.md", "a.md", "- [ ] to do"]
)
def test_what_is_no_link(line: str) -> None:
    assert parse_index(line) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["[a](", "[", "(", "[a](<", "\\", "[a](" + " " * 50, "[a](x)", '[a](b "c'])
def test_a_hostile_index_is_read_in_one_pass(piece: str) -> None:
    parse_index(piece * (1_000_000 // len(piece)))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("target", ["", "<>", "x", '"t" '])
def test_a_link_within_the_parentheses_of_a_link_is_none(target: str) -> None:
    """Were each of them one, their targets together would fill all memory."""
    depth = 100_000
    assert len(parse_index(f"[a]({target}" * depth + ")" * depth)) <= 1
    assert [entry.target for entry in parse_index("[a](b([c](d.md)).md) [e](f.md)")] == ["b([c](d.md)).md", "f.md"]


@given(st.text())
def test_any_text_can_be_an_index(text: str) -> None:
    for entry in parse_index(text):
        assert entry.target
        assert entry.line >= 1


def index_of(count: int) -> str:
    return "".join(f"- [Note {number}](note_{number}.md) — hook {number}\n" for number in range(1, count + 1))


@pytest.mark.parametrize("count", [1, 10, 199, 201])
def test_an_index_that_fits_goes_in_whole(count: int) -> None:
    """L05."""
    assert fit_index(index_of(count), 4000) == FittedIndex(index_of(count).rstrip(), count, count, None)


def test_an_index_that_does_not_fit_is_cut_at_a_line_and_says_so() -> None:
    """L06: the rule on the last line is not in, and that can be seen."""
    text = index_of(237) + "- [Key rule](key_rule.md) — never deploy on Friday\n"
    fitted = fit_index(text, 2000)
    *kept, note = fitted.text.split("\n")
    assert kept == text.split("\n")[: fitted.injected_lines]
    assert (fitted.lines, fitted.cut_line) == (238, fitted.injected_lines + 1)
    assert note == f"(Cut here: lines {fitted.cut_line} to 238 of 238 did not fit; the file has them.)"
    assert "Key rule" not in fitted.text
    assert 1800 < estimate_tokens(fitted.text) <= 2000


def test_a_line_is_never_cut() -> None:
    """L06."""
    assert fit_index(f"- [A](a.md)\n{'x' * 40_000}\n- [B](b.md)", 4000) == FittedIndex(
        "- [A](a.md)\n(Cut here: lines 2 to 3 of 3 did not fit; the file has them.)", 3, 1, 2
    )


def test_zero_lets_nothing_through_and_none_everything() -> None:
    text = index_of(500)
    assert fit_index(text, 0) == FittedIndex("", 500, 0, 1)
    assert fit_index(text, None) == FittedIndex(text.rstrip(), 500, 500, None)


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_an_empty_index_has_no_lines(text: str) -> None:
    for limit in (4000, 0, None):
        assert fit_index(text, limit) == FittedIndex("", 0, 0, None)


@given(st.text(), st.integers(min_value=0, max_value=100))
def test_what_fits_is_never_more_than_the_limit(text: str, limit: int) -> None:
    fitted = fit_index(text, limit)
    assert estimate_tokens(fitted.text) <= limit
    assert (fitted.cut_line is None) == (fitted.injected_lines == fitted.lines)
