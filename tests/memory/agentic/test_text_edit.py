"""From an editor's text back to bytes, and changes taken back line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.agentic.memory_file import is_binary
from memory.agentic.revert import revert_lines
from memory.agentic.text_edit import NotText, NotUtf8, edited, with_text


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (None, "a\nb", b"a\nb"),
        (b"", "a", b"a"),
        (b"a\r\nb\r\n", "a\nx\nb\n", b"a\r\nx\r\nb\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc\nd\n", b"a\r\nb\nc\r\nd\r\n"),
        (b"a\rb\r", "a\nc\n", b"a\rc\r"),
        (b"a\nb", "a\nb\n", b"a\nb\n"),
        (b"a\nb\n", "a\nb", b"a\nb"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa\n", "\ufeffa\n", b"\xef\xbb\xbf\xef\xbb\xbfa\n"),
        (b"a\n", "", b""),
        (b"a\n", "\ud83d", "\ufffd".encode()),
    ],
)
def test_lines_that_stay_keep_their_ends(before: bytes | None, text: str, after: bytes) -> None:
    """F01, F26: never doubled, never made all alike."""
    assert with_text(before, text) == after


def test_lines_that_are_not_utf8_stay_as_they_are() -> None:
    """F22."""
    before = b"caf\xe9\ncut \xe4\xb8\nlast\n"
    shown = before.decode(errors="replace")
    assert with_text(before, shown) == before
    assert with_text(before, shown.replace("last", "more")) == before.replace(b"last", b"more")
    with pytest.raises(NotUtf8, match="line 1"):
        with_text(before, shown.replace("caf", "Caf"))


@pytest.mark.parametrize(
    "before", [b"\x89PNG\0", "text".encode("utf-16"), "茶".encode("utf-16"), b"good\n" + b"\0" * 4096 + b"good\n"]
)
def test_a_binary_file_is_not_replaced_by_the_nothing_that_is_shown_of_it(before: bytes) -> None:
    """F25, P01."""
    for text in ("", "other"):
        with pytest.raises(NotText, match="binary"):
            with_text(before, text)


def test_a_file_of_very_many_lines_is_not_compared_for_ever() -> None:
    before = b"".join(b"%d\r\n" % number for number in range(40_000))
    text = "\n".join(str(number + 1) for number in range(0, 80_000, 2))
    assert with_text(before, text).count(b"\r\n") == 39_999


@given(st.binary(max_size=60).filter(lambda data: not is_binary(data)))
def test_text_that_was_not_changed_gives_the_same_bytes(data: bytes) -> None:
    shown = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    assert with_text(data, shown) == data
    assert with_text(data, shown.replace("\r\n", "\n").replace("\r", "\n")) == data
    assert edited(data, lambda text: text) == data


@pytest.mark.parametrize(
    ("before", "after", "present", "reverted"),
    [
        (b"a\n", b"a\nb\n", b"a\nb\nc\n", b"a\nc\n"),
        (b"a\nb\nc\n", b"a\nc\n", b"x\na\nc\nd\n", b"x\na\nb\nc\nd\n"),
        (b"a\n", b"b\n", b"x\nb\ny\n", b"x\na\ny\n"),
        (b"", b"a\n", b"a\nb\n", b"b\n"),
        (b"a\nb\n", b"", b"c\n", b"c\na\nb\n"),
        (b"- x", b"- x\n- y", b"- x\n- y\n- z\n", b"- x\n- z\n"),
        (b"a\r\nb\r\n", b"a\r\n", b"z\r\na\r\n", b"z\r\na\r\nb\r\n"),
        (b"a\n", b"a\nb\n", b"a\nB\n", None),
        (b"x\ny\nb\n", b"x\nb\ny\nb\n", b"x\nb\ny\nb\nz\n", b"x\ny\nb\nz\n"),
    ],
)
def test_a_change_is_taken_back_from_between_other_changes(
    before: bytes, after: bytes, present: bytes, reverted: bytes | None
) -> None:
    assert revert_lines(before, after, present) == reverted


@given(before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_without_other_changes_all_is_as_it_was(before: bytes, after: bytes) -> None:
    assert revert_lines(before, after, after) == before
