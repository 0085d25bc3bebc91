from __future__ import annotations

from agent_core.filter_comparison import compare_filters, count_tokens
from agent_core.marks import Entry, MemoryFilter
from agent_core.message import UserMsg
from agent_core.tokens import estimate_message_tokens


def test_every_message_is_in_one_group_with_both_reasons() -> None:
    marks = [("a", "b"), ("a",), ("b",), ()]
    entries = [Entry(UserMsg("u", str(number)), each) for number, each in enumerate(marks)]
    comparison = compare_filters(entries, MemoryFilter(mark="a"), MemoryFilter(mark="b"))
    assert [[one.number for one in group] for group in comparison] == [[0], [1], [2], [3]]
    [only] = comparison.only_first
    assert (only.first.reason, only.second.reason) == ("has mark a", "lacks mark b")
    assert count_tokens(comparison.both) == estimate_message_tokens(entries[0].msg)
    assert count_tokens(()) == 0
