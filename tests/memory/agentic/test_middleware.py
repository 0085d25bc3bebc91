"""Agentic memory in an agent: the system prompt, and what becomes of each retrieval."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.errors import ModelUnauthorized, ModelUnreachable
from agent_core.event import (
    IndexRead,
    Noticed,
    PromptPart,
    RecalledMemory,
    ReplyEnded,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalStage,
    RetrievalStarted,
    RoundStarted,
    decode_event,
    encode_event,
)
from agent_core.marks import COMPRESSED, HINT, MemoryFilter
from agent_core.message import AssistantMsg, HintBlock, Msg, UserMsg
from agent_core.model.scripted_model import PlainObject
from agent_core.trace import Trace
from memory.agentic import AgenticMemoryMiddleware, Parameters
from tests.memory.agentic.agents import (
    Selector,
    after,
    call,
    finishes,
    hints,
    hints_sent,
    make,
    memory_of,
    outcomes,
    pick,
    pick_for,
    until,
)
from tests.memory.agentic.folders import age, put, save
from tests.memory.search.embedders import Meanings

# --- When the result comes in time


async def test_a_retrieval_that_ends_within_the_grace_period_is_in_the_first_prompt(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "You live in Hangzhou.", selector=[pick("home.md")], retrieval_grace=60)
    await agent.reply("where do I live?")
    assert hints_sent(agent, 0) == ["Hangzhou."]
    assert outcomes(agent) == [("injected", 1, False)]
    (settled,) = agent.trace.of(RetrievalSettled)
    (entry,) = [entry for entry in await agent.memory.entries() if entry.msg.get_content_blocks(HintBlock)]
    assert settled.msg_ids == (entry.msg.id,)
    assert entry.marks == (HINT,)


async def test_without_grace_the_first_model_call_does_not_wait(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    first = after(lambda: agent.trace, RetrievalEnded, call())
    agent = make(tmp_path, first, "done", selector=[pick("home.md")])
    await agent.reply("where do I live?")
    assert (hints_sent(agent, 0), hints_sent(agent, 1)) == ([], ["Hangzhou."])
    assert outcomes(agent) == [("injected", 2, False)]


async def test_waiting_ends_with_the_grace_period(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "answer", selector=[selector], retrieval_grace=0.01)
    await agent.reply("where do I live?")
    assert hints_sent(agent, 0) == []
    assert len(agent.trace.of(RetrievalCarriedOver)) == 1
    await memory_of(agent).aclose()


async def test_a_synchronous_retrieval_is_waited_for_however_long_it_takes(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "answer", selector=[selector], retrieval_async=False)
    reply = asyncio.create_task(agent.reply("where do I live?"))
    await selector.asked.wait()
    assert len(agent.model.requests) == 1
    selector.opened.set()
    await reply
    assert hints_sent(agent, 0) == ["Hangzhou."]


async def test_later_rounds_do_not_wait(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, call(1), call(2), "done", selector=[selector], retrieval_grace=0.01)
    await agent.reply("where do I live?")
    assert [hints_sent(agent, number) for number in range(3)] == [[], [], []]
    await memory_of(agent).aclose()


async def test_each_recalled_file_is_a_message_of_its_own(tmp_path: Path) -> None:
    save(tmp_path, "sub/home.md", "Hangzhou.")
    save(tmp_path, "tea.md", "Oolong.")
    agent = make(tmp_path, "x", selector=[pick("tea.md", "sub/home.md")], retrieval_grace=60)
    await agent.reply("what do you know?")
    assert await hints(agent) == ["memory:tea.md: Oolong.", "memory:sub/home.md: Hangzhou."]


async def test_the_events_of_a_retrieval_tell_its_story_and_belong_to_its_reply(tmp_path: Path) -> None:
    path = save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "x", selector=[pick("home.md")], retrieval_grace=60)
    events = [event async for event in agent.reply_stream("where do I live?")]
    story = [event for event in events if type(event).__name__.startswith("Retrieval")]
    assert [type(event).__name__ for event in story] == [
        "RetrievalStarted",
        *["RetrievalStage"] * 3,
        "RetrievalEnded",
        "RetrievalSettled",
    ]
    started, ended = story[0], story[4]
    assert isinstance(started, RetrievalStarted)
    assert (started.question, started.source) == ("where do I live?", str((tmp_path / "Memory").resolve()))
    assert isinstance(ended, RetrievalEnded)
    assert [memory.path for memory in ended.memories] == [str(path.resolve())]
    assert [event.stage for event in story if isinstance(event, RetrievalStage)] == ["scan", "select", "read"]
    assert {event.reply_id for event in story} == {events[0].reply_id}
    assert all(encode_event(event) for event in story)


# --- When there is nothing to place


async def test_nothing_relevant_is_an_outcome(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", selector=[pick()], retrieval_grace=60)
    await agent.reply("hello")
    assert (finishes(agent), outcomes(agent)) == (["nothing"], [("nothing", 0, False)])
    assert await hints(agent) == []


async def test_an_empty_memory_costs_no_model_call(tmp_path: Path) -> None:
    agent = make(tmp_path, "hello", retrieval_grace=60)
    await agent.reply("hello")
    assert outcomes(agent) == [("nothing", 0, False)]
    assert len(agent.model.requests) == 1
    assert not (tmp_path / "Memory").exists()


@pytest.mark.parametrize("inputs", [None, "", "  \n", AssistantMsg("b", "from an agent")])
async def test_without_the_users_words_there_is_no_retrieval(tmp_path: Path, inputs: object) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", retrieval_grace=60)
    await agent.reply(inputs)
    assert agent.trace.of(RetrievalStarted) == []


async def test_the_question_is_what_the_user_said_in_all_inputs(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", selector=[pick()], retrieval_grace=60)
    await agent.reply([UserMsg("u", "one"), AssistantMsg("b", "no"), UserMsg("u", "two")])
    assert agent.trace.of(RetrievalStarted)[0].question == "one\ntwo"


async def test_a_pasted_book_is_not_a_question(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", selector=[pick()], retrieval_grace=60)
    await agent.reply("x" * 1_000_000)
    assert len(agent.trace.of(RetrievalStarted)[0].question) == 4_000


async def test_a_selector_that_fails_is_told_and_costs_the_reply_nothing(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", selector=[ModelUnreachable("no server at x")], retrieval_grace=60)
    msg = await agent.reply("where do I live?")
    assert msg.get_text_content() == "hello"
    assert outcomes(agent) == [("failed", 0, False)]
    assert agent.trace.of(RetrievalEnded)[0].error == "no server at x"
    assert agent.trace.of(RetrievalSettled)[0].detail == "no server at x"


async def test_a_bug_in_a_selector_is_a_failure_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "hello", selector=[KeyError("choices")], retrieval_grace=60)
    await agent.reply("where do I live?")
    assert outcomes(agent) == [("failed", 0, False)]
    assert "choices" in agent.trace.of(RetrievalEnded)[0].error
    assert "a retrieval failed" in caplog.text


# --- What the conversation holds already


async def test_a_file_that_has_not_changed_is_not_injected_again(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", "2", selector=[pick("home.md")] * 2, retrieval_grace=60)
    await agent.reply("where do I live?")
    age(tmp_path / "Memory/home.md", 3)
    await agent.reply("and where do I live?")
    assert await hints(agent) == ["memory:home.md: Hangzhou."]
    assert outcomes(agent) == [("injected", 1, False), ("known", 1, False)]
    assert agent.trace.of(RetrievalSettled)[1].detail == "in the conversation already: home.md"


async def test_a_file_that_is_filtered_out_is_known_all_the_same(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", "2", selector=[pick("home.md")] * 2, retrieval_grace=60)
    await agent.reply("where do I live?")
    agent.memory_filter = MemoryFilter(exclude_mark=HINT)
    await agent.reply("and where do I live?")
    assert outcomes(agent)[1] == ("known", 1, False)


async def test_a_hint_goes_into_its_own_reply_whatever_the_filter_says(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", selector=[pick("home.md")], retrieval_grace=60)
    agent.memory_filter = MemoryFilter(exclude_mark=HINT)
    await agent.reply("where do I live?")
    assert hints_sent(agent, 0) == ["Hangzhou."]


async def test_a_newer_version_takes_the_place_of_the_older(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    save(tmp_path, "tea.md", "Oolong.")
    agent = make(tmp_path, "1", "2", selector=[pick("home.md", "tea.md")] * 2, retrieval_grace=60)
    await agent.reply("what do you know?")
    save(tmp_path, "home.md", "Shanghai now.")
    await agent.reply("what do you know now?")
    assert hints_sent(agent, 1) == ["Oolong.", "Shanghai now."]
    assert outcomes(agent) == [("injected", 1, False), ("injected", 1, False)]
    prompt = await agent.preview_prompt()
    assert [part.reason for part in prompt.parts if part.kind == "hint"] == ["replaced by a newer one", "", ""]


async def test_going_back_to_an_earlier_version_is_news(tmp_path: Path) -> None:
    agent = make(tmp_path, "1", "2", "3", selector=[pick("home.md")] * 3, retrieval_grace=60)
    for number, body in enumerate(["Hangzhou.", "Shanghai.", "Hangzhou."]):
        save(tmp_path, "home.md", body, days_old=number)
        await agent.reply("where do I live?")
    assert hints_sent(agent, 2) == ["Hangzhou."]


@pytest.mark.parametrize("loss", ["compressed", "deleted"])
async def test_what_the_conversation_has_lost_is_injected_again(tmp_path: Path, loss: str) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", "2", selector=[pick("home.md")] * 2, retrieval_grace=60)
    await agent.reply("where do I live?")
    ids = list(agent.trace.of(RetrievalSettled)[0].msg_ids)
    if loss == "compressed":
        await agent.memory.update_messages_mark(COMPRESSED, msg_ids=ids)
    else:
        await agent.memory.delete(ids)
    await agent.reply("and where do I live?")
    assert outcomes(agent)[1] == ("injected", 1, False)


# --- When the result comes too late


async def test_a_late_result_goes_into_the_next_reply_with_its_question(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", "2", "3", selector=[selector, pick(), pick()])
    await agent.reply("where do I live?")
    (carried,) = agent.trace.of(RetrievalCarriedOver)
    assert outcomes(agent) == []
    selector.opened.set()
    await until(agent.trace, RetrievalEnded)
    await agent.reply("hello again")
    assert outcomes(agent)[0] == ("injected", 1, True)
    assert hints_sent(agent, 1) == ["Hangzhou."]
    (block,) = (block for msg, _ in await agent.memory.entries() for block in msg.get_content_blocks(HintBlock))
    assert "Looked up for an earlier question: “where do I live?”" in block.hint
    settled = agent.trace.of(RetrievalSettled)[0]
    assert settled.retrieval_id == carried.retrieval_id
    assert settled.reply_id == agent.trace.of(RetrievalStarted)[0].reply_id
    await memory_of(agent).aclose()


async def test_a_result_that_comes_after_the_last_check_is_carried_over_too(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    first = after(lambda: agent.trace, RetrievalEnded, "1")
    agent = make(tmp_path, first, "2", selector=[pick("home.md"), pick()])
    await agent.reply("where do I live?")
    assert finishes(agent) == ["found"]
    assert len(agent.trace.of(RetrievalCarriedOver)) == 1
    await agent.reply("hello again")
    assert outcomes(agent)[0] == ("injected", 1, True)
    await memory_of(agent).aclose()


async def test_the_next_reply_waits_for_what_was_carried_over_as_for_its_own(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", "2", selector=[selector, pick()])
    await agent.reply("where do I live?")
    await selector.asked.wait()
    memory_of(agent).parameters = Parameters(retrieval_grace=60)
    reply = asyncio.create_task(agent.reply("hello again"))
    await until(agent.trace, RetrievalStarted, 2)
    selector.opened.set()
    await reply
    assert hints_sent(agent, 1) == ["Hangzhou."]
    assert set(outcomes(agent)) == {("injected", 1, True), ("nothing", 0, False)}


async def test_what_does_not_make_it_into_the_next_reply_either_is_late(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", "2", selector=[selector, pick()])
    await agent.reply("where do I live?")
    await selector.asked.wait()
    await agent.reply("hello again")
    first = agent.trace.of(RetrievalStarted)[0].retrieval_id
    assert [event.finish for event in agent.trace.of(RetrievalEnded) if event.retrieval_id == first] == ["cancelled"]
    (settled,) = (event for event in agent.trace.of(RetrievalSettled) if event.retrieval_id == first)
    assert (settled.outcome, settled.carried_over) == ("late", True)
    await memory_of(agent).aclose()


async def test_without_carry_over_what_comes_too_late_is_late_at_once(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", "2", selector=[selector, pick()])
    memory_of(agent).parameters = Parameters(retrieval_carry_over=False)
    await agent.reply("where do I live?")
    assert outcomes(agent) == [("late", 0, False)]
    assert agent.trace.of(RetrievalCarriedOver) == []
    await agent.reply("hello again")
    assert hints_sent(agent, 1) == []


@pytest.mark.parametrize(("is_async", "patience"), [(True, 0.25), (False, None)])
async def test_a_retrieval_tells_how_long_it_is_waited_for(tmp_path: Path, is_async: bool, patience: object) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "1", selector=[pick()])
    memory_of(agent).parameters = Parameters(retrieval_async=is_async, retrieval_grace=0.25)
    await agent.reply("where do I live?")
    assert [event.patience for event in agent.trace.of(RetrievalStarted)] == [patience]
    await memory_of(agent).aclose()


@pytest.mark.parametrize(("answer", "outcome"), [(pick(), "nothing"), (ModelUnreachable("gone"), "failed")])
async def test_a_late_retrieval_with_nothing_to_place_settles_by_itself(
    tmp_path: Path, answer: object, outcome: str
) -> None:
    save(tmp_path, "home.md")
    selector = Selector(answer)
    agent = make(tmp_path, "1", selector=[selector])
    await agent.reply("where do I live?")
    selector.opened.set()
    await until(agent.trace, RetrievalSettled)
    assert outcomes(agent) == [(outcome, 0, True)]


async def test_a_failed_reply_hands_its_retrieval_on(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, ModelUnauthorized("the key was refused"), "2", selector=[selector, pick()])
    with pytest.raises(ModelUnauthorized):
        await agent.reply("where do I live?")
    assert isinstance(list(agent.trace)[-1], ReplyEnded)
    selector.opened.set()
    await until(agent.trace, RetrievalEnded)
    await agent.reply("where do I live?")
    assert outcomes(agent)[0] == ("injected", 1, True)
    await memory_of(agent).aclose()


def restored(agent_trace: Trace) -> Trace:
    """The trace as another run of the program reads it from the session file."""
    trace = Trace()
    trace.restore([decode_event(encode_event(event)) for event in agent_trace])
    return trace


async def test_a_result_that_was_carried_over_survives_a_restart(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", selector=[selector])
    await agent.reply("where do I live?")
    selector.opened.set()
    await until(agent.trace, RetrievalEnded)
    later = make(tmp_path, "2", selector=[pick()], trace=restored(agent.trace))
    await later.reply("hello again")
    assert hints_sent(later, 0) == ["Hangzhou."]
    assert outcomes(later)[0] == ("injected", 1, True)
    assert len(later.trace.of(RetrievalStarted)) == 2
    await memory_of(later).aclose()


async def test_a_question_that_was_carried_over_is_asked_again_after_a_restart(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", selector=[Selector(pick("home.md"))])
    await agent.reply("where do I live?")
    await memory_of(agent).aclose()
    assert (finishes(agent), outcomes(agent)) == ([], [])
    selector = [pick_for("where do I live?", "home.md")] * 2
    later = make(tmp_path, "2", selector=selector, trace=restored(agent.trace), retrieval_grace=60)
    await later.reply("hello again")
    assert hints_sent(later, 0) == ["Hangzhou."]
    assert sorted(outcomes(later)) == [("injected", 1, True), ("nothing", 0, False)]


async def test_what_was_carried_over_is_not_taken_up_twice(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, "1", "2", selector=[pick("home.md"), pick()], retrieval_grace=60)
    await agent.reply("where do I live?")
    later = make(tmp_path, "2", selector=[pick()], trace=restored(agent.trace), retrieval_grace=60)
    await later.reply("hello again")
    assert [event.outcome for event in later.trace.of(RetrievalSettled)] == ["injected", "nothing"]


async def test_a_retrieval_that_a_crash_left_open_is_settled(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    agent = make(tmp_path, "1", selector=[Selector(pick())])
    await agent.reply("where do I live?")
    await memory_of(agent).aclose()
    crashed = Trace()
    crashed.restore([event for event in agent.trace if not isinstance(event, RetrievalCarriedOver)])
    later = make(tmp_path, "2", selector=[pick()], trace=crashed, retrieval_grace=60)
    await later.reply("hello again")
    assert outcomes(later) == [("cancelled", 0, False), ("nothing", 0, False)]


async def test_only_ones_own_retrievals_are_taken_up(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    trace = Trace()
    trace.append(RetrievalStarted(retrieval_id="m", source="mem0", question="q"))
    trace.append(RetrievalEnded(retrieval_id="m", finish="found", memories=(RecalledMemory("x", "h", "text"),)))
    trace.append(RetrievalCarriedOver(retrieval_id="m"))
    agent = make(tmp_path, "1", selector=[pick()], trace=trace, retrieval_grace=60)
    await agent.reply("hello")
    assert await hints(agent) == []
    assert outcomes(agent) == [("nothing", 0, False)]


# --- When it is stopped


async def test_a_cancelled_reply_cancels_its_retrieval_once(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", "2", selector=[selector, pick()], retrieval_grace=60)
    reply = asyncio.create_task(agent.reply("where do I live?"))
    await selector.asked.wait()
    reply.cancel()
    await asyncio.gather(reply, return_exceptions=True)
    assert (finishes(agent), outcomes(agent)) == (["cancelled"], [("cancelled", 0, False)])
    await memory_of(agent).recording.settled()
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    await agent.reply("hello again")
    assert [outcome for outcome, *_ in outcomes(agent)] == ["cancelled", "nothing"]


async def test_what_is_tried_again_is_looked_up_again(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    held = Selector(pick("home.md"))
    agent = make(tmp_path, "Hangzhou.", selector=[held, pick_for("live", "home.md")], retrieval_grace=60)
    reply = asyncio.create_task(agent.reply("where do I live?"))
    await held.asked.wait()
    reply.cancel()
    await asyncio.gather(reply, return_exceptions=True)
    await agent.reply()
    assert outcomes(agent) == [("cancelled", 0, False), ("injected", 1, False)]
    assert hints_sent(agent, 0) == ["Hangzhou."]


async def test_what_is_tried_again_and_still_being_looked_up_is_not_asked_twice(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    held = Selector(pick("home.md"))

    def fail(*_: object) -> str:
        raise ModelUnreachable("no connection")

    agent = make(tmp_path, fail, "Hangzhou.", selector=[held], retrieval_grace=0.01)
    with pytest.raises(ModelUnreachable):
        await agent.reply("where do I live?")
    held.opened.set()
    await until(agent.trace, RetrievalEnded)
    await agent.reply()
    assert len(agent.trace.of(RetrievalStarted)) == 1
    assert outcomes(agent) == [("injected", 1, True)]


async def test_a_result_that_waits_when_the_reply_is_cancelled_is_cancelled_too(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    begun = asyncio.Event()

    async def answer(*_: object) -> str:
        await until(agent.trace, RetrievalEnded)
        begun.set()
        await asyncio.Event().wait()
        return "never"

    agent = make(tmp_path, answer, selector=[pick("home.md")])
    reply = asyncio.create_task(agent.reply("where do I live?"))
    await begun.wait()
    reply.cancel()
    await asyncio.gather(reply, return_exceptions=True)
    assert (finishes(agent), outcomes(agent)) == (["found"], [("cancelled", 0, False)])


async def test_closing_the_stream_cancels_the_retrieval(tmp_path: Path) -> None:
    save(tmp_path, "home.md")
    selector = Selector(pick("home.md"))
    agent = make(tmp_path, "1", selector=[selector], retrieval_grace=60)
    stream = agent.reply_stream("where do I live?")
    async for event in stream:
        if isinstance(event, RoundStarted):
            break
    await stream.aclose()
    assert outcomes(agent) == [("cancelled", 0, False)]


def test_each_reply_may_have_an_event_loop_of_its_own(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "Hangzhou.")
    is_stuck = True

    async def select(messages: Sequence[Msg], schema: Mapping[str, Any]) -> PlainObject:
        if is_stuck:
            await asyncio.Event().wait()
        return pick("home.md")

    agent = make(tmp_path, "1", "2", selector=[select] * 3)
    asyncio.run(_reply(agent, "where do I live?"))
    is_stuck = False
    memory_of(agent).parameters = Parameters(retrieval_grace=60)
    asyncio.run(_reply(agent, "hello again"))
    assert hints_sent(agent, 1) == ["Hangzhou."]
    assert ("injected", 1, True) in outcomes(agent)


async def _reply(agent: Agent, text: str) -> None:
    await agent.reply(text)


# --- Several agents, one memory


async def test_overlapping_replies_of_two_agents_never_mix(tmp_path: Path) -> None:
    """C15: the slow retrieval of the first belongs to the first, whoever ends when."""
    save(tmp_path, "a.md", "about A")
    save(tmp_path, "b.md", "about B")
    memory = AgenticMemoryMiddleware(tmp_path)
    slow = Selector(pick("a.md"))
    first = make(tmp_path, after(lambda: first.trace, RetrievalEnded, call()), "A", selector=[slow], memory=memory)
    second_turn = after(lambda: second.trace, RetrievalEnded, call())
    second = make(tmp_path, second_turn, "B", selector=[pick("b.md")], memory=memory)
    reply = asyncio.create_task(first.reply("about A?"))
    await slow.asked.wait()
    await second.reply("about B?")
    slow.opened.set()
    await reply
    assert (await hints(first), await hints(second)) == (["memory:a.md: about A"], ["memory:b.md: about B"])
    assert (outcomes(first), outcomes(second)) == ([("injected", 2, False)], [("injected", 2, False)])


async def test_what_one_agent_carries_over_is_not_for_another(tmp_path: Path) -> None:
    """C15."""
    save(tmp_path, "a.md", "about A")
    memory = AgenticMemoryMiddleware(tmp_path)
    selector = Selector(pick("a.md"))
    first = make(tmp_path, "1", selector=[selector], memory=memory)
    second = make(tmp_path, "1", selector=[pick()], memory=memory)
    await first.reply("about A?")
    selector.opened.set()
    await until(first.trace, RetrievalEnded)
    await second.reply("hello")
    assert await hints(second) == []
    await memory.aclose()


# --- The system prompt


async def parts(agent: Agent, kind: str) -> list[PromptPart]:
    prompt = await agent.preview_prompt()
    return [part for part in prompt.parts if part.kind == kind]


async def test_the_index_is_the_last_part_and_the_prompt_is_the_same_bytes_while_it_is(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "- [Home](home.md) — where the user lives\n")
    save(tmp_path, "home.md", "Hangzhou.")
    agent = make(tmp_path, call(), "1", "2", selector=[pick("home.md"), pick()], retrieval_grace=60)
    await agent.reply("where do I live?")
    save(tmp_path, "tea.md", "Oolong.")
    await agent.reply("and?")
    sent = [one.messages[0].get_text_content() for one in agent.model.requests if one.schema is None]
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert (sent[0] or "").endswith("\n- [Home](home.md) — where the user lives")
    kinds = [part.kind for part in (await agent.preview_prompt()).parts]
    assert kinds[:3] == ["base", "instructions", "index"]


async def test_the_index_is_told_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    """L05: how many of how many lines, or none and where it would be."""
    agent = make(tmp_path, call(), "1", "2", retrieval_grace=60)
    path = str(tmp_path.resolve() / "Memory/MEMORY.md")
    await agent.reply("hello")
    put(tmp_path, "MEMORY.md", "- [A](a.md)\n- [B](b.md)\n")
    await agent.reply("hello again")
    none, two = agent.trace.of(IndexRead)
    assert (none.path, none.found, none.lines) == (path, False, 0)
    assert (two.path, two.found, two.lines, two.injected_lines, two.cut_line) == (path, True, 2, 2, None)
    assert two.text == "- [A](a.md)\n- [B](b.md)"


async def test_without_an_index_the_prompt_says_that_there_are_no_memories(tmp_path: Path) -> None:
    agent = make(tmp_path)
    (index,) = await parts(agent, "index")
    assert index.text.endswith("\n(no memories yet, and no index file)")
    assert not (tmp_path / "Memory").exists()


async def test_an_index_that_is_too_long_is_cut_in_sight_of_model_and_user(tmp_path: Path) -> None:
    """L06."""
    put(tmp_path, "MEMORY.md", "".join(f"- [Note {n}](n{n}.md) — hook number {n}\n" for n in range(1, 239)))
    agent = make(tmp_path, "1", memory_max_tokens=500, retrieval_grace=60)
    await agent.reply("hello")
    (told,) = agent.trace.of(IndexRead)
    assert told.cut_line == told.injected_lines + 1 < told.lines == 238
    assert told.tokens <= 500
    (index,) = await parts(agent, "index")
    assert f"lines {told.cut_line} to 238 of 238" in index.text


async def test_an_index_that_may_not_be_read_is_noticed_once(tmp_path: Path) -> None:
    """X03."""
    (tmp_path / "passwords").write_text("secret")
    (tmp_path / "Memory").mkdir()
    (tmp_path / "Memory/MEMORY.md").symlink_to("../passwords")
    agent = make(tmp_path, call(), "1", retrieval_grace=60)
    await agent.reply("hello")
    (notice,) = agent.trace.of(Noticed)
    assert notice.text.endswith("MEMORY.md: link leads outside")
    assert "secret" not in (await parts(agent, "index"))[0].text


async def test_path_told_path_read_and_path_shown_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L09: also where the working folder is a link, and given as a relative path."""
    put(tmp_path / "real", "MEMORY.md", "- [A](a.md)")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    agent = make(Path("link"), "1", retrieval_grace=60)
    await agent.reply("hello")
    path = str(tmp_path.resolve() / "real/Memory/MEMORY.md")
    (told,) = agent.trace.of(IndexRead)
    (instructions,) = await parts(agent, "instructions")
    assert (told.path, told.text) == (path, "- [A](a.md)")
    assert f"\nIndex file: {path}\n" in f"{instructions.text}\n"
    assert f"\nMemory folder: {path.removesuffix('/MEMORY.md')}\n" in instructions.text


