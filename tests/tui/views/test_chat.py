"""The chat, folded from what really happened to an agent."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.agent import Agent
from agent_core.errors import ModelInterrupted, ModelUnreachable
from agent_core.event import Answer, BlockDelta, BlockEnded, BlockStarted, CompressionEnded, Event, Noticed
from agent_core.marks import HINT
from agent_core.message import AssistantMsg, HintBlock, TextBlock, ThinkingBlock, ToolCallBlock, UserMsg
from agent_core.model.base import ModelDelta, ToolCallDelta
from agent_core.trace import Trace
from memory import InMemoryMemory
from tests.agent_core.agents import Change, Echo, Gate, make_agent, use
from tests.tui.fed_model import FedModel
from tui.views.chat import ChatView
from tui.views.chat_items import AnswerItem, ChatItem, HintItem, NoticeItem, ThinkingItem, ToolItem, UserItem


def folded(trace: Trace) -> ChatView:
    view = ChatView()
    for event in trace:
        view.apply(event)
    return view


def in_words(item: ChatItem) -> str:
    """An item in a line, so that tests read like a chat."""
    gone = " (deleted)" if item.deleted else ""
    match item:
        case UserItem(name, text, marks):
            return f"{name}: {text}{''.join(f' #{mark}' for mark in marks)}{gone}"
        case AnswerItem(text, label=label):
            return f"answer: {text}{f' ({label})' if label else ''}{gone}"
        case ThinkingItem(text):
            return f"thinking: {text}{gone}"
        case ToolItem():
            note = f" ({item.note})" if item.note else ""
            return f"{item.name} {item.arguments} {item.state}: {item.result}{note}{gone}"
        case HintItem(source, text):
            return f"recalled {source}: {text}{gone}"
        case NoticeItem(text, level):
            return f"{level}: {text}"
    raise AssertionError(item)


def chat(agent: Agent) -> list[str]:
    return [in_words(item) for item in folded(agent.trace).items]


class Watcher:
    """A view that is fed while the agent works, as in the app."""

    def __init__(self, agent: Agent) -> None:
        self.view = ChatView()
        self.revisions = 0
        agent.trace.subscribe(self.take)

    def take(self, event: Event) -> None:
        self.revisions += self.view.apply(event)

    @property
    def words(self) -> list[str]:
        return [in_words(item) for item in self.view.items]


async def test_a_question_and_its_answer() -> None:
    agent = make_agent("Hello there.")
    watcher = Watcher(agent)
    await agent.reply("hi", marks=["planning"])
    assert watcher.words == ["user: hi #planning", "answer: Hello there."]


async def test_thinking_calls_and_results_stand_in_order() -> None:
    agent = make_agent([ThinkingBlock("hmm"), TextBlock("Let me see."), use("Echo")], "Done.", tools=[Echo()])
    watcher = Watcher(agent)
    await agent.reply("go")
    assert watcher.words == [
        "user: go",
        "thinking: hmm",
        "answer: Let me see.",
        'Echo {"text": "x"} success: echo x',
        "answer: Done.",
    ]


async def test_a_chat_folded_from_a_restored_trace_is_the_one_that_was_seen() -> None:
    calls = [use("Echo", "c1"), use("Echo", "c2", "y")]
    agent = make_agent([ThinkingBlock("hmm"), *calls], "Done.", tools=[Echo()])
    watcher = Watcher(agent)
    await agent.reply("go")
    restored = Trace()
    restored.restore([event for event in agent.trace if not isinstance(event, BlockDelta)])
    assert [in_words(item) for item in folded(restored).items] == watcher.words


async def test_text_grows_while_it_streams() -> None:
    view = ChatView()
    view.apply(BlockStarted(block_id="b", kind="text"))
    view.apply(BlockDelta(block_id="b", kind="text", text="He"))
    view.apply(BlockDelta(block_id="b", kind="text", text="llo"))
    (item,) = view.items
    assert isinstance(item, AnswerItem)
    assert (item.text, item.is_live, item.revision) == ("Hello", True, 2)
    view.apply(BlockEnded(block_id="b"))
    assert not item.is_live


async def test_thinking_says_how_long_it_took() -> None:
    view = ChatView()
    view.apply(BlockStarted(block_id="b", kind="thinking", at=10.0))
    view.apply(BlockEnded(block_id="b", at=14.5))
    (item,) = view.items
    assert isinstance(item, ThinkingItem)
    assert item.seconds == 4.5


async def test_a_delta_of_an_unknown_block_changes_nothing() -> None:
    assert not ChatView().apply(BlockDelta(block_id="b", kind="text", text="x"))
    assert not ChatView().apply(BlockEnded(block_id="b"))


async def test_an_answer_cut_by_an_error_is_labelled_and_the_error_said() -> None:
    """The label is where one reads how to go on, and the only place."""
    agent = make_agent([TextBlock("So far"), ModelInterrupted("The stream broke off. Ask again.")])
    with pytest.raises(ModelInterrupted):
        await agent.reply("go")
    assert chat(agent) == [
        "user: go",
        "answer: So far (cut off by an error)",
        "error: The stream broke off. Ask again.",
    ]


async def test_the_words_of_an_endpoint_end_before_ours_begin() -> None:
    agent = make_agent(ModelUnreachable("http://x refused: no such thing [/x]"), ModelUnreachable("没有这个模型。"))
    for _ in range(2):
        with pytest.raises(ModelUnreachable):
            await agent.reply("go")
    assert chat(agent)[1::2] == [
        "error: http://x refused: no such thing [/x]. What you said is kept; /retry tries again.",
        "error: 没有这个模型。 What you said is kept; /retry tries again.",
    ]


async def test_a_reply_that_could_not_start_keeps_what_was_said() -> None:
    agent = make_agent(ModelUnreachable("No connection to http://x. Is the server running?"))
    with pytest.raises(ModelUnreachable):
        await agent.reply("go")
    assert chat(agent) == [
        "user: go",
        "error: No connection to http://x. Is the server running? What you said is kept; /retry tries again.",
    ]


async def interrupted(*pieces: ModelDelta | str) -> Agent:
    """An agent whose reply was stopped after these pieces of its answer had been shown."""
    model = FedModel()
    agent = make_agent(model=model)
    shown = asyncio.Event()
    agent.trace.subscribe(lambda event: shown.set() if isinstance(event, BlockDelta) else None)
    task = asyncio.create_task(agent.reply("go"))
    await model.asked.wait()
    model.feed(*pieces)
    if pieces:
        await shown.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return agent


async def test_an_interrupted_answer_is_labelled() -> None:
    assert chat(await interrupted("So far")) == ["user: go", "answer: So far (interrupted)"]


async def test_an_interruption_before_the_first_word_is_said() -> None:
    assert chat(await interrupted()) == [
        "user: go",
        "warning: Interrupted. What you said is kept; /retry tries again.",
    ]


async def test_a_call_that_was_being_written_when_interrupted_was_not_made() -> None:
    assert chat(await interrupted(ToolCallDelta("c1", "Change", '{"text": "x'))) == [
        "user: go",
        "Change  interrupted:  (not made: the answer broke off)",
        "warning: Interrupted. What you said is kept; /retry tries again.",
    ]


async def test_a_refused_call_says_so() -> None:
    agent = make_agent([use("Change")], "ok", tools=[Change()])
    watcher = Watcher(agent)
    await agent.reply("go")
    (tool,) = [item for item in watcher.view.items if isinstance(item, ToolItem)]
    assert tool.state == "denied"
    assert "no one to ask" in tool.note
    assert tool.diff == "+x"


async def test_a_call_goes_through_its_states() -> None:
    gate = Gate()
    agent = make_agent([use("Gate")], "ok", tools=[gate])
    states: list[str] = []
    view = ChatView()

    def take(event: Event) -> None:
        view.apply(event)
        states.extend(item.state for item in view.items if isinstance(item, ToolItem))

    agent.trace.subscribe(take)
    task = asyncio.create_task(agent.reply("go"))
    await gate.begun.wait()
    gate.opened.set()
    await task
    assert list(dict.fromkeys(states)) == ["writing", "waiting", "running", "success"]


async def test_an_asked_call_shows_its_diff_and_what_was_answered() -> None:
    seen: list[tuple[str, str]] = []

    async def approve(call: ToolCallBlock, diff: str) -> Answer:
        tool = next(item for item in watcher.view.items if isinstance(item, ToolItem))
        seen.append((tool.state, tool.diff))
        return "always"

    agent = make_agent([use("Change")], "ok", tools=[Change()], approve=approve)
    watcher = Watcher(agent)
    await agent.reply("go")
    assert seen == [("asking", "+x")]
    assert watcher.words[1] == 'Change {"text": "x"} success: changed (allowed from now on)'


async def test_ids_of_calls_may_come_again() -> None:
    agent = make_agent([use("Echo", "call_0", "one")], [use("Echo", "call_0", "two")], "ok", tools=[Echo()])
    await agent.reply("go")
    assert chat(agent)[1:3] == ['Echo {"text": "one"} success: echo one', 'Echo {"text": "two"} success: echo two']


async def test_a_hint_is_not_an_answer() -> None:
    agent = make_agent()
    hint = AssistantMsg("memory", [HintBlock("Lives in Hangzhou.", source="memory:user_profile.md")])
    await agent.observe(hint, marks=HINT)
    assert chat(agent) == ["recalled user_profile.md: Lives in Hangzhou."]


async def test_what_is_deleted_stays_in_the_chat_and_says_so() -> None:
    agent = make_agent("Hello.")
    question = UserMsg("user", "hi")
    watcher = Watcher(agent)
    await agent.reply(question)
    assert isinstance(agent.memory, InMemoryMemory)
    await agent.memory.delete([question.id])
    assert watcher.words == ["user: hi (deleted)", "answer: Hello."]
    await agent.memory.clear()
    assert watcher.words == ["user: hi (deleted)", "answer: Hello. (deleted)"]
    await agent.memory.add(question)
    assert watcher.words == ["user: hi", "answer: Hello. (deleted)"]


async def test_marks_changed_later_are_shown() -> None:
    agent = make_agent("Hello.")
    watcher = Watcher(agent)
    await agent.reply("hi")
    await agent.memory.update_messages_mark("planning")
    assert watcher.words[0] == "user: hi #planning"


async def test_a_snapshot_brings_what_is_new_and_flags_what_is_gone() -> None:
    agent = make_agent("Hello.")
    watcher = Watcher(agent)
    await agent.reply("hi")
    assert isinstance(agent.memory, InMemoryMemory)
    agent.memory.content = [(UserMsg("user", "from outside"), [])]
    assert watcher.words == ["user: hi (deleted)", "answer: Hello. (deleted)", "user: from outside"]


def test_notices_and_compressions_are_lines() -> None:
    view = ChatView()
    view.apply(Noticed(text="The answer was cut.", level="warning"))
    view.apply(CompressionEnded(covered=12, summary_tokens=300))
    view.apply(CompressionEnded(covered=1, summary_tokens=30))
    view.apply(CompressionEnded(error="no answer"))
    assert [in_words(item) for item in view.items] == [
        "warning: The answer was cut.",
        "information: 12 older messages are summarised in ≈300 tokens; they are kept, marked compressed.",
        "information: 1 older message is summarised in ≈30 tokens; it is kept, marked compressed.",
        "warning: The conversation was not summarised: no answer",
    ]


async def test_the_last_answer_is_the_newest_that_says_something() -> None:
    agent = make_agent("First.", "Second.")
    assert ChatView().last_answer is None
    await agent.reply("a")
    await agent.reply("b")
    last = folded(agent.trace).last_answer
    assert last is not None
    assert last.text == "Second."
