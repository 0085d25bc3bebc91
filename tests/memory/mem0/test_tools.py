from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.errors import StorageError, ToolError
from agent_core.event import PermissionAsked, ToolEnded
from agent_core.message import ToolCallBlock, ToolResultBlock
from agent_core.permission import PermissionMode
from agent_core.tool.base import ToolBase
from memory.mem0 import Mem0Middleware
from tests.memory.mem0.agents import agent_with, changes, written
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make
from tests.memory.mem0.fakes import FakeClient


async def tools_of(middleware: Mem0Middleware) -> tuple[ToolBase, ToolBase]:
    search, add = await middleware.list_tools()
    assert (search.name, add.name) == ("search_memory", "add_memory")
    return search, add


def calling(name: str, **arguments: Any) -> list[ToolCallBlock]:
    return [ToolCallBlock("c1", name, json.dumps(arguments, ensure_ascii=False))]


async def result_of(agent: Agent) -> str:
    (result,) = [r for entry in await agent.memory.entries() for r in entry.msg.get_content_blocks(ToolResultBlock)]
    return result.text()


async def test_each_keyword_is_a_search_of_its_own_and_results_are_merged(make: Make) -> None:
    client = FakeClient()
    client.will_find("Alice likes tea", "Alice lives in Rome")
    search, _ = await tools_of(make(client=client))
    found = await search.call(keywords=["tea", " home ", "tea", ""], limit=7)
    assert sorted(arguments["query"] for _, arguments in client.calls) == ["home", "tea"]
    assert {arguments["top_k"] for _, arguments in client.calls} == {7}
    assert found == "- Alice likes tea [score 0.90]\n- Alice lives in Rome [score 0.80]"


async def test_the_limit_is_top_k_unless_given_and_holds_for_all_together(make: Make) -> None:
    client = FakeClient()
    client.will_find("one", "two", "three")
    search, _ = await tools_of(make(client=client, top_k=2))
    found = str(await search.call(keywords=["a", "b"]))
    assert len(found.splitlines()) == 2
    assert {arguments["top_k"] for _, arguments in client.calls} == {2}


async def test_one_text_is_a_list_of_one_and_nulls_are_none(make: Make) -> None:
    """D14: a string was taken for a list of its letters."""
    client = FakeClient()
    search, _ = await tools_of(make(client=client))
    await search.call(keywords="green tea")
    await search.call(keywords=[None, "tea"])
    assert [arguments["query"] for _, arguments in client.calls] == ["green tea", "tea"]


@pytest.mark.parametrize("keywords", [[], [""], ["  ", "\n"], "", [None]])
async def test_without_keywords_nothing_is_searched_and_that_is_said(make: Make, keywords: list[str]) -> None:
    client = FakeClient()
    search, _ = await tools_of(make(client=client))
    assert "Nothing was searched" in str(await search.call(keywords=keywords))
    assert client.calls == []


async def test_finding_nothing_is_said(make: Make) -> None:
    search, _ = await tools_of(make(client=FakeClient()))
    assert await search.call(keywords=["x"]) == "No memory fits these keywords."


async def test_a_search_that_fails_is_told_and_one_of_several_costs_only_itself(make: Make) -> None:
    client = FakeClient()
    client.will_find("Alice likes tea")
    search, _ = await tools_of(make(client=client))
    client.will_fail(RuntimeError("boom"))
    found = str(await search.call(keywords=["a", "b"]))
    assert "Alice likes tea" in found
    assert "1 of 2 searches failed" in found
    client.will_fail(RuntimeError("boom"))
    with pytest.raises(ToolError, match=r"could not be searched: .*boom"):
        await search.call(keywords=["a"])


async def test_only_the_content_is_stored_and_the_thinking_is_echoed(make: Make, brain: Brain) -> None:
    brain.will_extract(memories("Alice lives in Hangzhou", "Alice likes tea"))
    middleware = make(mode="agent_control")
    _, add = await tools_of(middleware)
    call = calling(
        "add_memory", thinking="she will ask again", content=["Alice lives in Hangzhou.", "Alice likes tea."]
    )
    agent = agent_with(middleware, call, "Noted.", tools=[add])
    await agent.reply("Hi")
    assert await result_of(agent) == (
        "Stored: Alice lives in Hangzhou\nStored: Alice likes tea\nThinking: she will ask again"
    )
    asked = str(brain.asked[0].messages)
    assert "Alice lives in Hangzhou.\\nAlice likes tea." in asked
    assert "she will ask again" not in asked
    assert changes(agent) == [("added", "Alice lives in Hangzhou"), ("added", "Alice likes tea")]
    assert {fact.text for fact in await middleware.facts.list()} == {"Alice lives in Hangzhou", "Alice likes tea"}


