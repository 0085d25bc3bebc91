from __future__ import annotations

from enum import Enum

import pytest

from agent_core.marks import Decision, Entry, MemoryFilter, decide, normalize_marks, select
from agent_core.message import UserMsg


class Mark(str, Enum):
    HINT = "hint"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ()),
        ("a", ("a",)),
        (Mark.HINT, ("hint",)),
        (["a", "b", "a"], ("a", "b")),
        (("a", Mark.HINT), ("a", "hint")),
        ([], ()),
        ("with space, comma! 🎯", ("with space, comma! 🎯",)),
    ],
)
def test_marks_become_distinct_plain_strings(given: object, expected: tuple[str, ...]) -> None:
    marks = normalize_marks(given)
    assert marks == expected
    assert all(type(mark) is str for mark in marks)


@pytest.mark.parametrize("given", [1, [1], ["a", None], b"a", {"a": 1}, {"a"}, frozenset("a"), object])
def test_marks_of_another_type_are_named(given: object) -> None:
    with pytest.raises(TypeError):
        normalize_marks(given)


def test_a_filter_is_what_it_was_made_with() -> None:
    marks = ["a"]
    memory_filter = MemoryFilter(mark=marks)  # type: ignore[arg-type]
    marks.append("b")
    assert memory_filter == MemoryFilter(mark=("a",))


@pytest.mark.parametrize("given", ["", ["a", ""]])
def test_an_empty_mark_is_refused(given: object) -> None:
    """M10: the empty mark has no meaning, neither in writes nor in reads."""
    with pytest.raises(ValueError, match="empty"):
        normalize_marks(given)
    with pytest.raises(ValueError, match="empty"):
        MemoryFilter(mark="")
    with pytest.raises(ValueError, match="empty"):
        MemoryFilter(exclude_mark=("a", ""))


@pytest.mark.parametrize(
    ("marks", "memory_filter", "decision"),
    [
        ((), MemoryFilter(), Decision(True, "")),
        (("a",), MemoryFilter(), Decision(True, "")),
        (("a", "b"), MemoryFilter(mark="b"), Decision(True, "has mark b")),
        (("a",), MemoryFilter(mark="A"), Decision(False, "lacks mark A")),
        (("a",), MemoryFilter(mark=("b", "c")), Decision(False, "lacks mark b or c")),
        (("a",), MemoryFilter(mark=("b c", "d,e", "[/x]")), Decision(False, 'lacks mark "b c" or "d,e" or [/x]')),
        (("标 记",), MemoryFilter(mark="标 记"), Decision(True, 'has mark "标 记"')),
        (('say "hi"',), MemoryFilter(exclude_mark='say "hi"'), Decision(False, r'filtered out by mark "say \"hi\""')),
        (("c",), MemoryFilter(mark=("b", "c")), Decision(True, "has mark c")),
        (("a",), MemoryFilter(exclude_mark="a"), Decision(False, "filtered out by mark a")),
        (("a",), MemoryFilter(exclude_mark=("z", "a")), Decision(False, "filtered out by mark a")),
        ((), MemoryFilter(exclude_mark="a"), Decision(True, "")),
        (("a", "b"), MemoryFilter(mark="a", exclude_mark="b"), Decision(False, "filtered out by mark b")),
        (("a",), MemoryFilter(mark="a", exclude_mark="a"), Decision(False, "filtered out by mark a")),
    ],
)
def test_decide(marks: tuple[str, ...], memory_filter: MemoryFilter, decision: Decision) -> None:
    """M10 among them: to include and exclude the same mark lets nothing through, and says why."""
    assert decide(marks, memory_filter) == decision


def test_select_keeps_order_and_everything() -> None:
    entries = [Entry(UserMsg("u", text), marks) for text, marks in (("1", ("a",)), ("2", ()), ("3", ("a",)))]
    selected = select(entries, MemoryFilter(mark="a"))
    assert [entry for entry, _ in selected] == entries
    assert [decision.included for _, decision in selected] == [True, False, True]
