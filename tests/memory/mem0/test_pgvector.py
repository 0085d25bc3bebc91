"""mem0's pgvector store from the user's own config, on a real PostgreSQL."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent_core.embedding import OpenAIEmbeddingModel
from agent_core.errors import StorageError
from tests.databases import postgresql_url
from tests.fake_server import FakeServer
from tests.memory.mem0.agents import agent_with, changes, outcomes, written
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make


def pgvector(collection: str, url: str = "", **more: Any) -> dict[str, Any]:
    url = re.sub(r"\+\w+", "", url or postgresql_url(), count=1)
    settings = {"connection_string": url, "collection_name": collection, "hnsw": False, "diskann": False, **more}
    return {"vector_store": {"provider": "pgvector", "config": settings}}


async def test_what_is_said_is_stored_found_replaced_and_forgotten(make: Make, brain: Brain) -> None:
    config = pgvector("facts_whole")
    brain.will_extract(memories("Alice lives in Oslo", "Alice likes tea"))
    middleware = make(mem0_config=config)
    agent = agent_with(middleware)
    await agent.reply("I live in Oslo and like tea.")
    assert changes(agent) == [("added", "Alice lives in Oslo"), ("added", "Alice likes tea")]

    def replacing(request: Any) -> str:
        prompt = request.messages[-1]["content"]
        number = next(one for one in "01" if f'"id": "{one}", "text": "Alice lives in Oslo"' in prompt)
        return memories({"text": "Alice lives in Rome", "replaces": [number]})

    brain.will_extract(replacing)
    await agent.reply("I moved to Rome.")
    assert changes(agent)[-1] == ("superseded", "Alice lives in Oslo")
    await middleware.aclose()

    again = make(mem0_config=config)
    other = agent_with(again)
    await other.reply("Where does Alice live?")
    assert outcomes(other) == ["injected"]
    facts = again.facts
    assert len(await facts.list()) == 3
    best = (await facts.search("Alice likes tea"))[0]
    assert await facts.history(best.id)
    purged = await facts.forget()
    assert purged.memories == 3
    assert purged.history >= 4
    assert await facts.list() == []


async def test_users_are_told_apart(make: Make) -> None:
    config = pgvector("facts_users")
    await make(mem0_config=config).facts.add("Alice likes tea")
    bob = make(user_id="bob", mem0_config=config).facts
    assert await bob.list() == []
    await bob.add("Bob likes coffee")
    await bob.forget()
    assert [fact.text for fact in await make(mem0_config=config).facts.list()] == ["Alice likes tea"]


async def test_a_table_of_other_dimensions_is_told_with_both_numbers(
    make: Make, brain: Brain, openai_server: FakeServer
) -> None:
    """D05: the table is there already, and mem0 does not look."""
    config = pgvector("facts_dimensions")
    await make(mem0_config=config).facts.add("Alice likes tea")
    larger = OpenAIEmbeddingModel("large", base_url=openai_server.base_url, dimensions=128)
    agent = agent_with(make(mem0_config=config, embedding_model=larger))
    await agent.reply("I like coffee.")
    assert outcomes(agent) == ["failed"]
    (event,) = written(agent)
    assert event.finish == "failed"
    assert "64" in event.detail
    assert "128" in event.detail
    await larger.aclose()
    assert [fact.text for fact in await make(mem0_config=config).facts.list()] == ["Alice likes tea"]


async def test_a_database_that_cannot_be_reached_is_told_at_once_with_the_reason(make: Make) -> None:
    middleware = make(mem0_config=pgvector("facts_gone", "postgresql://nobody:zanzibar@127.0.0.1:1/none"))
    agent = agent_with(middleware, "Fine.", memories())
    answer = await agent.reply(" ")
    assert answer.get_text_content() == "Fine."
    with pytest.raises(StorageError, match=r"open the memory: .*127\.0\.0\.1.*refused") as caught:
        await middleware.search("tea")
    assert "zanzibar" not in str(caught.value)


async def test_a_database_that_stops_answering_is_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    middleware = make(mem0_config=pgvector("facts_silent"))
    await middleware.start()
    monkeypatch.setattr("memory.mem0.store.SECONDS", 0.2)
    pool = middleware.store.client.vector_store.connection_pool
    taken = [pool.getconn() for _ in range(pool.max_size)]
    with pytest.raises(StorageError, match="too long to search the memories"):
        await middleware.search("tea")
    for connection in taken:
        pool.putconn(connection)
