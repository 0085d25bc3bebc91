from __future__ import annotations

from agent_core.event import PromptPart, PromptSent
from agent_core.history import COVERED, UNPAIRED
from agent_core.marks import COMPRESSED, Entry, MemoryFilter
from agent_core.message import AssistantMsg, HintBlock, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model.base import ToolSchema
from agent_core.prompt import (
    SUMMARY_ID,
    base_part,
    build_prompt,
    extend_system_prompt,
    middleware_parts,
    system_text,
)
from agent_core.prompt_ledger import PromptHistory, PromptLedger

READ = ToolSchema("Read", "Reads.", {"type": "object", "properties": {}})


def part(name: str, text: str) -> PromptPart:
    return PromptPart(name, name, name, 1, text=text)


def test_the_parts_of_the_system_prompt_add_up_to_its_bytes() -> None:
    parts = extend_system_prompt(
        [base_part("You help.")], [part("instructions", "Remember."), part("index", "- a")], "M"
    )
    assert system_text(parts) == "You help.\n\nRemember.\n\n- a"
    assert [one.kind for one in parts] == ["base", "instructions", "index"]


def test_text_that_keeps_the_prefix_becomes_one_part_named_after_its_middleware() -> None:
    base = [base_part("You help.")]
    parts = extend_system_prompt(base, "You help.\nBe brief.", "Brief")
    assert [(one.label, one.text) for one in parts] == [("system prompt", "You help."), ("Brief", "\nBe brief.")]
    assert extend_system_prompt(base, "You help.", "Brief") == base


def test_several_middlewares_of_one_class_have_a_part_each_which_a_ledger_tells_apart() -> None:
    parts = [base_part("You help.")]
    for text in ("A", "B", "C"):
        parts = extend_system_prompt(parts, system_text(parts) + text, "Brief")
    parts = extend_system_prompt(parts, [part("index", "a"), part("index", "b")], "Brief")
    assert len({one.key for one in parts}) == len(parts)
    ledger = PromptLedger([PromptSent(round=1, model="m", parts=tuple(parts))])
    assert system_text(ledger.parts) == system_text(parts)
    assert ledger.difference(parts) == ((), ())


def test_text_that_drops_the_prefix_takes_the_place_of_all() -> None:
    parts = extend_system_prompt([base_part("You help.")], "Quite another.", "Other")
    assert [(one.label, one.text) for one in parts] == [("Other", "Quite another.")]


def test_the_same_arguments_give_the_same_bytes() -> None:
    entries = [Entry(UserMsg("u", "hi"), ()), Entry(AssistantMsg("a", [ToolCallBlock("1", "Read")]), ())]
    first, second = (build_prompt([base_part("B")], entries, MemoryFilter(), summary="S") for _ in range(2))
    assert first == second
    assert [msg.id for msg in first.messages] == [msg.id for msg in second.messages]


def test_a_prompt_accounts_for_everything_that_was_considered() -> None:
    old, question = UserMsg("u", "old"), UserMsg("u", "new")
    hint = AssistantMsg("memory", [HintBlock("tea")])
    orphan = SystemMsg("Read", [ToolResultBlock("9", "Read", "x")])
    entries = [Entry(old, (COMPRESSED,)), Entry(orphan, ()), Entry(hint, ("hint",)), Entry(question, ())]
    prompt = build_prompt([base_part("B")], entries, MemoryFilter(), summary="S", tools=[READ])
    assert [(one.kind, one.included, one.reason) for one in prompt.parts] == [
        ("base", True, ""),
        ("summary", True, ""),
        ("message", False, COVERED),
        ("message", False, UNPAIRED),
        ("hint", True, ""),
        ("message", True, ""),
        ("tools", True, ""),
    ]
    assert [msg.id for msg in prompt.messages[1:]] == [SUMMARY_ID, hint.id, question.id]
    assert prompt.tokens == sum(one.tokens for one in prompt.parts if one.included)


