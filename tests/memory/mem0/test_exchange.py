from __future__ import annotations

import pytest

from agent_core.event import Event, ReplyEnded, ReplyStarted
from agent_core.marks import Entry
from agent_core.message import AssistantMsg, HintBlock, Msg, SystemMsg, ToolCallBlock, UserMsg
from memory.mem0.exchange import Exchange, final_answer, said_before, said_in, says_go_on, unfinished_inputs


def entries(*messages: Msg) -> list[Entry]:
    return [Entry(msg, ()) for msg in messages]


def ended(name: str, finish: str, *inputs: str) -> list[Event]:
    return [
        ReplyStarted(agent="a", inputs=inputs, reply_id=name),
        ReplyEnded(finish=finish, reply_id=name),  # type: ignore[arg-type]
    ]


def test_what_the_user_said_is_said_and_nothing_else() -> None:
    said = [UserMsg("user", "one"), AssistantMsg("memory", "hint"), SystemMsg("tool", "x"), UserMsg("user", " two ")]
    assert said_in(said) == "one\ntwo"
    assert said_in([]) == ""


@pytest.mark.parametrize("text", ["go on", "Go on.", "OK, go on!", "continue", "继续", "请继续。", "Please continue"])
def test_asking_to_go_on_says_nothing_new(text: str) -> None:
    assert says_go_on(text)
    assert said_in([UserMsg("user", text)]) == ""


@pytest.mark.parametrize("text", ["go on holiday with me", "继续教育", "", "yes", "try"])
def test_other_words_are_not_asking_to_go_on(text: str) -> None:
    assert not says_go_on(text)


def test_the_final_answer_is_the_last_message_of_the_reply() -> None:
    before = AssistantMsg("a", "an older answer")
    hint = AssistantMsg("memory", [HintBlock("hint")])
    call = AssistantMsg("a", [ToolCallBlock("1", "Read")])
    assert (
        final_answer(entries(before, UserMsg("user", "q"), call, AssistantMsg("a", " done "), hint), before.id)
        == "done"
    )
    assert final_answer(entries(before, UserMsg("user", "q"), hint), before.id) == ""
    cut = AssistantMsg("a", "half an", metadata={"cut_short": "max_iters"})
    assert final_answer(entries(UserMsg("user", "q"), cut), None) == ""


def test_a_reply_goes_on_with_the_newest_question_that_was_not_answered() -> None:
    asked = [UserMsg("user", text, id=text) for text in ("first", "second", "third", "go on")]
    events = [
        *ended("1", "completed", "first"),
        *ended("2", "interrupted", "second"),
        *ended("3", "error", "third"),
        *ended("4", "max_iters", "go on"),
        ReplyStarted(agent="a", reply_id="5"),
    ]
    unfinished = unfinished_inputs(events, "5")
    assert unfinished == [("go on",), ("third",), ("second",)]
    assert said_before(unfinished, entries(*asked)) == "third"


def test_after_a_completed_reply_there_is_nothing_to_go_on_with() -> None:
    events = [*ended("1", "interrupted", "first"), *ended("2", "completed", "second")]
    assert unfinished_inputs(events, "3") == []
    assert said_before([], entries(UserMsg("user", "x"))) == ""


def test_an_exchange_is_two_messages() -> None:
    assert Exchange("q", "a").messages == [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
