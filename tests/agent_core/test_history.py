from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent_core.history import COVERED, REPLACED, RUNNING, UNPAIRED, judge_history, pair_up
from agent_core.marks import COMPRESSED, Entry, MemoryFilter
from agent_core.message import (
    AssistantMsg,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)


def user(text: str = "hi") -> Msg:
    return UserMsg("user", text)


def call(*ids: str) -> Msg:
    return AssistantMsg("a", [ToolCallBlock(id_, "t") for id_ in ids])


def result(id_: str) -> Msg:
    return SystemMsg("t", [ToolResultBlock(id_, "t", "ok")])


def entries(*messages: Msg | tuple[Msg, str]) -> list[Entry]:
    return [Entry(*item[:1], (item[1],)) if isinstance(item, tuple) else Entry(item, ()) for item in messages]


def reasons(*messages: Msg | tuple[Msg, str], **options: object) -> list[str]:
    memory_filter = options.pop("memory_filter", MemoryFilter())
    verdicts = judge_history(entries(*messages), memory_filter, **options)  # type: ignore[arg-type]
    return [f"{'+' if verdict.included else '-'}{verdict.reason}" for verdict in verdicts]


def wire_ids(messages: Sequence[Msg]) -> list[str]:
    """`c:x` for a call, `r:x` for a result, `!x` for a made-up one, `m` for anything else."""
    shown = []
    for msg in messages:
        for block in msg.blocks:
            if isinstance(block, ToolCallBlock):
                shown.append(f"c:{block.id}")
            elif isinstance(block, ToolResultBlock):
                shown.append(f"{'!' if block.state == 'interrupted' else 'r:'}{block.id}")
            else:
                shown.append("m")
    return shown


def test_the_summary_covers_only_while_it_is_there_and_on() -> None:
    old, new = (user("old"), COMPRESSED), user("new")
    assert reasons(old, new, has_summary=True) == [f"-{COVERED}", "+"]
    assert reasons(old, new, has_summary=False) == ["+", "+"]
    off = MemoryFilter(prepend_summary=False)
    assert reasons(old, new, has_summary=True, memory_filter=off) == ["+", "+"]


def test_the_running_reply_goes_in_whatever_the_filter_says() -> None:
    old, question = user("old"), user("question")
    filtered = MemoryFilter(mark="x")
    assert reasons(old, question, running={question.id}, memory_filter=filtered) == ["-lacks mark x", f"+{RUNNING}"]


def test_of_messages_that_replace_each_other_only_the_newest_goes() -> None:
    first = AssistantMsg("memory", [HintBlock("v1")], metadata={"replaces": "file:a"})
    other = AssistantMsg("memory", [HintBlock("b")], metadata={"replaces": "file:b"})
    second = AssistantMsg("memory", [HintBlock("v2")], metadata={"replaces": "file:a"})
    assert reasons(first, other, second) == [f"-{REPLACED}", "+", "+"]


def test_a_newer_version_that_is_filtered_out_replaces_nothing() -> None:
    first = AssistantMsg("memory", [HintBlock("v1")], metadata={"replaces": "file:a"})
    second = AssistantMsg("memory", [HintBlock("v2")], metadata={"replaces": "file:a"})
    only_unmarked = MemoryFilter(exclude_mark="draft")
    assert reasons(first, (second, "draft"), memory_filter=only_unmarked) == ["+", "-filtered out by mark draft"]


def test_a_result_without_its_call_is_dropped() -> None:
    """C06, C13: wherever a filter or a limit cuts, no orphan is sent."""
    drop_calls = MemoryFilter(exclude_mark="x")
    assert reasons((call("1"), "x"), result("1"), user(), memory_filter=drop_calls)[1:] == [f"-{UNPAIRED}", "+"]
    assert reasons(result("1"), user()) == [f"-{UNPAIRED}", "+"]
    assert reasons(call("1"), result("1"), result("1")) == ["+", "+", f"-{UNPAIRED}"]


def test_a_call_without_a_result_gets_an_interrupted_one_with_a_stable_id() -> None:
    """C01, C02: a history cut inside a tool call is accepted by every server."""
    asked = call("1", "2")
    paired = pair_up([user(), asked, result("2"), user("next")])
    assert wire_ids(paired) == ["m", "c:1", "c:2", "!1", "r:2", "m"]
    assert [msg.id for msg in paired] == [msg.id for msg in pair_up(paired)]


def test_results_move_right_behind_their_call() -> None:
    asked, note = call("1"), user("typed meanwhile")
    assert wire_ids(pair_up([asked, note, result("1")])) == ["c:1", "r:1", "m"]


def test_the_same_call_id_in_two_rounds_keeps_both_pairs() -> None:
    """Some servers number their calls anew in every answer."""
    messages = [call("0"), result("0"), call("0"), result("0")]
    assert reasons(*messages) == ["+", "+", "+", "+"]
    assert wire_ids(pair_up(messages)) == ["c:0", "r:0", "c:0", "r:0"]


@given(st.lists(st.tuples(st.sampled_from("mcr"), st.sampled_from("12"), st.booleans()), max_size=12))
def test_whatever_is_stored_and_filtered_the_request_is_valid(steps: list[tuple[str, str, bool]]) -> None:
    made = {"m": lambda _: user(), "c": call, "r": result}
    stored = [Entry(made[kind](id_), ("x",) if marked else ()) for kind, id_, marked in steps]
    verdicts = judge_history(stored, MemoryFilter(exclude_mark="x"))
    sent = pair_up([verdict.entry.msg for verdict in verdicts if verdict.included])
    waiting: list[str] = []
    for msg in sent:
        answers = msg.get_content_blocks(ToolResultBlock)
        if answers:
            assert waiting.pop(0) == answers[0].id
        else:
            assert not waiting
            waiting = [block.id for block in msg.get_content_blocks(ToolCallBlock)]
    assert not waiting
    assert [verdict.entry for verdict in verdicts] == stored


def test_text_blocks_stay_with_their_calls() -> None:
    mixed = AssistantMsg("a", [TextBlock("look"), ToolCallBlock("1", "t")])
    assert wire_ids(pair_up([mixed, result("1")])) == ["m", "c:1", "r:1"]
