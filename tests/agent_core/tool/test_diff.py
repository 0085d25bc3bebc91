from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from agent_core.tool.diff import COMPARED_LINES, SHOWN_CHARACTERS, SHOWN_LINES, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30).map(lambda lines: "".join(f"{x}\n" for x in lines))


def test_nothing_changed() -> None:
    assert unified_diff(b"x", b"x", "f") == ""
    assert unified_diff(None, None, "f") == ""


def test_a_change_in_context() -> None:
    before = b"".join(b"%d\n" % number for number in range(1, 11))
    diff = unified_diff(before, before.replace(b"5\n", b"five\n"), "f")
    assert diff == "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"


def test_new_and_gone_and_emptied_files() -> None:
    assert unified_diff(None, b"a\n", "f") == "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a"
    assert unified_diff(b"a\n", None, "f") == "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a"
    assert unified_diff(None, b"", "f") == "--- /dev/null\n+++ f"


def test_one_more_of_many_equal_lines() -> None:
    assert unified_diff(b"a\n" * 20, b"a\n" * 21, "f") == "--- f\n+++ f\n@@ -18,3 +18,4 @@\n a\n a\n a\n+a"


def test_a_missing_last_newline_is_said() -> None:
    assert unified_diff(b"a", b"a\n", "f").splitlines()[3:] == ["-a", "\\ No newline at end of file", "+a"]


def test_carriage_returns_show_only_where_they_differ() -> None:
    assert unified_diff(b"a\r\nb\r\n", b"a\r\nc\r\n", "f").splitlines()[3:] == [" a", "-b", "+c"]
    assert unified_diff(b"a\r\n", b"a\n", "f").splitlines()[3:] == ["-a␍", "+a"]


def test_text_is_data() -> None:
    diff = unified_diff(None, b"[/x] caf\xe9 \x0c \xe2\x80\xa8 one line\n", "bad\nname\x1b")
    assert diff.split("\n")[1:] == ["+++ bad�name�", "@@ -0,0 +1 @@", "+[/x] caf� \x0c \u2028 one line"]


def test_what_is_no_text_is_named_with_its_sizes() -> None:
    png = b"\x89PNG\r\n\x1a\n\x00"
    assert unified_diff(png, b"text", "f").splitlines()[-1] == "[not shown: a PNG image, 9 bytes before, 4 after]"


def test_a_long_line_is_cut_and_said() -> None:
    line = unified_diff(None, "é".encode() * 9000, "f").splitlines()[3]
    assert line == "+" + "é" * SHOWN_CHARACTERS + " … [cut: the line has 18,000 bytes]"


def test_a_long_diff_is_cut_and_said() -> None:
    after = b"".join(b"%d\n" % number for number in range(SHOWN_LINES + 100))
    lines = unified_diff(None, after, "f").splitlines()
    assert len(lines) == SHOWN_LINES + 3
    assert lines[-1].startswith("[left out: the rest of a diff")


def test_files_that_differ_all_over_are_not_compared_line_by_line() -> None:
    before, after = b"old\n" * (COMPARED_LINES + 1), b"new\n" * 5
    assert unified_diff(before, after, "f").splitlines()[2:] == [
        "@@ -1,2001 +1,5 @@",
        "[not shown line by line: 2,001 lines before, 5 after]",
    ]


@given(LINES, LINES)
def test_it_is_what_difflib_makes_of_the_same_files(before: str, after: str) -> None:
    lines = [text.splitlines(keepends=True) for text in (before, after)]
    expected = "".join(difflib.unified_diff(*lines, "f", "f"))
    ours = unified_diff(before.encode(), after.encode(), "f")
    # Which of several equal lines is called the new one may differ; how many are, and what they come to, may not.
    assert _applied(lines[0], ours) == lines[1]
    assert bool(ours) == bool(expected)


def _applied(before: list[str], diff: str) -> list[str]:
    """The file that a diff makes of another: hunks laid over it by their numbers."""
    after, position = [], 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) if count == "0" else int(start) - 1
            after += before[position:first]
            position = first
        elif line.startswith("+"):
            after.append(line[1:] + "\n")
        else:
            assert before[position] == line[1:] + "\n"
            position += 1
            if line.startswith(" "):
                after.append(line[1:] + "\n")
    return after + before[position:]
