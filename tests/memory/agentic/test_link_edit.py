"""Which file a link means, and links that follow a file to its new name."""

from __future__ import annotations

import pytest

from memory.agentic.link_edit import Names, point_elsewhere

FILES = Names(["a.md", "the b.md", "sub/c.md", "sub/d.md", "x#y.md", "cafe\u0301.md"])


def moved(text: str, old: str, new: str, base: str = "", new_base: str | None = None) -> str:
    return point_elsewhere(text, old, new, FILES, base=base, new_base=new_base)


@pytest.mark.parametrize(
    ("target", "base", "found"),
    [
        ("a.md", "", "a.md"),
        ("./a.md#part", "", "a.md"),
        ("the%20b.md", "", "the b.md"),
        ("the b.md", "", "the b.md"),
        ("c.md", "sub", "sub/c.md"),
        ("../a.md", "sub", "a.md"),
        ("a.md", "sub", "a.md"),
        ("sub\\c.md", "", "sub/c.md"),
        ("caf%C3%A9.md", "", "cafe\u0301.md"),
        ("x#y.md", "", "x#y.md"),
        ("gone.md", "", None),
        ("../a.md", "", None),
        ("https://example.org/a.md", "", None),
    ],
)
def test_finding_what_a_link_means(target: str, base: str, found: str | None) -> None:
    """L01, L02."""
    assert FILES.find(target, base) == found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [B](the%20b.md) — b", "- [B](new%20%282%29.md) — b"),
        ("- [B](the b.md)", "- [B](new%20%282%29.md)"),
        ('[B](<the b.md> "title")', '[B](<new (2).md> "title")'),
        ("[B](the%20b.md 'title')", "[B](new%20%282%29.md 'title')"),
        ("[B](the%20b.md#part) [B](./the%20b.md)", "[B](new%20%282%29.md#part) [B](new%20%282%29.md)"),
        ("[[the b]], [[the b|text]], ![[the b#part]]", "[[new (2)]], [[new (2)|text]], ![[new (2)#part]]"),
        ("[A](a.md) ![pic](the%20b.md) the b.md", "[A](a.md) ![pic](the%20b.md) the b.md"),
    ],
)
def test_links_follow_a_file_and_keep_their_form(before: str, after: str) -> None:
    assert moved(f"one\r\n{before}\ntwo", "the b.md", "new (2).md") == f"one\r\n{after}\ntwo"


def test_a_hash_in_a_name_is_no_anchor() -> None:
    assert moved("[X](x#y.md)", "x#y.md", "z.md") == "[X](z.md)"


def test_links_from_another_folder_are_written_from_there() -> None:
    assert (
        moved("[C](c.md) [C](../sub/c.md) [[c]]", "sub/c.md", "e.md", base="sub") == "[C](../e.md) [C](../e.md) [[e]]"
    )


def test_the_links_of_a_file_that_moves_lead_where_they_led() -> None:
    text = "[me](d.md) [C](c.md) [A](../a.md) [web](https://example.org) [gone](gone.md)"
    expected = "[me](e.md) [C](sub/c.md) [A](a.md) [web](https://example.org) [gone](gone.md)"
    assert moved(text, "sub/d.md", "e.md", base="sub", new_base="") == expected


def test_a_name_that_two_files_have_is_not_taken_for_either() -> None:
    names = Names(["a/x.md", "b/x.md"])
    assert names.find_stem("x") is None
    assert names.find_stem("a/x") == "a/x.md"
