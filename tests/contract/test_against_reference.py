"""Random sequences of calls give the same on every back end as on the plain reference."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.change import MemoryState
from agent_core.message import UserMsg
from tests.contract.backends import MakeMemory
from tests.contract.reference import ReferenceMemory

MESSAGES = [UserMsg("u", text, id=text) for text in "12345"]
marks = st.lists(st.sampled_from("abc"), max_size=3)
mark = st.sampled_from("abc")
ids = st.lists(st.sampled_from("123456"), max_size=4)
step = st.one_of(
    st.tuples(st.just("add"), st.lists(st.sampled_from(MESSAGES), max_size=3), marks),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("delete_by_mark"), marks),
    st.tuples(st.just("update"), st.none() | mark, st.none() | mark, st.none() | ids),
    st.tuples(st.just("clear")),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(step, max_size=15), wanted=st.none() | marks, unwanted=marks)
async def test_every_sequence_of_calls(
    make_memory: MakeMemory, steps: list[Any], wanted: list[str] | None, unwanted: list[str]
) -> None:
    memory, reference, folded = await make_memory(), ReferenceMemory(), MemoryState()
    memory.subscribe(folded.apply)
    for name, *arguments in steps:
        if name == "add":
            await memory.add(arguments[0], marks=arguments[1])
            reference.add(*arguments)
        elif name == "delete":
            assert await memory.delete(arguments[0]) == reference.delete(arguments[0])
        elif name == "delete_by_mark":
            assert await memory.delete_by_mark(arguments[0]) == reference.delete_by_mark(arguments[0])
        elif name == "update":
            new, old, only = arguments
            changed = await memory.update_messages_mark(new, old_mark=old, msg_ids=only)
            assert changed == reference.update_messages_mark(new, old, only)
        else:
            await memory.clear()
            reference.clear()
        assert await memory.entries() == reference.entries
    assert await memory.get_memory(mark=wanted, exclude_mark=unwanted) == reference.get_memory(wanted, unwanted)
    assert await memory.size() == len(reference.entries)
    assert folded.entries == reference.entries
