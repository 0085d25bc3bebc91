"""The few changes that lead from one state of a memory to another, or none that do."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from agent_core.marks import Entry
from agent_core.message import UserMsg
from memory import InMemoryMemory
from memory.working.difference import difference

MESSAGES = [UserMsg("u", str(number), id=str(number)) for number in range(7)] + [UserMsg("u", "other", id="0")]
entries = st.lists(
    st.builds(Entry, st.sampled_from(MESSAGES), st.sampled_from([(), ("a",), ("a", "b"), ("b", "a")])), max_size=8
)


@given(entries, entries)
def test_the_changes_lead_from_one_state_to_the_other(before: list[Entry], after: list[Entry]) -> None:
    changes = difference(before, after)
    if changes is None:
        return
    memory = InMemoryMemory()
    memory.content = [(msg, list(marks)) for msg, marks in before]
    asyncio.run(changes.make(memory))
    assert asyncio.run(memory.entries()) == after
    assert (changes.size == 0) == (before == after)


def test_what_has_moved_changed_or_is_there_twice_cannot_be_told_in_small_changes() -> None:
    one, two, _, *_, other = (Entry(msg, ()) for msg in MESSAGES)
    assert difference([one, two], [two, one]) is None
    assert difference([one, two], [other, two]) is None
    assert difference([one], [one, one]) is None
    assert difference([one, one], [one]) is None


def test_few_changes_are_told_where_the_states_differ_little() -> None:
    first, second, third, fourth, *_ = (Entry(msg, ()) for msg in MESSAGES)
    changes = difference([first, second, third], [Entry(first.msg, ("a",)), fourth, third])
    assert changes is not None
    assert (changes.deleted, changes.marks) == (["1"], {"0": ("a",)})
    assert [(one.position, one.msg.id) for one in changes.placed] == [(1, "3")]
