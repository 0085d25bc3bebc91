import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.marks import MemoryFilter
from tui.mark_syntax import (
    MarkSyntaxError,
    complete,
    describe_filter,
    explain_contradiction,
    format_filter,
    format_mark,
    format_marks,
    make_filter,
    parse_filter,
    parse_filters,
    parse_marks,
)

marks = st.text(min_size=1).filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("  , ,", ()),
        ("planning", ("planning",)),
        ("planning draft", ("planning", "draft")),
        ("planning,draft", ("planning", "draft")),
        ("规划，草稿", ("规划", "草稿")),
        ("规划\u3000草稿", ("规划", "草稿")),
        ('"a,b" c', ("a,b", "c")),
        ('"a b"', ("a b",)),
        ('"!a"', ("!a",)),
        ('"say \\"x\\""', ('say "x"',)),
        ("[/x] 🙂 a!b", ("[/x]", "🙂", "a!b")),
        ("x X x", ("x", "X")),
        ("back\\slash", ("back\\slash",)),
    ],
)
def test_marks_are_read_as_they_are_written(text, expected):
    """M10: blanks and commas separate, quotes hold together, case counts, each mark comes once."""
    assert parse_marks(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", MemoryFilter()),
        ("a", MemoryFilter("a")),
        ("a b", MemoryFilter(("a", "b"))),
        ("!a", MemoryFilter(None, "a")),
        ("a !b", MemoryFilter("a", "b")),
        ("！a", MemoryFilter(None, "a")),
        ('!"a b" c', MemoryFilter("c", "a b")),
        ('"!a"', MemoryFilter("!a")),
    ],
)
def test_a_filter_is_read_as_it_is_written(text, expected):
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ('""', 1, "empty"),
        ('a !""', 3, "after !"),
        ("a !", 3, "after !"),
        ("! a", 1, "after !"),
        ('a "b', 3, "not closed"),
        ('a"b"', 2, "whole mark in quotes"),
        ('"a"b', 4, "missing"),
        ('"a\\q"', 3, "escape"),
    ],
)
def test_an_error_is_one_line_that_names_the_position(text, position, what):
    """M10: an empty mark and a broken quote are refused."""
    with pytest.raises(MarkSyntaxError) as caught:
        parse_filter(text)
    assert str(caught.value).startswith(f"position {position}: ")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_leaving_out_has_no_meaning_where_only_marks_are_wanted():
    with pytest.raises(MarkSyntaxError, match=r'position 3: .*"!b"'):
        parse_marks("a !b")


@given(st.lists(marks, unique=True).map(tuple))
def test_what_is_written_reads_back_the_same(values):
    """M10: any mark at all can be typed."""
    assert parse_marks(format_marks(values)) == values


@given(st.lists(marks, unique=True).map(tuple), st.lists(marks, unique=True).map(tuple))
def test_a_filter_reads_back_the_same(wanted, unwanted):
    assert parse_filter(format_filter(make_filter(wanted, unwanted))) == make_filter(wanted, unwanted)


@given(st.text())
def test_nothing_that_is_typed_is_a_crash(text):
    try:
        parsed = parse_filter(text)
    except MarkSyntaxError:
        return
    assert parse_filter(format_filter(parsed)) == parsed


@pytest.mark.parametrize("mark", ["\x1b[2J", "a\nb", "\x9b", "\u202eabc", "\x07"])
def test_a_written_mark_holds_nothing_that_acts_on_a_terminal(mark):
    """T06: a mark may have been set by a program."""
    assert format_mark(mark).isprintable()
    assert parse_marks(format_mark(mark)) == (mark,)


def test_an_emoji_of_several_characters_stays_one():
    assert format_mark("👩‍👩‍👧") == "👩‍👩‍👧"


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("", ""),
        ("a !b", ""),
        ("a !a", "a is both wanted and left out, and leaving out wins: nothing can pass"),
        ("a b !a", "a is both wanted and left out, and leaving out wins: it cannot pass"),
        ("a b !a !b", "a and b are both wanted and left out, and leaving out wins: nothing can pass"),
    ],
)
def test_wanting_and_leaving_out_the_same_mark_is_explained(text, explanation):
    """M10: include and exclude the same mark gives an empty result that is explained."""
    assert explain_contradiction(parse_filter(text)) == explanation


def test_a_filter_is_told_in_words():
    assert describe_filter(MemoryFilter()) == "everything"
    assert describe_filter(parse_filter("planning !draft")) == "planning !draft"
    assert describe_filter(parse_filter("", prepend_summary=False)) == "everything, without the summary"


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("pl", "planning"),
        ("draft pl", "draft planning"),
        ("draft,!pl", "draft,!planning"),
        ('"a', '"a b"'),
        ('x "a b', 'x "a b"'),
        ("规", "规划"),
        ("planning", None),
        ("planning ", None),
        ("planning,", None),
        ("", None),
        ("!", None),
        ("zzz", None),
        ('"planning" "a b" ', None),
    ],
)
def test_the_last_mark_is_completed(text, completed):
    assert complete(text, ["planning", "a b", "规划"]) == completed


@given(st.text(), st.lists(marks))
def test_a_completion_goes_on_with_what_was_typed(text, known):
    completed = complete(text, known)
    assert completed is None or (completed.startswith(text) and len(completed) > len(text))


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("a | b", ["a", "b"]),
        ("a !b | ", ["a !b", ""]),
        ("|", ["", ""]),
        ("a", ["a"]),
        ("", [""]),
        ("a|b | c", ["a|b", "c"]),
        ('"|" | !"|"', ['"|"', '!"|"']),
        ('"a | b" | c', ['"a | b"', "c"]),
        ("!| | a", ['!"|"', "a"]),
        ("a ｜ b", ["a", "b"]),
        ("a | b | c", ["a", "b", "c"]),
    ],
)
def test_a_bar_that_stands_alone_is_between_two_filters(text: str, filters: list[str]) -> None:
    """M10: quotes hold together what a bar would part."""
    assert [format_filter(one) for one in parse_filters(text)] == filters
    assert parse_filters(text) == [parse_filter(one) for one in filters]


@pytest.mark.parametrize(("text", "position"), [('a | "b', 5), ('"a | b', 1), ('a | b ""', 7), ("a | !", 5)])
def test_an_error_in_the_second_filter_names_its_place_in_the_whole_text(text: str, position: int) -> None:
    """M10."""
    with pytest.raises(MarkSyntaxError, match=f"^position {position}:"):
        parse_filters(text)
