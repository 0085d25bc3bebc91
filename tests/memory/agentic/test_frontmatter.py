"""Headers of memory files: read leniently, as nothing but text, at no cost to the body."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.agentic.frontmatter import HEADER_LIMIT, Header, parse_header
from tests.memory.agentic.folders import put, save, scan

PLAIN = "name: tea\ndescription: likes oolong\ntype: user"
FIELDS = {"name": "tea", "description": "likes oolong", "type": "user"}


def header_of(*lines: str) -> Header:
    return parse_header("\n".join(["---", *lines, "---", "body"]))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (f"---\n{PLAIN}\n---\nbody\n", "body\n"),
        (f"---\n{PLAIN}\n---\n\n\n  body", "\n\n  body"),
        (f"--- \n{PLAIN}\n---\t\nbody", "body"),
        (f"---\n{PLAIN}\n---", ""),
        (f"---\r\n{PLAIN}\r\n---\r\nbody\r\n".replace("\r\n", "\n").replace("\n", "\r\n"), "body\r\n"),
        (f"---\n{PLAIN}\n---\nbody".replace("\n", "\r"), "body"),
        (f"---\r\n{PLAIN}\n---\r\nmixed\nends\r\n", "mixed\nends\r\n"),
    ],
)
def test_a_header_ends_where_its_fence_does_and_the_body_is_untouched(text: str, body: str) -> None:
    """F26: blank space and line ends of the body stay as they are."""
    assert parse_header(text) == Header(FIELDS, body)


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    """F01."""
    assert parse_header(f"\ufeff---\n{PLAIN}\n---\nbody") == Header(FIELDS, "body")
    assert parse_header("\ufeffno header") == Header({}, "no header")


@pytest.mark.parametrize(
    "text",
    [
        r"---\nstatus: on\n---\nmeet Ana",
        "--- status: on --- meet Ana",
        "----\nname: x\n----\nbody",
        " ---\nname: x\n---\nbody",
        "text\n---\nname: x\n---\nbody",
    ],
)
def test_a_fence_is_a_line_of_its_own_at_the_very_start(text: str) -> None:
    """F03."""
    assert parse_header(text) == Header({}, text)


@pytest.mark.parametrize(
    "inside", ["ORCHID CLUB", "- a list\n- of two", "# A heading", "'quoted'", "{}", "*bold* text"]
)
def test_what_is_no_mapping_between_fences_is_body(inside: str) -> None:
    """F05."""
    text = f"---\n{inside}\n---\nbody"
    assert parse_header(text) == Header({}, text)


def test_an_empty_header_is_a_header() -> None:
    assert parse_header("---\n---\nbody") == parse_header("---\n\n---\nbody") == Header({}, "body")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Plan: move to Tuesday (was: Monday)", "Plan: move to Tuesday (was: Monday)"),
        ("*urgent* call Ana", "*urgent* call Ana"),
        ("@home: tea", "@home: tea"),
        ("50% done: nearly", "50% done: nearly"),
        ('"half quoted', '"half quoted'),
        ("[draft] plan", "[draft] plan"),
        ("it's: fine", "it's: fine"),
        ("`code`: x", "`code`: x"),
        ("a\n  goes: on here", "a goes: on here"),
    ],
)
def test_what_is_not_yaml_is_read_as_people_mean_it_and_badged(line: str, value: str) -> None:
    """F06."""
    header = header_of("name: x", f"description: {line}", "type: project")
    assert header.fields == {"name": "x", "description": value, "type": "project"}
    assert header.body == "body"
    assert header.problem.startswith("the header is not valid YAML")


def test_a_broken_header_says_where() -> None:
    problem = header_of("name: x", "description: a: b").problem
    assert problem == "the header is not valid YAML (line 3): read line by line"


def test_values_are_the_text_that_was_written() -> None:
    """F07."""
    header = header_of(
        "name: 2026-03-05", "description: 1.0", "type: true", "a: ~", "b: yes", "c: 0x1F", "d: 1_000", "e:"
    )
    assert header.fields == {
        "name": "2026-03-05",
        "description": "1.0",
        "type": "true",
        "a": "~",
        "b": "yes",
        "c": "0x1F",
        "d": "1_000",
        "e": "",
    }
    assert header.problem == ""


async def test_one_odd_file_costs_no_other_file(tmp_path: Path) -> None:
    """F08."""
    for number in range(20):
        save(tmp_path, f"good{number}.md")
    put(tmp_path, "dated.md", "---\nname: x\ncreated: 2026-01-15\n---\nbody")
    files = await scan(tmp_path)
    assert len(files) == 21
    assert files["dated.md"].name == "x"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("use room #4 on floor 2", "use room #4 on floor 2"),
        ("issue # 12 is open", "issue # 12 is open"),
        ("#4 is the room", "#4 is the room"),
        ("'quoted' # a comment", "quoted"),
        ("C#", "C#"),
        ("on two\n  lines #1", "on two lines #1"),
    ],
)
def test_a_hash_in_a_description_is_text(line: str, value: str) -> None:
    """F12."""
    assert header_of(f"description: {line}").fields == {"description": value}
    assert header_of("type: user # one of four").fields == {"type": "user"}


@pytest.mark.parametrize(
    "text",
    [
        "# Menu\n\n---\n\nA & B: *x\n\n---\nend",
        "\n\n---\nname: x\n---\n",
        "text\n\n---\n",
        "\n\ntext\n---\n",
        "---\n\ntext",
    ],
)
def test_rules_further_down_are_no_header(text: str) -> None:
    """F13, F19."""
    assert parse_header(text) == Header({}, text)


def test_a_header_without_end_is_body_and_badged() -> None:
    text = "---\nname: tea\ndescription: likes oolong\n\nbody"
    assert parse_header(text) == Header({}, text, "the header has no end")


ANCHORS = "a: &a0 [x]\n" + "".join(f"b{i}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(30))


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "inside",
    [
        "description: " + "{a,b}" * 40,
        "description: " + "[" * 10_000,
        "description: " + "{" * 10_000,
        "[" * 10_000,
        "x:\n" + "".join(" " * depth + "- \n" for depth in range(1, 150)),
        ANCHORS,
        "? " * 5_000,
        "&a " * 5_000,
    ],
    ids=lambda inside: inside[:16],
)
def test_a_hostile_header_costs_little_and_is_badged(inside: str) -> None:
    """F16. A reader that expands any of these would not come back at all."""
    header = parse_header(f"---\n{inside}\n---\nbody")
    assert header.problem or header.fields == {}
    assert sum(map(len, header.fields.values())) < 2 * HEADER_LIMIT


def test_a_header_that_is_too_long_is_not_looked_at() -> None:
    text = "---\nname: x\nlist:\n" + "- more\n" * HEADER_LIMIT + "---\nbody"
    assert parse_header(text) == Header({}, text, "the header has no end")


def test_tags_build_nothing_and_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """F17."""
    monkeypatch.setattr("os.getcwd", lambda: pytest.fail("a tag was obeyed"))
    header = header_of(
        "name: !!python/object/apply:os.getcwd []",
        "type: !!python/name:os.sep",
        "description: !!set {a, b}",
        "other: !!python/module:antigravity",
    )
    assert header.fields["name"] == "!!python/object/apply:os.getcwd []"
    assert header.fields["type"] == "!!python/name:os.sep"
    assert header.fields["description"] == "!!set {a, b}"
    assert header.problem == "tags and anchors are taken as text"
    assert set(map(type, header.fields.values())) == {str}


@pytest.mark.parametrize("quote", ["", "'"])
def test_a_windows_path_keeps_its_characters(quote: str) -> None:
    """F20."""
    value = r"see C:\data\uface\ubeef1.md"
    assert header_of(f"description: {quote}{value}{quote}").fields == {"description": value}


def test_a_windows_path_in_double_quotes_keeps_its_characters_where_yaml_has_no_such_escape() -> None:
    """F20."""
    assert header_of(r'description: "see C:\data\uface"').fields == {"description": r"see C:\data\uface"}


def test_of_a_key_given_twice_the_last_counts_and_a_badge_says_so() -> None:
    assert header_of("name: a", "name: b", "type: user") == Header(
        {"name": "b", "type": "user"}, "body", "name is given twice"
    )


def test_other_keys_are_kept_and_nested_ones_joined_by_a_dot() -> None:
    header = header_of("name: x", "my-tags: [a, b]", "metadata:", "  type: project", "  more: {a: [1]}")
    assert header.fields == {
        "name": "x",
        "my-tags": "[a, b]",
        "metadata": "type: project\n  more: {a: [1]}",
        "metadata.type": "project",
        "metadata.more": "{a: [1]}",
    }


def test_folded_and_literal_text_is_joined_as_yaml_says() -> None:
    header = header_of("description: >-", "  one", "  two", "name: |-", "  a", "  b")
    assert header.fields == {"description": "one two", "name": "a\nb"}


def test_a_control_character_costs_the_yaml_only() -> None:
    assert header_of("name: a\x07b", "type: user").fields == {"name": "a\x07b", "type": "user"}


@given(st.text(), st.text())
def test_no_text_makes_it_fail_and_the_body_is_always_a_piece_of_the_text(inside: str, body: str) -> None:
    text = f"---\n{inside}\n---\n{body}"
    header = parse_header(text)
    assert text.endswith(header.body)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1))
def test_a_one_line_description_reads_back_whole(value: str) -> None:
    from yaml import safe_dump

    written = safe_dump({"description": value}, allow_unicode=True, width=10_000)
    assert parse_header(f"---\n{written}---\n").fields["description"].strip() == value.strip()


def test_yaml_is_imported_when_the_first_header_is_read_and_not_before() -> None:
    program = "import sys, memory.agentic; sys.exit(any(name in sys.modules for name in ('yaml', 'frontmatter')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
