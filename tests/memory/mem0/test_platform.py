"""The hosted client of mem0, against a stub of its API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_core.errors import StorageError
from tests.memory.mem0.agents import agent_with, outcomes, written
from tests.memory.mem0.conftest import Make
from tests.memory.mem0.platform_stub import PlatformStub


@pytest.fixture
async def platform() -> AsyncIterator[PlatformStub]:
    async with PlatformStub().serving() as stub:
        yield stub


@pytest.fixture
async def client(platform: PlatformStub) -> AsyncIterator[Any]:
    from mem0 import AsyncMemoryClient

    # Its constructor asks the platform, and blocks meanwhile.
    client = await asyncio.to_thread(AsyncMemoryClient, api_key="m0-test", host=platform.url)
    yield client
    await client.async_client.aclose()


async def test_the_hosted_client_is_called_as_its_api_wants_it(make: Make, client: Any, platform: PlatformStub) -> None:
    """D03: a user id as a top-level argument of search is refused by the service."""
    middleware = make(client=client)
    agent = agent_with(middleware)
    await agent.reply("I like tea.")
    assert outcomes(agent) == ["nothing"]
    (event,) = written(agent)
    assert event.finish == "accepted"
    assert "e1" in event.detail
    again = agent_with(middleware)
    await again.reply("What do I like?")
    assert outcomes(again) == ["injected"]
    searched = [body for _, path, body in platform.requests if path == "/v3/memories/search/"]
    assert searched[0] == {"query": "I like tea.", "filters": {"user_id": "alice"}, "top_k": 5}


async def test_the_owners_own_calls_go_on_beside_ours(make: Make, client: Any) -> None:
    middleware = make(client=client)
    await agent_with(middleware).reply("I like tea.")
    answer = await client.search("tea", filters={"user_id": "alice"}, top_k=1)
    assert [row["memory"] for row in answer["results"]] == ["I like tea."]
    assert [fact.text for fact in await middleware.search("tea")] == ["I like tea."]


async def test_all_pages_are_listed_and_forgetting_says_what_it_cannot_tell(make: Make, client: Any) -> None:
    middleware = make(client=client, top_k=0)
    agent = agent_with(middleware)
    for number in range(5):
        await agent.reply(f"fact {number}")
    assert sorted(fact.text for fact in await middleware.facts.list()) == [f"fact {number}" for number in range(5)]
    purged = await middleware.facts.forget()
    assert purged.memories == 5
    assert "service" in purged.left
    assert await middleware.facts.list() == []


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (401, {}, "refused the API key"),
        (403, {}, "refused the API key"),
        (413, {}, "quota"),
        (429, {"retry-after": "7"}, "try again in 7 s"),
        (500, {}, "mem0 could not search the memories"),
        (503, {}, "cannot be reached"),
    ],
)
async def test_what_the_service_refuses_is_told_and_the_chat_goes_on(
    make: Make, client: Any, platform: PlatformStub, status: int, headers: dict[str, str], told: str
) -> None:
    platform.status, platform.headers = status, headers
    middleware = make(client=client)
    agent = agent_with(middleware)
    answer = await agent.reply("I like tea.")
    assert answer.get_text_content() == "Fine."
    assert outcomes(agent) == ["failed"]
    assert written(agent)[0].finish == "failed"
    with pytest.raises(StorageError, match=told):
        await middleware.search("tea")
