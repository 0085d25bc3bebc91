"""Lines of MEMORY.md added, reworded and removed: all other bytes are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.agentic.index import parse_index
from memory.agentic.index_edit import IndexLine, add_entries, remove_entry, reword_entry
from memory.agentic.link_edit import Names

INDEX = """\
# My index

* [Tea](tea.md) — likes oolong
  and green tea
* [Brief](<the brief.md> "t") — when briefing
* [Home](home.md), [Work](work.md) — where
See [Tea](tea.md) first.

## Links
"""


def to(target: str) -> object:
    return target.__eq__


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("", "- [T](t.md) — h\n"),
        ("- [a](a.md)", "- [a](a.md)\n- [T](t.md) — h"),
        ("- [a](a.md)\r\n", "- [a](a.md)\r\n- [T](t.md) — h\r\n"),
        ("# Index\n", "# Index\n- [T](t.md) — h\n"),
        ("+ [a](a.md)\n  more\n\n## end\n", "+ [a](a.md)\n  more\n+ [T](t.md) — h\n\n## end\n"),
        ("1. [a](a.md)\n", "1. [a](a.md)\n- [T](t.md) — h\n"),
        ("- [ ] [a](a.md)\n", "- [ ] [a](a.md)\n- [T](t.md) — h\n"),
        ("- [a](a.md)\n- [b](b.md)\r\nend", "- [a](a.md)\n- [b](b.md)\r\n- [T](t.md) — h\r\nend"),
    ],
)
def test_a_line_is_put_behind_the_last_entry_and_looks_like_it(index: str, expected: str) -> None:
    """F26: with the line end in use there."""
    tea, oolong = IndexLine("T", "t.md", "h"), IndexLine("O", "o.md", "k")
    assert add_entries(index, [tea]) == expected
    assert add_entries(index, [tea, oolong]) == add_entries(expected, [oolong])


@pytest.mark.parametrize(
    ("line", "title", "hook"),
    [
        (IndexLine("x [y] \\ z", "a.md", "see [q](r.md)"), "x [y] \\ z", "see [q] (r.md)"),
        (IndexLine("two\nlines", "a.md", "and\r\nmore\ttext"), "two lines", "and more text"),
        (IndexLine("", "a.md", ""), "a.md", ""),
        (IndexLine("\x1b[31mred", "a.md", "\x00\u2028x"), "[31mred", "x"),
        (IndexLine("t" * 500, "a.md", "h" * 500), "t" * 79 + "…", "h" * 149 + "…"),
    ],
)
def test_titles_and_hooks_cannot_break_the_line(line: IndexLine, title: str, hook: str) -> None:
    (entry,) = parse_index(add_entries("", [line]))
    assert (entry.title, entry.target, entry.hook) == (title, "a.md", hook)


@pytest.mark.parametrize(
    "name",
    [
        "the brief.md", "a&amp;b.md", "a%20b.md", "x#y.md", "甲 乙.md", "a'b\".md", "a(b.md", "a)b(.md", "a:b.md",
        "a|b.md", "a\\b.md", "sub/the brief.md", "[a].md", "a?b.md", "<a>.md", "`a`.md", "100%.md", "a\u3000b.md",
    ],
)  # fmt: skip
def test_every_name_is_written_so_that_its_link_leads_to_it(name: str) -> None:
    """L01, L02."""
    (entry,) = parse_index(add_entries("", [IndexLine("T", name, "h")]))
    assert Names([name, "other.md"]).find(entry.target) == name
    assert not set(entry.target) & set(" \t()<>")


def test_removing_an_entry_takes_its_line_and_what_is_indented_below_it() -> None:
    assert remove_entry(INDEX, to("tea.md")) == INDEX.replace(
        "* [Tea](tea.md) — likes oolong\n  and green tea\n", ""
    ).replace("See [Tea](tea.md) first.", "See Tea first.")


def test_a_line_that_is_an_entry_of_another_file_too_stays() -> None:
    assert remove_entry(INDEX, to("work.md")) == INDEX.replace("[Work](work.md)", "Work")
    assert remove_entry(INDEX, to("home.md")) == INDEX.replace("[Home](home.md)", "Home")


def test_a_link_to_the_web_does_not_keep_a_line() -> None:
    index = "- [A](a.md) — see [docs](https://example.org)\n- [B](b.md)\n"
    assert remove_entry(index, to("a.md")) == "- [B](b.md)\n"


def test_a_row_of_a_table_is_an_entry() -> None:
    assert remove_entry("| n | h |\n|---|---|\n| [A](a.md) | x |\n", to("a.md")) == "| n | h |\n|---|---|\n"


def test_what_an_entry_said_of_the_old_header_it_says_of_the_new_one() -> None:
    old, new = IndexLine("Tea", "tea.md", "likes oolong"), IndexLine("Green [tea]", "tea.md", "likes sencha")
    assert reword_entry(INDEX, to("tea.md"), old, new) == INDEX.replace(
        "[Tea](tea.md) — likes oolong", r"[Green \[tea\]](tea.md) — likes sencha"
    ).replace("See [Tea](tea.md)", r"See [Green \[tea\]](tea.md)")


def test_words_of_ones_own_stay() -> None:
    old, new = IndexLine("Other", "tea.md", "other"), IndexLine("X", "tea.md", "y")
    assert reword_entry(INDEX, to("tea.md"), old, new) == INDEX


_PIECE = st.sampled_from(
    [
        "# Index",
        "",
        "- [A](a.md) — a",
        "* [B](b.md)",
        "text [C](c.md) text",
        "  indented",
        "| [D](d.md) | x |",
        "[",
        "](",
    ]
)
_INDEX = st.lists(st.tuples(_PIECE, st.sampled_from(["\n", "\r\n"])), max_size=8).map(
    lambda lines: "".join(text + end for text, end in lines)
)


@given(
    index=st.one_of(_INDEX, _INDEX.map(str.rstrip), st.text(max_size=60)),
    title=st.text(max_size=20),
    hook=st.text(max_size=20),
)
def test_adding_keeps_every_byte_and_removing_takes_just_that_away(index: str, title: str, hook: str) -> None:
    added = add_entries(index, [IndexLine(title, "new file.md", hook)])
    removed = remove_entry(added, to("new%20file.md"))
    assert removed.rstrip("\r\n") == index.rstrip("\r\n")
    if not index or index.endswith("\n"):
        assert removed == index
    entries = [entry for entry in parse_index(added) if entry.target == "new%20file.md"]
    assert len(entries) == 1


@given(index=_INDEX, target=st.sampled_from(["a.md", "b.md", "c.md", "d.md"]))
def test_removing_touches_no_line_without_the_link(index: str, target: str) -> None:
    kept = remove_entry(index, to(target)).splitlines(keepends=True)
    position = 0
    for line in index.splitlines(keepends=True):
        if f"({target})" not in line and not line.startswith("  "):
            position = kept.index(line, position) + 1
