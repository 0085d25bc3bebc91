from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import ToolError
from agent_core.tool.read_record import ReadRecord
from agent_core.tool.replacement import Replacement, find_replacements, lines_of, moved, replaced

TEXT = st.text(alphabet="ab\n\r中", max_size=8)
NEW_TEXT = st.text(alphabet="ab\n中", max_size=8)


@given(TEXT, TEXT, NEW_TEXT, TEXT)
def test_a_unique_text_is_replaced_and_all_around_it_stays(head: str, old: str, new: str, tail: str) -> None:
    data = (head + old + tail).encode()
    try:
        (place,) = find_replacements(data, old, new, replace_all=False)
    except ToolError:
        return
    start, end = place.found
    after = replaced(data, [place])
    assert after.startswith(data[:start])
    assert after.endswith(data[end:])
    found = after[start : len(after) - (len(data) - end)]
    assert found.replace(b"\r\n", b"\n") == new.encode()


@given(st.text(alphabet="ab\n", max_size=30), st.text(alphabet="ab\n", min_size=1, max_size=3), NEW_TEXT)
def test_replace_all_is_replace_where_there_is_one_kind_of_line_end(text: str, old: str, new: str) -> None:
    if old not in text or old == new:
        return
    places = find_replacements(text.encode(), old, new, replace_all=True)
    assert replaced(text.encode(), places).decode() == text.replace(old, new)
    if "\n" in text:
        in_dos = text.replace("\n", "\r\n").encode()
        after = replaced(in_dos, find_replacements(in_dos, old, new, replace_all=True))
        assert after.decode() == text.replace(old, new).replace("\n", "\r\n")


def test_both_bytes_of_a_line_end_are_one_place() -> None:
    assert len(find_replacements(b"a\r\nb", "\n", " ", replace_all=False)) == 1


def test_many_places_are_counted_up_to_a_limit() -> None:
    with pytest.raises(ToolError, match="more than 100,000 times, at line 1 and others"):
        find_replacements(b"a" * 200_000, "a", "b", replace_all=False)
    with pytest.raises(ToolError, match="too many to replace"):
        find_replacements(b"a" * 200_000, "a", "b", replace_all=True)


@pytest.mark.parametrize(
    ("spans", "place", "after"),
    [
        ([(0, 10)], Replacement((2, 4), 2, 4, b"12345"), [(0, 13)]),
        ([(0, 4), (6, 9)], Replacement((0, 1), 0, 1, b""), [(0, 3), (5, 8)]),
        ([(0, 4), (6, 9)], Replacement((6, 8), 6, 6, b"xy"), [(0, 4), (6, 11)]),
        ([(0, 4), (6, 9)], Replacement((2, 4), 4, 4, b"xy"), [(0, 6), (8, 11)]),
    ],
)
def test_what_was_shown_moves_with_the_text(
    spans: list[tuple[int, int]], place: Replacement, after: list[tuple[int, int]]
) -> None:
    assert moved(spans, [place]) == after


def test_lines_in_words() -> None:
    assert lines_of(b"a\nb\nc", [0]) == "line 1"
    assert lines_of(b"a\nb\nc", [0, 1, 4]) == "lines 1, 3"
    assert lines_of(b"\n" * 9, list(range(9))) == "lines 1, 2, 3, 4, 5 and others"


class TestReadRecord:
    def test_pages_of_one_version_add_up_to_the_whole(self) -> None:
        record = ReadRecord()
        record.remember("local", "/f", b"0123456789", [(5, 10)])
        assert not record.has_shown("local", "/f")
        record.remember("local", "/f", b"0123456789", [(0, 5)])
        assert record.has_shown("local", "/f")

    def test_pages_of_different_versions_do_not(self) -> None:
        record = ReadRecord()
        record.remember("local", "/f", b"0123456789", [(5, 10)])
        record.remember("local", "/f", b"0123456780", [(0, 5)])
        assert not record.has_shown("local", "/f")
        assert record.shown("local", "/f") == ((0, 5),)

    def test_back_ends_are_kept_apart(self) -> None:
        record = ReadRecord()
        record.remember("local", "/f", b"x")
        assert record.knows("local", "/f")
        assert not record.knows("docker", "/f")
        assert not record.has_shown("docker", "/f")
        assert not record.is_current("docker", "/f", b"x")

    def test_a_forgotten_file_has_not_been_read(self) -> None:
        record = ReadRecord()
        record.remember("local", "/f", b"x")
        record.forget("local", "/f")
        assert not record.knows("local", "/f")
        assert record.shown("local", "/f") == ()
