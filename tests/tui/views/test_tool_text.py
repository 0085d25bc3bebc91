"""A tool call in words."""

from __future__ import annotations

import pytest

from tui.views.chat_items import ToolItem, ToolState
from tui.views.tool_text import STATE_LOOKS, arguments_text, changed_lines, outcome, split_diff, subject


def call(arguments: str = "{}", state: ToolState = "success", **facts: object) -> ToolItem:
    item = ToolItem("c1", "Write", arguments, state)
    for name, value in facts.items():
        setattr(item, name, value)
    return item


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"content": "long", "file_path": "a.md"}', "a.md"),
        ('{"text": "first line\\nsecond"}', "first line"),
        ('{"number": 3}', ""),
        ("{}", ""),
        ('{"file_path": "a', ""),
        ("[1]", ""),
        ("nonsense", ""),
    ],
)
def test_a_call_is_about_what_its_arguments_name_first(arguments: str, text: str) -> None:
    assert subject(call(arguments)) == text


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (call(seconds=0.02), "done in 20 ms"),
        (call(seconds=3.0, diff="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n+z"), "done in 3.0 s, +2 -1"),
        (call(state="error", seconds=0.5), "failed in 0.5 s"),
        (call(state="denied", seconds=0.0, note="refused"), "refused (refused)"),
        (call(state="running"), "runs"),
        (call(state="asking", diff="+x"), "asks you, +1 -0"),
    ],
)
def test_how_a_call_stands(item: ToolItem, words: str) -> None:
    assert outcome(item) == words


def test_every_state_is_told_without_colour() -> None:
    assert len({(look.sign, look.word) for look in STATE_LOOKS.values()}) == len(STATE_LOOKS)


def test_arguments_stand_one_a_line_and_long_ones_as_they_are() -> None:
    arguments = '{"path": "a.md", "content": "one\\ntwo", "limit": 3, "flags": ["x", "日"]}'
    assert arguments_text(call(arguments)) == 'path: a.md\ncontent: \none\ntwo\nlimit: 3\nflags: ["x", "日"]'


def test_arguments_that_are_no_object_are_shown_as_they_came() -> None:
    assert arguments_text(call('{"broken')) == '{"broken'
    assert arguments_text(call("[" * 100_000)) == "[" * 100_000
    assert arguments_text(call("{}")) == ""
    assert arguments_text(call("")) == ""


def test_lines_that_look_like_the_head_of_a_diff_are_counted() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n same"
    assert changed_lines(diff) == (1, 1)
    assert split_diff(diff) == (["--- a", "+++ b"], ["@@ -1,2 +1,2 @@", "--- x", "+++ y", " same"])


def test_no_diff_changes_nothing() -> None:
    assert changed_lines("") == (0, 0)
    assert split_diff("") == ([], [])