async def test_the_tools_are_allowed_without_asking(make: Make) -> None:
    middleware = make(client=FakeClient())
    tools = await tools_of(middleware)
    for mode in (PermissionMode.DEFAULT, PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK):
        calls = [
            *calling("search_memory", keywords=["x"]),
            ToolCallBlock("c2", "add_memory", '{"thinking":"","content":["y"]}'),
        ]
        agent = agent_with(middleware, calls, "Done.", tools=tools)
        agent.state.permission_context.mode = mode
        await agent.reply("Hi")
        assert agent.trace.of(PermissionAsked) == []
        assert [event.state for event in agent.trace.of(ToolEnded)] == ["success", "success"]


async def test_what_extraction_makes_nothing_of_is_kept_as_given_once(make: Make, brain: Brain) -> None:
    middleware = make()
    _, add = await tools_of(middleware)
    first = str(await add.call(thinking="", content=["The code is heron.", "用户住在杭州"]))
    second = str(await add.call(thinking="", content=["the code is HERON", "用户住在杭州。"]))
    assert first.startswith("Stored: The code is heron.\nStored: 用户住在杭州")
    assert second.startswith("Known already: The code is heron.\nKnown already: 用户住在杭州")
    assert len(brain.asked) == 2
    assert len(await middleware.facts.list()) == 2


async def test_what_could_not_be_extracted_is_kept_as_given_and_that_is_said(make: Make, brain: Brain) -> None:
    brain.will_extract("nonsense", "nonsense")
    _, add = await tools_of(make())
    told = str(await add.call(thinking="", content=["The code is heron."]))
    assert told.startswith("Stored: The code is heron.\n(No memories could be extracted")


async def test_what_a_service_takes_for_later_is_not_stored_twice(make: Make) -> None:
    client = FakeClient()
    client.will_answer({"status": "PENDING", "event_id": "e-1"})
    _, add = await tools_of(make(client=client))
    told = str(await add.call(thinking="", content=["x"]))
    assert told.startswith("Accepted\n(accepted as e-1")
    assert len(client.added()) == 1


async def test_a_client_that_says_nothing_is_not_believed_to_have_stored(make: Make) -> None:
    """D10: add returns None."""
    client = FakeClient()
    client.will_answer(None)
    middleware = make(client=client)
    _, add = await tools_of(middleware)
    agent = agent_with(middleware, calling("add_memory", thinking="", content=["x"]), "Done.", tools=[add])
    await agent.reply("Hi")
    assert (await result_of(agent)).startswith("Perhaps stored")
    assert written(agent)[0].finish == "unknown"


@pytest.mark.parametrize("content", [[], [""], ["  "]])
async def test_nothing_to_store_is_an_error(make: Make, content: list[str]) -> None:
    _, add = await tools_of(make(client=FakeClient()))
    with pytest.raises(ToolError, match="nothing to store"):
        await add.call(thinking="", content=content)


async def test_a_store_that_fails_is_told_to_the_model(make: Make) -> None:
    client = FakeClient()
    client.will_fail(StorageError("disk full"))
    middleware = make(client=client, mode="agent_control")
    _, add = await tools_of(middleware)
    agent = agent_with(middleware, calling("add_memory", thinking="", content=["x"]), "Done.", tools=[add])
    await agent.reply("Hi")
    assert "disk full" in await result_of(agent)


async def test_a_new_fact_as_given_replaces_the_one_it_makes_untrue(make: Make) -> None:
    middleware = make(chat_model=None)
    _, add = await tools_of(middleware)
    await add.call(thinking="", content=["I live in Oslo.", "I like tea."])
    told = str(await add.call(thinking="", content=["I now live in Rome."]))
    assert told.startswith("Stored: I now live in Rome.\nMarked as replaced: I live in Oslo.")
    facts = {fact.text: fact for fact in await middleware.facts.list()}
    assert facts["I live in Oslo."].superseded_by == facts["I now live in Rome."].id
    assert facts["I like tea."].superseded_by == ""


async def test_an_old_fact_that_holds_again_is_stored_anew(make: Make) -> None:
    middleware = make(chat_model=None)
    _, add = await tools_of(middleware)
    for place in ("Oslo", "Rome", "Oslo"):
        told = str(await add.call(thinking="", content=[f"I live in {place}."]))
    assert told.startswith("Stored: I live in Oslo.\nMarked as replaced: I live in Rome.")
