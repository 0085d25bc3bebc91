"""What belongs to a reply although it was stored before: the question that it answers, and what it goes on with."""

from __future__ import annotations

from agent_core.agent import Agent
from agent_core.history import RUNNING
from agent_core.marks import MemoryFilter
from agent_core.message import UserMsg
from agent_core.model.scripted_model import ScriptedChatModel
from tests.agent_core.agents import Echo, make_agent, use


def sent_last(agent: Agent) -> list[str | None]:
    """The texts of the last request, but for the system prompt."""
    assert isinstance(agent.model, ScriptedChatModel)
    return [msg.get_text_content() for msg in agent.model.requests[-1].messages[1:]]


async def test_a_reply_without_inputs_goes_on_with_what_the_user_said_last_whatever_the_filter() -> None:
    """As after a failure, when it is tried again: a question is never filtered out of its own answer."""
    agent = make_agent("one", [use("Echo")], "three", tools=[Echo()])
    await agent.reply("plain")
    agent.memory_filter = MemoryFilter(mark="keep")
    await agent.observe(["in two", "messages"])
    await agent.reply()
    assert sent_last(agent) == ["in two", "messages", None, None]
    sent = [part for part in agent.prompt_ledger.parts if part.kind == "message" and part.included]
    assert [part.reason for part in sent] == [RUNNING] * 4


async def test_what_has_come_since_goes_too() -> None:
    agent = make_agent([use("Echo")], "end", tools=[Echo()], max_iters=1)
    agent.memory_filter = MemoryFilter(mark="keep")
    await agent.reply("question")
    await agent.reply()
    assert sent_last(agent)[:3] == ["question", None, None]


async def test_a_question_that_is_stored_already_belongs_to_the_reply_that_answers_it() -> None:
    agent = make_agent("one", "two")
    await agent.reply("plain")
    agent.memory_filter = MemoryFilter(mark="keep")
    question = UserMsg("u", "question")
    await agent.observe(question)
    await agent.reply(question)
    assert sent_last(agent) == ["question"]


async def test_without_any_words_of_the_user_the_filter_governs_all() -> None:
    agent = make_agent("one")
    await agent.memory.add(UserMsg("u", "gone"))
    await agent.memory.clear()
    agent.memory_filter = MemoryFilter(mark="keep")
    await agent.reply()
    assert sent_last(agent) == []


async def test_as_many_rounds_as_it_wants() -> None:
    agent = make_agent(*[[use("Echo")]] * 60, "done", tools=[Echo()], max_iters=None)
    assert (await agent.reply("q")).content == "done"
