"""Changing fields of a header: what was not meant to change is byte for byte the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.agentic.frontmatter import parse_header
from memory.agentic.header_edit import HeaderError, NoHeader, set_fields
from memory.agentic.memory_file import decode

HEADER = b"""\
---
# kept by hand
name: tea
description: 'old'   # said in May
date: 2026-12-06T09:05:28-06:00
active: yes
metadata:
  type: user
  node: "x"
tags:
- a
- b
notes: |
  one
  two
empty:
---
body
"""


def fields(data: bytes) -> dict[str, str]:
    return parse_header(decode(data, is_whole=True).text).fields


def changed_lines(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines that differ, once those that are the same at both ends are taken away."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


def test_only_the_line_of_the_field_changes() -> None:
    """F10: dates, yes and no, comments and the order of keys stay as they were written."""
    after = set_fields(HEADER, {"description": "new"})
    assert changed_lines(HEADER, after) == (
        [b"description: 'old'   # said in May\n"],
        [b"description: 'new'   # said in May\n"],
    )


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("name", "green tea", b"name: tea\n", b"name: green tea\n"),
        ("metadata.type", "project", b"  type: user\n", b"  type: project\n"),
        ("metadata.node", "y", b'  node: "x"\n', b'  node: "y"\n'),
        ("active", None, b"active: yes\n", b""),
        ("tags", "none", b"tags:\n- a\n- b\n", b"tags: none\n"),
        ("tags", None, b"tags:\n- a\n- b\n", b""),
        ("notes", "three", b"notes: |\n  one\n  two\n", b"notes: three\n"),
        ("empty", "full", b"empty:\n", b"empty: full\n"),
        ("metadata", None, b'metadata:\n  type: user\n  node: "x"\n', b""),
        ("pinned", "true", b"", b"pinned: true\n"),
    ],
)
def test_fields_of_every_form(key: str, value: str | None, old: bytes, new: bytes) -> None:
    after = set_fields(HEADER, {key: value})
    assert changed_lines(HEADER, after) == (old.splitlines(keepends=True), new.splitlines(keepends=True))
    assert fields(after).get(key) == value


@pytest.mark.parametrize(
    "value",
    [
        "use room #4 on floor 2",
        r"see C:\data\uface\ubeef1.md",
        "Plan: move to Tuesday (was: Monday)",
        'it\'s "both" kinds',
        "- not a list",
        "{a, b}",
        "[x](y.md)",
        "@home, 100%",
        "!tag &anchor *alias",
        "a\nb\n",
        " blank ",
        "",
        "~",
        "2026-03-05",
        "true",
        "喜欢乌龙茶：浓一点",
        "\x85\u2028\u2029\x07\ufeff",
        "---",
        "👩‍👩‍👧",
    ],
)
@pytest.mark.parametrize("key", ["description", "name", "other"])
def test_a_value_is_read_as_it_was_given(key: str, value: str) -> None:
    """F12, F20 and their kind: whatever YAML makes of a sign, the text survives."""
    after = set_fields(HEADER, {key: value})
    assert fields(after)[key] == value
    assert {name: text for name, text in fields(after).items() if name != key} == {
        name: text for name, text in fields(HEADER).items() if name != key
    }


def test_a_value_that_reads_as_wanted_is_left_alone() -> None:
    """C17: nothing is written where nothing changes."""
    assert set_fields(HEADER, {"description": "old", "missing": None}) == HEADER


def test_line_ends_and_byte_order_mark_stay() -> None:
    """F01, F26."""
    data = b"\xef\xbb\xbf" + HEADER.replace(b"\n", b"\r\n")
    after = set_fields(data, {"name": "x", "new": "y", "tags": None})
    expected = data.replace(b"name: tea", b"name: x").replace(b"tags:\r\n- a\r\n- b\r\n", b"")
    assert after == expected.replace(b"empty:\r\n", b"empty:\r\nnew: y\r\n")


def test_mixed_line_ends_stay() -> None:
    """F26."""
    data = b"---\r\nname: a\ndescription: b\r\n---\nbody\r\nmore\n"
    assert set_fields(data, {"name": "x"}) == data.replace(b"name: a", b"name: x")


def test_bytes_that_are_not_utf8_stay() -> None:
    """F22: nothing is written anew in another encoding."""
    data = b"---\nname: a\nplace: caf\xe9\n---\ncaf\xe9 \xe4\xb8\n"
    assert set_fields(data, {"name": "x"}) == data.replace(b"name: a", b"name: x")


def test_a_header_that_is_not_yaml_is_changed_line_by_line() -> None:
    """F06."""
    data = b"---\nname: tea\ndescription: Plan: move (was: Monday)\nkind: a: b\n---\nbody"
    assert set_fields(data, {"name": "x"}) == data.replace(b"name: tea", b"name: x")
    assert fields(set_fields(data, {"description": "Plan: stay"}))["description"] == "Plan: stay"


def test_of_a_field_that_is_given_twice_the_one_that_counts_is_changed() -> None:
    data = b"---\nname: a\nname: b\n---\n"
    assert set_fields(data, {"name": "x"}) == b"---\nname: a\nname: x\n---\n"
    assert set_fields(data, {"name": None}) == b"---\n---\n"


@pytest.mark.parametrize(
    "data", [b"body", b"", b"# Menu\n\n---\n\nend", b"---\nORCHID CLUB\n---\nbody", b"\n---\na: b"]
)
def test_a_header_is_made_only_when_it_is_asked_for(data: bytes) -> None:
    """F03, F05, F13, F19: text that looks like a header stays text."""
    with pytest.raises(NoHeader):
        set_fields(data, {"name": "x"})
    assert set_fields(data, {"name": None}) == data
    after = set_fields(data, {"name": "x", "type": "user"}, make_header=True)
    assert after == b"---\nname: x\ntype: user\n---\n" + data
    assert fields(after) == {"name": "x", "type": "user"}


def test_a_new_header_goes_behind_the_byte_order_mark_and_takes_the_line_ends_of_the_file() -> None:
    after = set_fields(b"\xef\xbb\xbfone\r\ntwo", {"name": "x"}, make_header=True)
    assert after == b"\xef\xbb\xbf---\r\nname: x\r\n---\r\none\r\ntwo"


@pytest.mark.parametrize(
    ("data", "changes"),
    [
        (b"---\nname: a\nno end", {"name": "x"}),
        (b"---\nname: a\n---\n", {"name": "x" * 20_000}),
        (b"---\n{name: a}\n---\n", {"other": "x"}),
        (b"---\n# only\nname: a\n---\n", {"name": None}),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(data: bytes, changes: dict[str, str | None]) -> None:
    with pytest.raises(HeaderError) as refused:
        set_fields(data, changes, make_header=True)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "-a", "a.b.c", "na\nme"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        set_fields(HEADER, {name: "x"})


_WRITTEN = st.sampled_from(
    [
        "plain text", "'single'", '"double"', "'it''s'", '"a \\" b"', "2026-01-02", "yes", "[a, b]", "{a: b}", "",
        "text # and more", "|\n  block\n  of text", ">-\n  folded\n  text", "\n- one\n- two", "\n  inner: x",
        "a: b: c", "*x", "!t v", "caf\udce9",
    ]
)  # fmt: skip
_KEY = st.sampled_from(["name", "description", "type", "other", "long-key"])
_LINES = st.lists(st.one_of(st.tuples(_KEY, _WRITTEN), st.sampled_from(["# note", ""])), max_size=6)


@given(
    lines=_LINES,
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.booleans(),
    body=st.text(max_size=40),
    key=_KEY,
    value=st.one_of(st.none(), st.text(max_size=30), st.sampled_from(["x # y", "a: b", "'", '"', "C:\\u1234"])),
)
def test_whatever_the_header_the_change_is_exact_or_refused(
    lines: list[tuple[str, str] | str], line_end: str, bom: bool, body: str, key: str, value: str | None
) -> None:
    """F10, F12, F20: the one field reads as wanted, all others as before, and all other lines keep their bytes."""
    written = [(line if isinstance(line, str) else f"{line[0]}: {line[1]}") + "\n" for line in lines]
    chunks = [text.replace("\n", line_end).encode("utf-8", "surrogateescape") for text in written]
    fence = f"---{line_end}".encode()
    data = b"\xef\xbb\xbf" * bom + fence + b"".join(chunks) + fence + body.encode()
    try:
        after = set_fields(data, {key: value})
    except HeaderError:
        return
    before_fields, after_fields = fields(data), fields(after)
    wanted = None if value is None else value.replace("\r\n", "\n").replace("\r", "\n")
    assert after_fields.get(key) == wanted
    rest = {name for name in before_fields if name != key and not name.startswith(f"{key}.")}
    assert {name: after_fields.get(name) for name in rest} == {name: before_fields[name] for name in rest}
    assert after.endswith(body.encode())
    position = 0
    for line, chunk in zip(lines, chunks, strict=True):
        if isinstance(line, str) or line[0] != key:
            position = after.index(chunk, position) + len(chunk)
    assert after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "value",
    ["[" * 8_000, "{" * 8_000, "!a " + "[" * 8_000, "[[" * 2_000 + "]]" * 2_000, "&a " * 3_000],
    ids=lambda value: value[:4],
)
def test_a_hostile_value_costs_little_and_is_written_as_text(value: str) -> None:
    """F16, for what is written."""
    assert parse_header(set_fields(HEADER, {"name": value}).decode()).fields["name"] == value
