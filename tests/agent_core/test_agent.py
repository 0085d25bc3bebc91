"""The agent: replies, rounds, tools, permissions, interruption, failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.errors import ModelInterrupted, ModelUnreachable, ReplyError
from agent_core.event import (
    BlockDelta,
    Event,
    FilterChanged,
    MemoryChanged,
    ModelCallEnded,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    ToolEnded,
)
from agent_core.mark_rules import MarkRule
from agent_core.marks import MemoryFilter
from agent_core.message import (
    AssistantMsg,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from agent_core.middleware import MiddlewareBase
from agent_core.model.base import ChatModelBase, Finished, ModelDelta, TextDelta, ToolSchema
from agent_core.model.scripted_model import ScriptedChatModel
from agent_core.trace import Trace
from memory import InMemoryMemory, MemoryBase
from tests.agent_core.agents import Broken, Change, Echo, Gate, make_agent, use
from tests.cancelling import cancel


async def contents(agent: Agent) -> list[str]:
    """What memory holds, a short text for each message."""
    shown = []
    for msg, marks in await agent.memory.entries():
        calls = [block.id for block in msg.get_content_blocks(ToolCallBlock)]
        results = [f"{block.state}: {block.text()}" for block in msg.get_content_blocks(ToolResultBlock)]
        text = msg.get_text_content() or ""
        shown.append(" ".join([*([text] if text else []), *calls, *results, *(f"#{mark}" for mark in marks)]))
    return shown


def names(events: Sequence[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


async def test_a_reply_is_the_last_rounds_message_and_everything_is_stored() -> None:
    agent = make_agent([TextBlock("looking"), use("Echo")], "done", tools=[Echo()])
    msg = await agent.reply("question", marks="planning")
    assert (msg.role, msg.get_text_content()) == ("assistant", "done")
    assert await contents(agent) == ["question #planning", "looking c1", "success: echo x #tool", "done"]


async def test_inputs_may_be_text_a_message_several_or_nothing() -> None:
    agent = make_agent("1", "2", "3", "4")
    await agent.reply("a")
    await agent(UserMsg("u", "b"))
    await agent.reply(["c", UserMsg("u", "d")])
    await agent.reply()
    assert await contents(agent) == ["a", "1", "b", "2", "c", "d", "3", "4"]


async def test_a_message_that_is_only_calls_is_marked_tool() -> None:
    agent = make_agent([use("Echo")], "done", tools=[Echo()])
    await agent.reply("q")
    assert (await contents(agent))[1] == "c1 #tool"


async def test_observe_stores_without_answering() -> None:
    agent = make_agent()
    await agent.observe("seen", marks=["a", "b"])
    assert await contents(agent) == ["seen #a #b"]


async def test_the_stream_is_the_replys_events_in_order() -> None:
    agent = make_agent([ThinkingBlock("hm"), TextBlock("hello")])
    events = [event async for event in agent.reply_stream("q")]
    assert names(events) == [
        "ReplyStarted", "MemoryChanged", "RoundStarted", "PromptSent",
        "BlockStarted", "BlockDelta", "BlockEnded", "BlockStarted", "BlockDelta", "BlockEnded",
        "ModelCallEnded", "MemoryChanged", "ReplyEnded",
    ]  # fmt: skip
    seqs = [event.seq for event in events]
    assert seqs == sorted(set(seqs))
    assert len({event.reply_id for event in events}) == 1


async def test_a_background_event_of_the_reply_is_part_of_its_stream() -> None:
    class Telling(MiddlewareBase):
        async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:
            agent.trace.append(Noticed(text="from the side", reply_id=agent.state.reply_id))
            agent.trace.append(Noticed(text="of nobody"))
            return current_prompt

    agent = make_agent("x", middlewares=[Telling()])
    texts = [event.text async for event in agent.reply_stream("q") if isinstance(event, Noticed)]
    assert texts == ["from the side"]


async def test_what_a_middleware_yields_is_appended_once_and_what_it_swallows_stays_in_the_trace() -> None:
    class Censor(MiddlewareBase):
        async def on_reply(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> AsyncIterator[Event]:
            async for event in next_handler(**input_kwargs):
                if not isinstance(event, BlockDelta):
                    yield event
            yield Noticed(text="own")

    class Outer(MiddlewareBase):
        async def on_reply(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> AsyncIterator[Event]:
            async for event in next_handler(**input_kwargs):
                yield event

    agent = make_agent("hello", middlewares=[Outer(), Censor()])
    heard: list[Event] = []
    agent.trace.subscribe(heard.append)
    events = [event async for event in agent.reply_stream("q")]
    assert not [event for event in events if isinstance(event, BlockDelta)]
    assert [event.text for event in heard if isinstance(event, BlockDelta)] == ["hello"]
    assert [event.text for event in events if isinstance(event, Noticed)] == ["own"]
    assert len(agent.trace.of(Noticed)) == 1
    assert agent.trace.of(Noticed)[0].reply_id == events[0].reply_id


async def test_the_seven_hooks_are_called_outermost_first_with_what_they_are_told() -> None:
    calls: list[str] = []

    class Watcher(MiddlewareBase):
        def __init__(self, label: str) -> None:
            self.label = label

        def note(self, hook: str, input_kwargs: dict[str, Any]) -> None:
            calls.append(f"{self.label} {hook} {sorted(input_kwargs)}")

        async def on_reply(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> AsyncIterator[Event]:
            self.note("reply", input_kwargs)
            async for event in next_handler():
                yield event

        async def on_reasoning(
            self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncIterator[Event]:
            self.note("reasoning", input_kwargs)
            async for event in next_handler(**input_kwargs):
                yield event

        async def on_acting(
            self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncIterator[Event]:
            self.note("acting", input_kwargs)
            async for event in next_handler(**input_kwargs):
                yield event

        async def on_check_permission(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> Any:
            self.note("check", input_kwargs)
            return await next_handler(**input_kwargs)

        async def on_model_call(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> Any:
            self.note("model", input_kwargs)
            return await next_handler(**input_kwargs)

        async def on_compress_context(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> bool:
            self.note("compress", input_kwargs)
            return bool(await next_handler(**input_kwargs))

        async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:
            calls.append(f"{self.label} prompt {current_prompt!r}")
            return current_prompt + self.label

    agent = make_agent([use("Echo")], "done", tools=[Echo()], middlewares=[Watcher("A"), Watcher("B")])
    await agent.reply("q")
    await agent.compress_context()
    one_round = ["A reasoning ['round']", "B reasoning ['round']", "A prompt 'You help.'", "B prompt 'You help.A'"]
    model = ["A model ['messages', 'model', 'tools']", "B model ['messages', 'model', 'tools']"]
    check = ["A check ['tool', 'tool_call', 'tool_input']", "B check ['tool', 'tool_call', 'tool_input']"]
    acting = ["A acting ['tool_call']", "B acting ['tool_call']"]
    compress = [f"{x} compress ['context_config', 'instructions']" for x in "AB"]
    reply = ["A reply ['inputs']", "B reply ['inputs']"]
    assert calls == [*reply, *one_round, *model, *check, *acting, *one_round, *model, *compress]
    assert isinstance(agent.model, ScriptedChatModel)
    assert agent.model.requests[0].messages[0].content == "You help.AB"


async def test_a_middleware_may_change_what_is_sent_and_the_prompt_event_says_so() -> None:
    class Secretive(MiddlewareBase):
        async def on_model_call(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> Any:
            return await next_handler(messages=input_kwargs["messages"][:-1])

    agent = make_agent("x", middlewares=[Secretive()])
    await agent.reply("secret")
    assert isinstance(agent.model, ScriptedChatModel)
    assert len(agent.model.requests[0].messages) == 1
    [sent] = agent.trace.of(PromptSent)
    assert [part.reason for part in sent.parts if not part.included] == ["removed by Secretive"]


async def test_neighbouring_safe_calls_run_side_by_side_and_others_alone() -> None:
    gate = Gate()

    class Opener(Echo):
        name = "Opener"

        async def call(self, *, text: str) -> str:
            await gate.begun.wait()
            gate.opened.set()
            return "opened"

    agent = make_agent([use("Gate", "1"), use("Opener", "2")], "done", tools=[gate, Opener()])
    await asyncio.wait_for(agent.reply("q"), 10)
    assert sorted((await contents(agent))[2:4]) == ["success: opened #tool", "success: through x #tool"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ToolCallBlock("c1", "Nothing", "{}"), "There is no tool 'Nothing'. There are: Echo, Broken."),
        (ToolCallBlock("c1", "Echo", "{}"), "The argument 'text' is missing."),
        (ToolCallBlock("c1", "Echo", '{"text": 5}'), "The argument 'text' must be of type string, not 5."),
        (ToolCallBlock("c1", "Echo", '{"text": "x", "y": 1}'), "There is no argument 'y'; there are: text."),
        (ToolCallBlock("c1", "Broken", '{"text": "x"}'), "Broken failed: OSError: no luck with [/x]"),
    ],
)
async def test_a_call_that_cannot_be_made_tells_the_model_why(call: ToolCallBlock, said: str) -> None:
    agent = make_agent([call], "done", tools=[Echo(), Broken()])
    await agent.reply("q")
    assert (await contents(agent))[2] == f"error: {said} #tool"


async def test_malformed_arguments_are_never_run_and_the_conversation_goes_on() -> None:
    """S23, S25, S27: a cut or malformed call is an error result, not a call with nothing."""
    change = Change()
    agent = make_agent([ToolCallBlock("c1", "Change", '{"text": "lo')], "done", tools=[change])
    await agent.reply("q")
    assert change.done == []
    assert "error: the call was not made" in (await contents(agent))[2]


@pytest.mark.parametrize(("answer", "runs", "rules"), [("once", 2, 0), ("always", 2, 1), ("no", 0, 0)])
async def test_a_person_is_asked_with_the_diff_and_the_answer_holds(answer: str, runs: int, rules: int) -> None:
    asked: list[tuple[str, str]] = []
    change = Change()

    async def approve(call: ToolCallBlock, diff: str) -> Any:
        asked.append((call.name, diff))
        return answer

    turns = [[use("Change", "1", "x")], [use("Change", "2", "y")], "done"]
    agent = make_agent(*turns, tools=[change], approve=approve)
    await agent.reply("q")
    assert asked[0] == ("Change", "+x")
    assert len(asked) == (1 if answer == "always" else 2)
    assert len(change.done) == runs
    assert len(agent.state.permission_context.rules) == rules
    assert agent.trace.of(PermissionAsked)[0].diff == "+x"
    assert agent.trace.of(PermissionAnswered)[0].answer == answer
    assert agent.trace.of(ToolEnded)[0].state == ("denied" if answer == "no" else "success")


async def test_with_no_one_to_ask_the_call_is_refused_and_says_so() -> None:
    change = Change()
    agent = make_agent([use("Change")], "done", tools=[change])
    await agent.reply("q")
    assert change.done == []
    assert "no one to ask" in (await contents(agent))[2]


async def test_a_question_that_cannot_be_answered_ends_the_reply_and_never_hangs() -> None:
    async def approve(call: ToolCallBlock, diff: str) -> Any:
        return "perhaps"

    agent = make_agent([use("Change")], "done", tools=[Change()], approve=approve)
    with pytest.raises(ReplyError, match="perhaps"):
        await asyncio.wait_for(agent.reply("q"), 10)
    assert (await contents(agent))[2].startswith("interrupted: ")


async def test_an_interruption_in_a_tool_leaves_every_call_with_a_result() -> None:
    """C01: cancelled while the first of two calls runs, then spoken to again."""
    gate = Gate()
    gate.is_concurrency_safe = False
    agent = make_agent([use("Gate", "1"), use("Echo", "2")], "hello again", tools=[gate, Echo()])
    task = asyncio.create_task(agent.reply("q"))
    await gate.begun.wait()
    await cancel(task)
    interrupted = "interrupted: Interrupted: this call did not finish. #tool"
    assert await contents(agent) == ["q", "1 2 #tool", interrupted, interrupted]
    assert agent.trace.of(ReplyEnded)[0].finish == "interrupted"
    assert (await agent.reply("hi")).content == "hello again"
    assert agent.state.reply_id is None


async def test_an_interruption_while_streaming_keeps_what_came() -> None:
    begun = asyncio.Event()

    async def hang(messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    agent = make_agent(model=ScriptedChatModel([hang, "x" * 300, "again"], delay=0.0))
    task = asyncio.create_task(agent.reply("q"))
    await begun.wait()
    await cancel(task)
    assert await contents(agent) == ["q"]
    stream = agent.reply_stream("q2")
    async for event in stream:
        if isinstance(event, BlockDelta):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    last = (await agent.memory.entries())[-1].msg
    assert last.get_metadata("cut_short") == "interrupted"
    assert str(last.content).startswith("x")
    assert (await agent.reply("q3")).content == "again"


async def test_an_interruption_while_a_person_is_asked_counts_as_no() -> None:
    asked = asyncio.Event()

    async def approve(call: ToolCallBlock, diff: str) -> Any:
        asked.set()
        await asyncio.Event().wait()

    agent = make_agent([use("Change")], "done", tools=[Change()], approve=approve)
    task = asyncio.create_task(agent.reply("q"))
    await asked.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [(event.answer, event.reason) for event in agent.trace.of(PermissionAnswered)] == [("no", "interrupted")]


async def test_a_failed_reply_raises_one_error_and_keeps_what_there_was() -> None:
    agent = make_agent([TextBlock("half an ans"), ModelInterrupted("The connection broke off.")], "fine")
    with pytest.raises(ModelInterrupted, match="broke off"):
        await agent.reply("q")
    last = (await agent.memory.entries())[-1].msg
    assert last.content == "half an ans"
    assert last.get_metadata("cut_short") == "error"
    assert (await agent.reply("again")).content == "fine"


async def test_a_failed_stream_does_not_raise_but_says_the_same() -> None:
    agent = make_agent(ModelUnreachable("No server there."))
    events = [event async for event in agent.reply_stream("q")]
    ended = events[-1]
    assert isinstance(ended, ReplyEnded)
    assert (ended.finish, ended.error_type, ended.error) == ("error", "ModelUnreachable", "No server there.")
    assert await contents(agent) == ["q"]


async def test_results_of_finished_tools_outlive_a_failure_and_are_sent_again() -> None:
    """C05: four calls, the next request fails, the user says continue."""
    calls = [use("Echo", str(number)) for number in range(4)]
    agent = make_agent(calls, ModelUnreachable("gone"), "done", tools=[Echo()])
    with pytest.raises(ModelUnreachable):
        await agent.reply("q")
    await agent.reply("continue")
    assert isinstance(agent.model, ScriptedChatModel)
    sent = agent.model.requests[-1].messages
    assert len([msg for msg in sent if msg.get_content_blocks(ToolResultBlock)]) == 4


async def test_a_fault_in_a_middleware_becomes_an_error_of_ours_and_the_words_are_kept() -> None:
    class Faulty(MiddlewareBase):
        async def on_reply(self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any) -> AsyncIterator[Event]:
            raise KeyError("[/oops]")
            yield

    agent = make_agent("x", middlewares=[Faulty()])
    with pytest.raises(ReplyError, match="oops") as caught:
        await agent.reply("precious words")
    assert isinstance(caught.value.__cause__, KeyError)
    assert await contents(agent) == ["precious words"]
    assert names(list(agent.trace))[-1] == "ReplyEnded"


async def test_max_iters_ends_with_a_message_that_says_so() -> None:
    agent = make_agent(model=ScriptedChatModel([[use("Echo")]], repeat_last=True), tools=[Echo()], max_iters=2)
    msg = await agent.reply("q")
    assert "stopped after 2 rounds" in str(msg.content)
    assert agent.trace.of(ReplyEnded)[0].finish == "max_iters"
    assert len(agent.trace.of(RoundStarted)) == 2


async def test_replies_of_one_agent_queue() -> None:
    gate = Gate()
    agent = make_agent([use("Gate")], "first", "second", tools=[gate])
    first, second = asyncio.create_task(agent.reply("1")), asyncio.create_task(agent.reply("2"))
    await gate.begun.wait()
    gate.opened.set()
    assert [str((await task).content) for task in (first, second)] == ["first", "second"]
    kinds = [name for name in names(list(agent.trace)) if name in ("ReplyStarted", "ReplyEnded")]
    assert kinds == ["ReplyStarted", "ReplyEnded"] * 2


async def test_a_reply_that_gives_up_its_place_in_the_queue_leaves_no_trace() -> None:
    gate = Gate()
    agent = make_agent([use("Gate")], "first", "third", tools=[gate])
    first, second = asyncio.create_task(agent.reply("1")), asyncio.create_task(agent.reply("2"))
    await gate.begun.wait()
    second.cancel()
    gate.opened.set()
    await first
    assert (await agent.reply("3")).content == "third"
    assert len(agent.trace.of(ReplyStarted)) == 2


async def test_an_applied_filter_governs_what_was_stored_before_the_running_reply() -> None:
    agent = make_agent("one", "two", [use("Echo")], "three", tools=[Echo()])
    await agent.reply("plain")
    await agent.reply("wanted", marks="keep")
    agent.memory_filter = MemoryFilter(mark="keep")
    await agent.reply("question")
    assert isinstance(agent.model, ScriptedChatModel)
    sent = agent.model.requests[-1].messages
    assert [str(msg.get_text_content()) for msg in sent] == ["You help.", "wanted", "question", "None", "None"]
    assert [event.memory_filter for event in agent.trace.of(FilterChanged)] == [MemoryFilter(mark="keep")]


async def test_the_filter_is_part_of_the_state() -> None:
    agent = make_agent("hello")
    await agent.reply("hi", marks="m")
    agent.memory_filter = MemoryFilter(mark=("a", "b"), prepend_summary=False)
    again = make_agent()
    again.load_state_dict(agent.state_dict())
    assert again.memory_filter == agent.memory_filter
    assert await contents(again) == ["hi #m", "hello"]


async def test_usage_and_an_empty_answer_are_told() -> None:
    agent = make_agent("", "x")
    await agent.reply("q")
    assert "nothing at all" in agent.trace.of(Noticed)[0].text
    ended = agent.trace.of(ReplyEnded)[0]
    assert ended.usage == agent.trace.of(ModelCallEnded)[0].usage
    assert ended.usage is not None
    assert ended.usage.input_tokens > 0


@pytest.mark.parametrize(("reason", "told"), [("length", "length limit"), ("content_filter", "content filter")])
@pytest.mark.parametrize(("text", "what"), [("", "nothing at all"), ("so far", "was cut")])
async def test_an_answer_that_was_cut_says_by_what(reason: str, told: str, text: str, what: str) -> None:
    class Cutting(ChatModelBase):
        model = "cutting"

        async def stream(self, *_: Any) -> AsyncIterator[ModelDelta]:
            yield TextDelta(text)
            yield Finished(reason)

    agent = make_agent(model=Cutting())
    await agent.reply("q")
    (notice,) = agent.trace.of(Noticed)
    assert what in notice.text
    assert told in notice.text


async def test_a_call_printed_as_text_is_shown_and_not_run() -> None:
    """S21."""
    change = Change()
    agent = make_agent('{"name": "Change", "arguments": {"text": "x"}}', tools=[change])
    await agent.reply("q")
    assert change.done == []
    assert "printed a tool call" in agent.trace.of(Noticed)[0].text


async def test_the_trace_begins_with_what_the_memory_holds() -> None:
    memory = InMemoryMemory()
    await memory.add(UserMsg("u", "earlier"), marks="m")
    agent = make_agent("x", memory=memory)
    await agent.reply("q")
    first = agent.trace.of(MemoryChanged)[0]
    assert type(first.change).__name__ == "Snapshot"
    assert [entry.msg.content for entry in first.change.entries] == ["earlier"]  # type: ignore[union-attr]


async def test_a_restored_trace_that_tells_it_already_gets_no_second_snapshot() -> None:
    agent = make_agent("x")
    await agent.reply("q")
    trace, memory = Trace(), InMemoryMemory()
    trace.restore(list(agent.trace))
    memory.content = [(msg, list(marks)) for msg, marks in await agent.memory.entries()]
    again = make_agent("y", memory=memory, trace=trace)
    await again.start()
    assert len(trace) == len(agent.trace)
    await memory.add(AssistantMsg("a", "more"))
    assert len(trace) == len(agent.trace) + 1


class Minimal(MemoryBase):
    """A user's own memory with only the five abstract methods."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Msg] = []

    async def add(self, memories: Any, marks: Any = None, **kwargs: Any) -> None:
        self.messages.extend([memories] if isinstance(memories, Msg) else memories or [])

    async def delete(self, msg_ids: Any, **kwargs: Any) -> int:
        before = len(self.messages)
        self.messages = [msg for msg in self.messages if msg.id not in msg_ids]
        return before - len(self.messages)

    async def size(self) -> int:
        return len(self.messages)

    async def clear(self) -> None:
        self.messages.clear()

    async def get_memory(
        self, mark: Any = None, exclude_mark: Any = None, prepend_summary: bool = True, **kwargs: Any
    ) -> list[Msg]:
        return list(self.messages)


