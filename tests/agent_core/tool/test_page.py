from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tool.page import LINE_LIMIT, MOST_LINES, PAGE_LIMIT, line_start, make_page


def numbered(*lines: str) -> str:
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, 1))


@pytest.mark.parametrize("data", [b"one\ntwo\n", b"one\ntwo", b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\ntwo\n"])
def test_a_whole_file_is_shown_without_notes_and_without_what_is_no_text(data: bytes) -> None:
    """F01, F26: neither a byte order mark nor a carriage return is shown."""
    assert make_page(data, 1, 10) == (numbered("one", "two"), make_page(data, 1, 10).spans)
    assert make_page(data, 1, 10).spans[0][0] == 0
    assert make_page(data, 1, 10).spans[-1][1] == len(data)


def test_an_empty_file_says_so_and_counts_as_shown() -> None:
    assert make_page(b"", 1, 10) == ("[the file is empty]", ((0, 0),))


def test_an_offset_past_the_end_says_so_and_shows_nothing() -> None:
    assert make_page(b"one\ntwo\n", 3, 10) == ("[the file has 2 lines; there is no line 3]", ())
    assert make_page(b"one", 2, 10).text == "[the file has 1 line; there is no line 2]"


def test_a_part_says_where_to_go_on() -> None:
    page = make_page(b"a\nb\nc\nd\n", 2, 2)
    assert page.text == "     2\tb\n     3\tc\n[lines 2 to 3 of 4; go on with offset=4]"
    assert page.spans == ((2, 4), (4, 6))


def test_a_long_line_is_cut_visibly_and_can_be_read_alone() -> None:
    data = b"x" * 5000 + b"\nshort\n"
    page = make_page(data, 1, 10)
    assert page.text == numbered(
        "x" * LINE_LIMIT + " … [cut: the line has 5,001 bytes; read it alone, with limit=1, to see more]", "short"
    )
    assert page.spans == ((0, LINE_LIMIT), (5001, 5007))
    alone = make_page(data, 1, 1)
    assert alone.text.splitlines()[0] == "     1\t" + "x" * 5000
    assert alone.spans == ((0, 5001),)


def test_a_cut_never_lands_inside_a_character() -> None:
    """S30: what is cut is still text."""
    page = make_page(("é🙂" * LINE_LIMIT).encode(), 1, 2)
    assert page.text.startswith("     1\t" + "é🙂" * (LINE_LIMIT // 2) + " … [cut")
    assert page.spans == ((0, LINE_LIMIT // 2 * 6),)


@pytest.mark.parametrize("data", [b"caf\xe9 au lait\n", "caf\u4e2d".encode()[:-1]])
def test_what_is_not_utf8_is_shown_with_replacement_marks_and_a_note(data: bytes) -> None:
    """F22: Latin-1, and a file that was cut inside of a character."""
    shown, note = make_page(data, 1, 10).text.split("\n")
    assert shown.startswith("     1\tcaf�")
    assert note.startswith("[not UTF-8")


def test_the_start_of_a_larger_file_says_so_and_is_not_blamed_for_its_cut_end() -> None:
    page = make_page("a\nb中".encode()[:-1], 1, 10, is_whole_file=False)
    assert page.text == numbered("a", "b") + "\n[the file is too large: what follows after line 2 cannot be read]"
    assert "of 3 or more;" in make_page(b"a\nb\nc", 1, 1, is_whole_file=False).text
    assert make_page(b"a\nb", 9, 1, is_whole_file=False).text == "[the file has 2 lines or more; there is no line 9]"


@pytest.mark.parametrize("line", [b"", b"short", b"y" * 1999, "中".encode() * 1999])
def test_a_page_is_bounded_whatever_is_asked_for(line: bytes) -> None:
    """F23: many lines, short or long, give a page of bounded length that says where to go on."""
    page = make_page((line + b"\n") * 30_000, 1, 10**9)
    assert len(page.text) < PAGE_LIMIT + MOST_LINES * 8 + 200
    assert "go on with offset=" in page.text.splitlines()[-1]


@given(st.binary(max_size=60).map(lambda data: data.replace(b"a", b"\n")), st.integers(1, 12))
def test_line_starts_are_those_of_splitting(data: bytes, number: int) -> None:
    lines = data.split(b"\n")
    expected = sum(len(line) + 1 for line in lines[: number - 1])
    assert line_start(data, number) == (expected if expected < len(data) else None)


def test_line_starts_far_into_a_file_are_found() -> None:
    data = b"".join(b"%d\n" % number for number in range(1, 200_001))
    for number in (1, 65_536, 123_456, 200_000):
        start = line_start(data, number)
        assert start is not None
        assert data[start:].split(b"\n", 1)[0] == b"%d" % number
    assert line_start(data, 200_001) is None


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=5), max_size=20),
       st.integers(1, 7))  # fmt: skip
def test_page_after_page_shows_every_line_once_and_every_byte(lines: list[str], limit: int) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    shown, covered = [], 0
    offset = 1
    while covered < len(data):
        page = make_page(data, offset, limit)
        rows = [row for row in page.text.split("\n") if "\t" in row and row[:6].strip().isdigit()]
        shown += [row.split("\t", 1)[1] for row in rows]
        assert page.spans[0][0] == covered
        covered = page.spans[-1][1]
        offset += len(rows)
    expected = [line.removeprefix("﻿") if number == 0 else line for number, line in enumerate(lines)]
    assert shown == expected
