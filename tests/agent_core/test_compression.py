"""Compression: what is covered, what never is, and what happens when the summariser fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent import Agent
from agent_core.compression import FIELDS, ContextConfig, format_summary, older_part, oldest_that_fit
from agent_core.errors import ContextOverflow, MnemoscopeError, ModelUnreachable, StructuredOutputError
from agent_core.event import CompressionEnded, CompressionStarted, PromptSent
from agent_core.history import judge_history
from agent_core.marks import COMPRESSED, Entry, MemoryFilter
from agent_core.message import AssistantMsg, Msg, SystemMsg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model.base import Finished, ModelDelta, ToolSchema
from agent_core.model.scripted_model import ScriptedChatModel
from agent_core.tokens import estimate_tokens
from memory import InMemoryMemory
from tests.agent_core.agents import Echo, make_agent, use
from tests.cancelling import cancel

SUMMARY = dict.fromkeys(FIELDS, "kept")


def user(text: str) -> Msg:
    return UserMsg("user", text)


def said(text: str) -> Msg:
    return AssistantMsg("a", text)


def call(id_: str) -> Msg:
    return AssistantMsg("a", [ToolCallBlock(id_, "t")])


def result(id_: str) -> Msg:
    return SystemMsg("t", [ToolResultBlock(id_, "t", "ok")])


def covered(messages: Sequence[Msg], keep_recent: int = 1) -> list[int]:
    verdicts = judge_history([Entry(msg, ()) for msg in messages], MemoryFilter())
    ids = {entry.msg.id for entry in older_part(verdicts, keep_recent)}
    return [index for index, msg in enumerate(messages) if msg.id in ids]


def test_the_newest_messages_are_kept() -> None:
    assert covered([user("1"), said("2"), user("3"), said("4")], keep_recent=2) == [0, 1]


def test_fewer_messages_than_are_kept_cover_nothing() -> None:
    assert covered([user("1")], keep_recent=3) == []
    assert covered([], keep_recent=3) == []


def test_the_newest_user_message_is_never_covered() -> None:
    assert covered([user("1"), user("2"), said("3"), said("4")], keep_recent=1) == [0, 2]
    assert covered([said("1"), user("2")], keep_recent=0) == [0]


def test_a_call_and_its_result_stay_together() -> None:
    """C06: the boundary moves; alternating calls and results, keep 4, then keep 1."""
    pairs = [user("q"), call("1"), result("1"), call("2"), result("2"), call("3"), result("3")]
    assert covered(pairs, keep_recent=4) == [1, 2]
    assert covered(pairs, keep_recent=1) == [1, 2, 3, 4]


@given(st.lists(st.sampled_from(["u", "a", "c1", "r1", "c2", "r2"]), max_size=10), st.integers(0, 5))
def test_no_cut_ever_leaves_half_a_pair(kinds: list[str], keep_recent: int) -> None:
    made = {"u": lambda: user("x"), "a": lambda: said("x")}
    messages = [made[kind]() if kind in made else (call if kind[0] == "c" else result)(kind[1]) for kind in kinds]
    entries = [Entry(msg, ()) for msg in messages]
    verdicts = judge_history(entries, MemoryFilter())
    older = {entry.msg.id for entry in older_part(verdicts, keep_recent)}
    for verdict in verdicts:
        if verdict.included and verdict.entry.msg.id not in older:
            own = {block.id for block in verdict.entry.msg.blocks if isinstance(block, ToolCallBlock | ToolResultBlock)}
            for other in verdicts:
                ids = {
                    block.id for block in other.entry.msg.blocks if isinstance(block, ToolCallBlock | ToolResultBlock)
                }
                assert not (own & ids and other.included and other.entry.msg.id in older)
    users = [msg.id for msg in messages if msg.role == "user"]
    assert not users or users[-1] not in older


def test_missing_fields_are_left_out_and_odd_values_do_no_harm() -> None:
    """C09, D14: a summary without a field, or with lists and numbers in it."""
    text = format_summary({"task_overview": " plan a trip ", "next_steps": ["a", 2], "discoveries": 5, "other": "x"})
    assert text == "Summary of the conversation so far\n\nTask: plan a trip\n\nDiscoveries: 5\n\nNext steps: a\n2"
    assert format_summary({"current_state": {"done": ["a", {"b": 1}], "open": None}}).endswith("State: done: a\nb: 1")
    assert format_summary(dict.fromkeys(FIELDS, None) | {"task_overview": [], "next_steps": "  "}) == ""
    assert format_summary({}) == ""


async def history(agent: Agent, count: int = 6) -> None:
    for number in range(count):
        await agent.memory.add(user(f"question {number} " + "words " * 40))
        await agent.memory.add(said(f"answer {number} " + "words " * 40))


async def marked(agent: Agent) -> int:
    return sum(COMPRESSED in marks for _, marks in await agent.memory.entries())


async def test_compressing_marks_what_the_summary_covers_and_deletes_nothing() -> None:
    agent = make_agent(model=ScriptedChatModel(["fine"], structured=[SUMMARY]))
    await history(agent)
    assert await agent.compress_context() is True
    entries = await agent.memory.entries()
    assert len(entries) == 12
    # The three newest, and the newest user message among them.
    assert await marked(agent) == 9
    assert "Task: kept" in agent.memory._compressed_summary
    await agent.reply("next")
    assert isinstance(agent.model, ScriptedChatModel)
    sent = agent.model.requests[-1].messages
    assert [msg.role for msg in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    started, ended = agent.trace.of(CompressionStarted)[0], agent.trace.of(CompressionEnded)[0]
    assert (started.messages, ended.covered, ended.error) == (9, 9, "")


async def test_a_second_compression_builds_on_the_first() -> None:
    agent = make_agent(model=ScriptedChatModel([], structured=[SUMMARY, {"current_state": "later"}]))
    await history(agent, 3)
    await agent.compress_context()
    await history(agent, 3)
    await agent.compress_context()
    assert isinstance(agent.model, ScriptedChatModel)
    request = str(agent.model.requests[-1].messages[-1].content)
    assert "<earlier-summary>\nSummary of the conversation so far" in request
    assert "question 0" in request
    assert "State: later" in agent.memory._compressed_summary


async def test_nothing_old_enough_means_no_call() -> None:
    agent = make_agent(model=ScriptedChatModel([]))
    await agent.memory.add(user("only"))
    assert await agent.compress_context() is False


async def test_a_prompt_that_passes_the_share_of_the_window_is_compressed_by_itself() -> None:
    model = ScriptedChatModel(["fine"], structured=[SUMMARY], context_size=700)
    agent = make_agent(model=model)
    await history(agent)
    await agent.reply("next")
    assert await marked(agent) > 0
    assert agent.trace.of(PromptSent)[0].tokens < 700 * 0.8


def summarizer(takes: int | None = None) -> Callable[[Sequence[Msg], object], dict[str, str] | Exception]:
    """Answers with the numbers of the questions that it was shown, or refuses more than so many tokens."""

    def answer(messages: Sequence[Msg], _schema: object) -> dict[str, str] | Exception:
        text = str(messages[-1].content)
        if takes is not None and estimate_tokens(text) > takes:
            return ContextOverflow("too long")
        return {"discoveries": " ".join(re.findall(r"question \d+|#\d+", text)).replace("question ", "#")}

    return answer


@pytest.mark.parametrize(("count", "words"), [(14, "words " * 40), (40, "words " * 40), (30, "词语" * 50)])
async def test_nothing_is_covered_that_the_summary_has_not_seen(count: int, words: str) -> None:
    """A conversation that fills its window, and ones that are far larger."""
    model = ScriptedChatModel(["fine"], structured=[summarizer(1800)], context_size=2000, repeat_last=True)
    agent = make_agent(model=model)
    for number in range(count):
        await agent.memory.add([user(f"question {number} {words}"), said(words)])
    await agent.reply("next")
    covered = [str(msg.content) for msg, marks in await agent.memory.entries() if COMPRESSED in marks]
    assert covered
    seen = agent.memory._compressed_summary.split()
    assert {f"#{text.split()[1]}" for text in covered if text.startswith("question")} <= set(seen)
    assert agent.trace.of(PromptSent)[0].tokens < 2000
    assert all(not ended.error for ended in agent.trace.of(CompressionEnded))


async def test_where_the_endpoint_takes_less_than_was_thought_the_oldest_is_summarised() -> None:
    """C08: the request for a summary is not made again as it was refused."""
    model = ScriptedChatModel([ContextOverflow("too long"), "fine"], structured=[summarizer(500)], repeat_last=True)
    agent = make_agent(model=model)
    await history(agent)
    assert (await agent.reply("next")).content == "fine"
    assert 0 < await marked(agent) < 9
    assert "#0" in agent.memory._compressed_summary


async def test_an_endpoint_that_takes_no_request_for_a_summary_is_asked_a_few_times_only() -> None:
    model = ScriptedChatModel([], structured=[ContextOverflow("too long")], repeat_last=True)
    agent = make_agent(model=model)
    await history(agent)
    with pytest.raises(ContextOverflow):
        await agent.compress_context()
    assert len(model.requests) == 4
    assert await marked(agent) == 0


@given(st.lists(st.sampled_from(["u", "c1", "r1", "c2", "r2"]), min_size=1, max_size=10), st.integers(0, 80))
def test_the_oldest_that_fit_hold_no_half_of_a_pair(kinds: list[str], room: int) -> None:
    messages = [user("x") if kind == "u" else (call if kind[0] == "c" else result)(kind[1]) for kind in kinds]
    entries = [Entry(msg, ()) for msg in messages]
    fitting = oldest_that_fit(entries, room)
    ids = [{block.id for block in entry.msg.blocks if not isinstance(block, TextBlock)} for entry in entries]
    inside = [any(entry is one for one in fitting) for entry in entries]
    assert fitting
    assert not any(ids[a] & ids[b] for a in range(len(ids)) for b in range(len(ids)) if inside[a] != inside[b])


async def test_an_unknown_window_waits_for_the_endpoints_own_word() -> None:
    turns = [ContextOverflow("too long"), "fine"]
    agent = make_agent(model=ScriptedChatModel(turns, structured=[SUMMARY]))
    await history(agent)
    assert (await agent.reply("next")).content == "fine"
    assert await marked(agent) > 0


async def test_an_overflow_that_compression_cannot_mend_is_an_error() -> None:
    agent = make_agent(model=ScriptedChatModel([ContextOverflow("too long")]))
    with pytest.raises(ContextOverflow):
        await agent.reply("one enormous question")


async def test_a_model_without_structured_output_is_asked_for_plain_text() -> None:
    model = ScriptedChatModel(["a plain summary"], structured=[StructuredOutputError("cannot")])
    agent = make_agent(model=model)
    await history(agent)
    assert await agent.compress_context() is True
    assert agent.memory._compressed_summary == "a plain summary"


async def test_the_reasoning_that_a_model_puts_before_a_plain_summary_is_no_part_of_it() -> None:
    """C09."""
    model = ScriptedChatModel(["<think>What matters?</think>\na plain summary"], structured=[{}])
    agent = make_agent(model=model)
    await history(agent)
    await agent.compress_context()
    assert agent.memory._compressed_summary == "a plain summary"


class Short(ScriptedChatModel):
    """Comes to the end of its tokens with every answer."""

    async def stream(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> AsyncIterator[ModelDelta]:
        async for delta in super().stream(messages, tools):
            yield Finished("length") if isinstance(delta, Finished) else delta


async def test_a_plain_summary_that_was_cut_says_so() -> None:
    agent = make_agent(model=Short(["a plain summa"], structured=[StructuredOutputError("cut as well")]))
    await history(agent)
    assert await agent.compress_context() is True
    text, _, notice = agent.memory._compressed_summary.partition("\n\n")
    assert text == "a plain summa"
    assert "length limit" in notice


@pytest.mark.parametrize("answer", [{}, {"summary": "x"}, dict.fromkeys(FIELDS, "  "), dict.fromkeys(FIELDS)])
async def test_an_object_without_any_field_is_no_summary_and_plain_text_is_asked_for(answer: dict[str, object]) -> None:
    """C09."""
    agent = make_agent(model=ScriptedChatModel(["a plain summary"], structured=[answer]))
    await history(agent)
    assert await agent.compress_context() is True
    assert agent.memory._compressed_summary == "a plain summary"


@pytest.mark.parametrize(
    ("structured", "turns", "error"),
    [
        ([StructuredOutputError("no")], [""], StructuredOutputError),
        ([{}], [" "], StructuredOutputError),
        ([ModelUnreachable("gone")], [], ModelUnreachable),
    ],
)
async def test_a_failed_summary_marks_nothing(
    structured: list[object], turns: list[str], error: type[Exception]
) -> None:
    """C09: failing everything, nothing is marked."""
    agent = make_agent(model=ScriptedChatModel(turns, structured=structured))  # type: ignore[arg-type]
    await history(agent)
    with pytest.raises(error):
        await agent.compress_context()
    assert await marked(agent) == 0
    assert agent.memory._compressed_summary == ""
    assert agent.trace.of(CompressionEnded)[0].error


async def test_a_reply_survives_a_compression_that_fails() -> None:
    model = ScriptedChatModel(["fine"], structured=[ModelUnreachable("gone")], context_size=700)
    agent = make_agent(model=model)
    await history(agent)
    assert (await agent.reply("next")).content == "fine"


async def test_a_cancelled_compression_changes_nothing() -> None:
    asked = asyncio.Event()

    async def hang(*_: object) -> dict[str, str]:
        asked.set()
        await asyncio.Event().wait()
        return {}

    agent = make_agent(model=ScriptedChatModel([], structured=[hang]))
    await history(agent)
    task = asyncio.create_task(agent.compress_context())
    await asked.wait()
    await cancel(task)
    assert await marked(agent) == 0
    assert agent.trace.of(CompressionEnded)[0].error == "interrupted"


@pytest.mark.parametrize("what", ["clear", "delete", "summary"])
async def test_what_was_changed_while_it_was_summarised_is_not_covered(what: str) -> None:
    """What somebody deletes meanwhile does not live on in a summary; a summary that he changes is not replaced."""

    async def meddle(*_: object) -> dict[str, str]:
        if what == "summary":
            await agent.memory.update_compressed_summary("by hand")
        elif what == "clear":
            await agent.memory.clear()
        else:
            await agent.memory.delete([(await agent.memory.entries())[0].msg.id])
        return SUMMARY

    agent = make_agent(model=ScriptedChatModel([], structured=[meddle]))
    await history(agent)
    with pytest.raises(MnemoscopeError, match="changed while they were summarised"):
        await agent.compress_context()
    assert await marked(agent) == 0
    assert agent.memory._compressed_summary == ("by hand" if what == "summary" else "")


class Gated(InMemoryMemory):
    """Sets marks only once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.opened = asyncio.Event(), asyncio.Event()

    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        if msg_ids:
            self.begun.set()
            await self.opened.wait()
        return await super().update_messages_mark(new_mark, old_mark, msg_ids)