async def test_instructions_name_only_tools_that_the_agent_holds(tmp_path: Path) -> None:
    agent = make(tmp_path)
    (instructions,) = await parts(agent, "instructions")
    assert "`Write`" not in instructions.text
    assert "say that you cannot" in instructions.text


async def test_the_memory_folder_may_have_another_name(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/MEMORY.md").write_text("- [A](a.md)")
    agent = make(tmp_path, memory=AgenticMemoryMiddleware(tmp_path, memory_dir="m"))
    assert "- [A](a.md)" in (await parts(agent, "index"))[0].text


# --- Local search


async def test_local_search_alone_recalls_without_asking_a_model(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.", description="who lives in the kitchen")
    embedder = Meanings({"budgerigars": "bird", "parrots": "bird"})
    agent = make(
        tmp_path,
        "Yes, two.",
        "Yes, two.",
        retrieval_selector="local",
        retrieval_embedder=embedder,
        retrieval_vectors=str(tmp_path / "vectors.db"),
        retrieval_grace=60,
    )
    await agent.reply("does anybody live in the kitchen?")
    assert hints_sent(agent, 0) == ["Two budgerigars."]
    assert outcomes(agent) == [("injected", 1, False)]
    assert [request.schema for request in agent.model.requests] == [None]
    assert memory_of(agent)._local_search._search.wait_embedded(60)
    await memory_of(agent).aclose()
    assert (tmp_path / "vectors.db").exists()
    # The vector of the first run is there before the first search of the second.
    await agent.memory.clear()
    await agent.reply("any parrots?")
    assert hints_sent(agent, 1) == ["Two budgerigars."]
    await memory_of(agent).aclose()