async def test_a_memory_with_only_the_five_methods_works_and_is_compared_after_each_reply() -> None:
    agent = make_agent([use("Echo")], "done", tools=[Echo()], memory=Minimal())
    await agent.reply("q", marks="m")
    assert await contents(agent) == ["q", "c1", "success: echo x", "done"]
    last = agent.trace.of(MemoryChanged)[-1].change
    assert [entry.msg.id for entry in last.entries] == [msg.id for msg in agent.memory.messages]  # type: ignore[union-attr, attr-defined]
    with pytest.raises(NotImplementedError, match="Minimal"):
        await agent.memory.update_messages_mark("x")


async def test_that_a_filter_cannot_see_the_marks_in_a_memory_is_said() -> None:
    agent = make_agent(memory=Minimal())
    agent.memory_filter = MemoryFilter(prepend_summary=False)
    assert not agent.trace.of(Noticed)
    agent.memory_filter = MemoryFilter(exclude_mark="draft")
    (notice,) = agent.trace.of(Noticed)
    assert notice.text == "Minimal does not tell marks: to this filter every message is unmarked."
    other = make_agent()
    other.memory_filter = MemoryFilter(mark="draft")
    assert not other.trace.of(Noticed)


async def test_a_hint_that_a_middleware_stores_belongs_to_the_running_reply() -> None:
    class Hinting(MiddlewareBase):
        async def on_reasoning(
            self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncIterator[Event]:
            await agent.memory.add(AssistantMsg("memory", [HintBlock("likes tea")]), marks="hint")
            async for event in next_handler(**input_kwargs):
                yield event

    agent = make_agent("x", middlewares=[Hinting()], memory=Minimal())
    agent.memory_filter = MemoryFilter(mark="nothing has this")
    await agent.reply("q")
    assert isinstance(agent.model, ScriptedChatModel)
    assert HintBlock("likes tea") in agent.model.requests[0].messages[-1].blocks


async def test_a_memory_that_cannot_store_fails_the_reply_with_one_error() -> None:
    class Full(Minimal):
        async def add(self, memories: Any, marks: Any = None, **kwargs: Any) -> None:
            raise OSError("no space left")

    agent = make_agent("x", memory=Full())
    with pytest.raises(ReplyError, match="no space left"):
        await agent.reply("q")
    assert agent.trace.of(ReplyEnded)[0].finish == "error"


class Unreadable(Minimal):
    """Cannot be read any more once it is `broken`."""

    broken = False

    async def get_memory(
        self, mark: Any = None, exclude_mark: Any = None, prepend_summary: bool = True, **kwargs: Any
    ) -> list[Msg]:
        if self.broken:
            raise RuntimeError("cannot read")
        return await super().get_memory()


async def test_a_memory_that_cannot_be_read_fails_the_reply_with_one_error_told_at_its_end() -> None:
    memory = Unreadable()
    agent = make_agent("x", "y", "z", memory=memory)
    await agent.reply("q")
    memory.broken = True
    with pytest.raises(ReplyError, match="cannot read"):
        await agent.reply("r")
    assert [event.finish for event in agent.trace.of(ReplyEnded)] == ["completed", "error"]
    events = [event async for event in agent.reply_stream("s")]
    assert isinstance(events[0], ReplyStarted)
    assert isinstance(events[-1], ReplyEnded)
    assert "cannot read" in events[-1].error
    memory.broken = False
    assert (await agent.reply("t")).content == "y"
    assert [msg.content for msg in memory.messages] == ["q", "x", "r", "s", "t", "y"]


class SlowToStore(Minimal):
    """Holds every add up until it is let, once it is `slow`."""

    def __init__(self) -> None:
        super().__init__()
        self.slow, self.begun, self.opened = False, asyncio.Event(), asyncio.Event()

    async def add(self, memories: Any, marks: Any = None, **kwargs: Any) -> None:
        if self.slow:
            self.begun.set()
            await self.opened.wait()
        await super().add(memories, marks)


@pytest.mark.parametrize("during", ["question", "answer"])
async def test_who_interrupts_while_something_is_being_stored_does_not_lose_it(during: str) -> None:
    memory = SlowToStore()

    def answer(*_: object) -> str:
        memory.slow = True
        return "answer"

    memory.slow = during == "question"
    agent = make_agent(answer, memory=memory)
    task = asyncio.create_task(agent.reply("question"))
    await memory.begun.wait()
    task.cancel()
    memory.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [msg.content for msg in memory.messages] == (["question", "answer"] if during == "answer" else ["question"])


async def test_rules_set_marks_on_whatever_the_agent_stores() -> None:
    rules = [MarkRule("asked", role="user"), MarkRule("echo", tool="Echo"), MarkRule("tea", pattern="tea")]
    agent = make_agent([use("Echo")], "some tea", tools=[Echo()], mark_rules=rules)
    await agent.observe("seen before, with tea")
    await agent.reply("q", marks="mine")
    assert await contents(agent) == [
        "seen before, with tea #asked #tea",
        "q #mine #asked",
        "c1 #tool #echo",
        "success: echo x #tool #echo",
        "some tea #tea",
    ]