async def test_a_cancellation_between_the_two_writes_tears_nothing_and_the_trace_says_what_became_of_it() -> None:
    memory = Gated()
    agent = make_agent(model=ScriptedChatModel([], structured=[SUMMARY]), memory=memory)
    await history(agent)
    task = asyncio.create_task(agent.compress_context())
    await memory.begun.wait()
    task.cancel()
    memory.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    [ended] = agent.trace.of(CompressionEnded)
    assert (ended.error, ended.covered) == ("", await marked(agent)) != ("", 0)


class NoMarks(InMemoryMemory):
    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        raise NotImplementedError("no marks here")


async def test_a_memory_without_marks_costs_neither_a_summary_nor_the_reply() -> None:
    model = ScriptedChatModel(["fine"], context_size=700)
    agent = make_agent(model=model, memory=NoMarks())
    await history(agent)
    assert (await agent.reply("next")).content == "fine"
    assert [one.error for one in agent.trace.of(CompressionEnded)] == ["no marks here"]
    assert all(request.schema is None for request in model.requests)


async def test_an_overflow_is_told_as_such_where_nothing_can_be_compressed() -> None:
    agent = make_agent(model=ScriptedChatModel([ContextOverflow("too large")]), memory=NoMarks())
    await history(agent)
    with pytest.raises(ContextOverflow):
        await agent.reply("next")