def test_a_message_that_is_stored_twice_has_a_part_each_time() -> None:
    twice = UserMsg("u", "hello", id="1")
    prompt = build_prompt([], [Entry(twice, ("draft",)), Entry(twice, ())], MemoryFilter(exclude_mark="draft"))
    assert [(one.key, one.included) for one in prompt.parts] == [("1", False), ("1#2", True)]
    ledger = PromptLedger()
    changed, gone = ledger.difference(prompt.parts)
    ledger.apply(PromptSent(round=1, parts=changed, removed=gone, model="m", tokens=prompt.tokens))
    assert ledger.parts == prompt.parts
    assert ledger.difference(prompt.parts) == ((), ())


def test_a_made_up_result_is_a_part_of_its_own() -> None:
    entries = [Entry(AssistantMsg("a", [ToolCallBlock("1", "Read")]), ()), Entry(UserMsg("u", "go on"), ())]
    prompt = build_prompt([], entries, MemoryFilter())
    assert [msg.role for msg in prompt.messages] == ["assistant", "system", "user"]
    assert [one.reason for one in prompt.parts] == ["", "", UNPAIRED]


def test_a_summary_that_is_switched_off_is_said_to_be() -> None:
    prompt = build_prompt([], [], MemoryFilter(prepend_summary=False), summary="S")
    assert prompt.messages == ()
    assert [(one.included, one.reason) for one in prompt.parts] == [(False, "the summary is switched off")]


def test_what_a_middleware_changes_in_the_messages_is_attributed_to_it() -> None:
    kept, dropped, added = UserMsg("u", "kept"), UserMsg("u", "dropped"), UserMsg("u", "added")
    changed = Msg("u", "rewritten", "user", id=kept.id)
    prompt = build_prompt([], [Entry(kept, ()), Entry(dropped, ())], MemoryFilter())
    parts = middleware_parts(prompt.messages, [changed, added], ["Rewriter"], prompt.parts)
    assert [(one.label, one.included, one.reason) for one in parts] == [
        ("user u", True, ""),
        ("user u", False, "removed by Rewriter"),
        ("changed by Rewriter", True, "changed"),
        ("added by Rewriter", True, "added"),
    ]
    assert middleware_parts(prompt.messages, prompt.messages, ["Rewriter"], prompt.parts) == prompt.parts


def test_the_ledger_writes_each_part_once_and_gives_every_prompt_whole() -> None:
    writer, reader = PromptLedger(), PromptLedger()
    prompts = [
        [part("base", "B"), part("index", "1")],
        [part("base", "B"), part("index", "2"), part("m1", "")],
        [part("base", "B"), part("m1", "")],
    ]
    sizes = []
    for parts in prompts:
        changed, removed = writer.difference(parts)
        event = PromptSent(round=1, model="m", parts=changed, removed=removed)
        writer.apply(event)
        reader.apply(event)
        sizes.append((len(changed), removed))
        assert {one.key: one for one in reader.parts} == {one.key: one for one in parts}
    assert sizes == [(2, ()), (2, ()), (0, ("index",))]


def test_the_history_answers_for_every_prompt_that_was_sent() -> None:
    writer, history = PromptLedger(), PromptHistory()
    out = PromptPart("message", "m1", "user u", 3, included=False, reason="lacks mark x")
    into = PromptPart("message", "m1", "user u", 3)
    prompts: list[list[PromptPart]] = [[part("base", "B")], [part("base", "B"), out], [part("base", "B"), into], []]
    for parts in prompts:
        changed, removed = writer.difference(parts)
        event = PromptSent(round=1, model="m", parts=changed, removed=removed)
        writer.apply(event)
        history.apply(event)
    assert history.story_of("m1") == ((1, out), (2, into), (3, None))
    base = part("base", "B")
    assert history.story_of(base.key) == ((0, base), (3, None))
    assert history.story_of("unknown") == ()
