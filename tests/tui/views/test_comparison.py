"""Two filters side by side."""

from __future__ import annotations

from itertools import product

import pytest

from agent_core.marks import COMPRESSED, Entry, MemoryFilter, decide
from agent_core.message import UserMsg
from tui.mark_syntax import parse_filter
from tui.views.comparison import comparison_records, comparison_sections, put_side_by_side
from tui.views.message_details import as_text

ENTRIES = [
    Entry(UserMsg("ana", "plan"), ("planning",)),
    Entry(UserMsg("ana", "both"), ("planning", "draft")),
    Entry(UserMsg("ana", "notes"), ("a b",)),
    Entry(UserMsg("ana", "nothing"), ()),
]
FILTERS = ["", "planning", "!draft", "planning !draft", '"a b" planning', "draft !draft", "unknown"]


def test_it_says_what_both_let_through_and_what_only_one_does_with_the_others_reason() -> None:
    first, second = parse_filter("planning"), parse_filter("!draft")
    text = as_text(comparison_sections(put_side_by_side(ENTRIES, first, second, has_summary=False)))
    assert text.splitlines() == [
        "A  planning",
        "   passes 2 messages, ≈10 tokens; would send 2, ≈10 tokens",
        "B  !draft",
        "   passes 3 messages, ≈17 tokens; would send 3, ≈17 tokens",
        "",
        "both let through: 1 message, ≈5 tokens",
        "   1 user ana  planning  plan",
        "",
        "only A lets through: 1 message, ≈5 tokens",
        "   2 user ana  planning draft  both — filtered out by mark draft",
        "",
        "only B lets through: 2 messages, ≈12 tokens",
        '   3 user ana  "a b"  notes — lacks mark planning',
        "   4 user ana  nothing — lacks mark planning",
        "",
        "neither lets through: 0 messages, ≈0 tokens",
    ]


@pytest.mark.parametrize("text", ["a !a", "planning !planning", "a b !a !b", "a b !a"])
def test_a_filter_that_contradicts_itself_is_explained(text: str) -> None:
    """M10: include and exclude the same mark: the empty result is explained."""
    beside = put_side_by_side(ENTRIES, MemoryFilter(), parse_filter(text), has_summary=False)
    shown = as_text(comparison_sections(beside))
    assert "both wanted and left out, and leaving out wins" in shown
    first, second, *_ = comparison_records(beside)
    assert not first["contradiction"]
    assert "leaving out wins" in str(second["contradiction"])


@pytest.mark.parametrize(("one", "other"), product(FILTERS, FILTERS))
def test_the_records_say_of_every_message_in_order_what_each_filter_decides(one: str, other: str) -> None:
    first, second = parse_filter(one), parse_filter(other)
    beside = put_side_by_side(ENTRIES, first, second, has_summary=False)
    _, _, *messages = comparison_records(beside)
    assert [message["number"] for message in messages] == [1, 2, 3, 4]
    for message, entry in zip(messages, ENTRIES, strict=True):
        for name, memory_filter in (("first", first), ("second", second)):
            decision = decide(entry.marks, memory_filter)
            assert message[name] == {"passes": decision.included, "reason": decision.reason}


def test_what_the_summary_covers_passes_and_is_not_sent() -> None:
    entries = [*ENTRIES, Entry(UserMsg("ana", "old"), (COMPRESSED,))]
    covered = put_side_by_side(entries, MemoryFilter(), MemoryFilter(prepend_summary=False), has_summary=True)
    assert (covered.first.passing, covered.first.sent) == (5, 4)
    assert (covered.second.passing, covered.second.sent) == (5, 5)


def test_without_messages_there_is_nothing_on_either_side() -> None:
    beside = put_side_by_side([], MemoryFilter(), MemoryFilter("x"), has_summary=False)
    assert [record["messages"] for record in comparison_records(beside)] == [0, 0]
    assert "both let through: 0 messages" in as_text(comparison_sections(beside))