async def test_a_broken_history_makes_a_valid_summary_request() -> None:
    """C08: calls go into the request as text, so that no server can find them out of order."""
    agent = make_agent(model=ScriptedChatModel([], structured=[SUMMARY]))
    await agent.memory.add([call("1"), user("q1"), said("a1"), user("q2"), said("a2"), user("q3"), said("a3")])
    await agent.compress_context()
    assert isinstance(agent.model, ScriptedChatModel)
    sent = agent.model.requests[0].messages
    assert [msg.role for msg in sent] == ["system", "user"]
    assert "(calls t with {})" in str(sent[1].content)


async def test_a_long_run_of_tool_rounds_is_compressed_in_its_middle() -> None:
    turns = [[use("Echo", str(number), "word " * 60)] for number in range(8)]
    model = ScriptedChatModel([*turns, "done"], structured=[SUMMARY] * 9, context_size=900)
    agent = make_agent(model=model, tools=[Echo()])
    assert (await agent.reply("the question")).content == "done"
    assert all(request.messages[-1].role != "user" or "the question" in str(request.messages[-1].content)
               for request in model.requests if request.schema is None)  # fmt: skip
    question = [msg for msg in model.requests[-1].messages if msg.content == "the question"]
    assert len(question) == 1


async def test_state_survives_a_round_trip_between_two_compressions() -> None:
    """C10: compress, save, load, compress again."""
    agent = make_agent(model=ScriptedChatModel([], structured=[SUMMARY]))
    await history(agent)
    await agent.compress_context()
    again = make_agent(model=ScriptedChatModel([], structured=[{"current_state": "later"}]))
    again.load_state_dict(agent.state_dict())
    assert await again.memory.entries() == await agent.memory.entries()
    await history(again, 2)
    assert await again.compress_context(ContextConfig(keep_recent=1)) is True
    assert await marked(again) == 14


@pytest.mark.parametrize("options", [{"trigger_ratio": 0}, {"trigger_ratio": 1.5}, {"keep_recent": -1}])
def test_a_config_without_sense_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        ContextConfig(**options)  # type: ignore[arg-type]
