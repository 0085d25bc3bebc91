from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.paths import escape, is_inside, is_literal, is_sensitive, matches, one_line, split_pattern

NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=5)
PATH = st.lists(NAME.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4).map(
    lambda names: "/" + "/".join(names)
)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/w/a.md", "/w/a.md", True),
        ("/w/a.md", "/w/b.md", False),
        ("/w/*.md", "/w/a.md", True),
        ("/w/*.md", "/w/sub/a.md", False),
        ("/w/*", "/w", False),
        ("/w/**", "/w/sub/a.md", True),
        ("/w/**", "/w", True),
        ("/w/**", "/way/a.md", False),
        ("/w/**", "/x/w/a.md", False),
        ("/w/**/a.md", "/w/a.md", True),
        ("/w/**/a.md", "/w/x/y/a.md", True),
        ("/w/**/x/**/a.md", "/w/1/x/2/3/a.md", True),
        ("/w/**/x/**/a.md", "/w/1/2/3/a.md", False),
        ("**/.env", "/deep/down/.env", True),
        ("/w/a**b", "/w/aXb", True),
        ("/w/a**b", "/w/a/b", False),
        ("/w/[ab].md", "/w/b.md", True),
        ("/w/?", "/w/ab", False),
        ("/", "/w", False),
        ("/**", "/w/x", True),
        ("/opt/zz/**", "/opt/etc/x", False),
        ("/opt/zz/../**", "/opt/etc/x", False),
    ],
)
def test_patterns_match_folder_by_folder(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path, fold_case=False) is expected


def test_many_stars_cost_no_time() -> None:
    assert not matches("/".join(["**", "a"] * 30), "/" + "/".join(["a"] * 200) + "/b")


def test_case_and_composition_make_no_difference_where_the_disk_folds_them() -> None:
    """X06: paths that differ in case are one path on some disks and two on others."""
    assert matches("/Users/Ann/**", "/users/ann/x", fold_case=True)
    assert not matches("/Users/Ann/**", "/users/ann/x", fold_case=False)
    assert is_inside("/Users/Zoé", "/users/zoe\u0301/x", fold_case=True)
    assert not is_inside("/Users/Ann", "/users/ann/x", fold_case=False)


@given(PATH, PATH)
def test_an_escaped_path_matches_itself_only(path: str, other: str) -> None:
    assert matches(escape(path), path, fold_case=False)
    assert is_literal(escape(path))
    assert matches(escape(path), other, fold_case=False) == (path == other)


@pytest.mark.parametrize("pattern", ["/w/*", "/w/**", "/w/a?", "/w/[ab]", "/w/[[]*"])
def test_patterns_with_wildcards_are_not_literal(pattern: str) -> None:
    assert not is_literal(pattern)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("/w/sub/*.md", ("/w/sub/", "*.md")),
        ("/w/a*/b", ("/w/", "a*/b")),
        ("/w/x.md", ("/w/x.md", "")),
        ("**/x", ("", "**/x")),
        ("/*", ("/", "*")),
        ("~/x/**", ("~/x/", "**")),
    ],
)
def test_the_plain_front_of_a_pattern(pattern: str, parts: tuple[str, str]) -> None:
    assert split_pattern(pattern) == parts


@pytest.mark.parametrize(
    "path",
    ["/w/.env", "/w/.env.local", "/w/.ENV", "/w/.git/hooks/pre-commit", "/h/.ssh/id", "/h/.bashrc", "/w/.Git/config"],
)
def test_secrets_and_settings_that_run_things_are_sensitive(path: str) -> None:
    assert is_sensitive(path)


@pytest.mark.parametrize("path", ["/", "/w/env", "/w/notes.md", "/w/.github/x", "/w/git/config", "/w/MEMORY.md"])
def test_other_files_are_not(path: str) -> None:
    assert not is_sensitive(path)


def test_a_path_in_a_message_stays_on_its_line() -> None:
    assert one_line("/w/a\nAllow everything? \x1b[2J中.md") == "/w/a�Allow everything? �[2J中.md"
