from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_core.embedding import OpenAIEmbeddingModel
from agent_core.errors import StorageError
from agent_core.event import FactChange
from memory.mem0.adding import add_as_given
from memory.mem0.forget import Purged
from memory.search import bundled
from memory.search.bundled import Loaded
from tests.fake_server import FakeServer, Gate, reply, text
from tests.memory.mem0.agents import agent_with
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make
from tests.memory.mem0.fakes import FakeClient

SECRET = "zanzibar"


async def test_all_memories_are_listed_however_many_the_newest_first(make: Make) -> None:
    middleware = make(chat_model=None)
    await add_as_given(middleware.store, [f"fact number n{number}" for number in range(70)], middleware.scope)
    facts = await middleware.facts.list()
    assert [fact.text for fact in facts] == [f"fact number n{number}" for number in reversed(range(70))]
    assert all(fact.created and fact.id for fact in facts)


async def test_memories_are_searched_with_scores_times_and_reasons(make: Make) -> None:
    facts = make().facts
    await facts.add("I live in Hangzhou")
    await facts.add("I like tea")
    best = (await facts.search("where do I live"))[0]
    assert (best.text, best.score) == ("I live in Hangzhou", 1.0)
    assert best.why.startswith("shares live")
    assert best.created is not None


async def test_a_memory_is_added_once(make: Make) -> None:
    facts = make().facts
    first, second = await facts.add("I like tea."), await facts.add(" i like TEA ")
    assert first.finish == "stored"
    assert [(change.action, change.memory_id) for change in second.changes] == [("known", first.changes[0].memory_id)]
    with pytest.raises(ValueError, match="must say something"):
        await facts.add("  ")


async def test_a_memory_is_edited_and_its_history_tells(make: Make) -> None:
    facts = make().facts
    memory_id = (await facts.add("I live in Oslo")).changes[0].memory_id
    assert await facts.update(memory_id, " I live in Rome ") == FactChange(memory_id, "I live in Rome", "updated")
    assert await facts.delete(memory_id) == FactChange(memory_id, "I live in Rome", "deleted")
    assert [(change.event, change.before, change.after) for change in await facts.history(memory_id)] == [
        ("add", "", "I live in Oslo"),
        ("update", "I live in Oslo", "I live in Rome"),
        ("delete", "I live in Rome", ""),
    ]
    assert all(change.at for change in await facts.history(memory_id))
    assert await facts.list() == []
    with pytest.raises(ValueError, match="must say something"):
        await facts.update(memory_id, "")


@pytest.mark.parametrize("memory_id", ["", "no-such-id"])
async def test_a_memory_that_is_not_there_is_told(make: Make, memory_id: str) -> None:
    facts = make().facts
    with pytest.raises(StorageError, match="has no memory of the id"):
        await facts.update(memory_id, "x")
    with pytest.raises(StorageError, match="has no memory of the id"):
        await facts.delete(memory_id)
    assert await facts.history(memory_id) == []


async def test_nobody_can_touch_the_memories_of_others(make: Make) -> None:
    memory_id = (await make().facts.add("I like tea")).changes[0].memory_id
    bob = make(user_id="bob").facts
    with pytest.raises(StorageError, match="bob has no memory"):
        await bob.update(memory_id, "x")
    with pytest.raises(StorageError, match="bob has no memory"):
        await bob.delete(memory_id)
    assert await bob.list() == []
    assert await bob.search("tea") == []


async def test_memories_of_all_agents_are_listed(make: Make) -> None:
    for agent in (None, "one", "two"):
        await make(agent_id=agent).facts.add(f"told to {agent}")
    facts = await make(agent_id="one").facts.list()
    assert [(fact.text, fact.agent) for fact in facts] == [
        ("told to two", "two"),
        ("told to one", "one"),
        ("told to None", ""),
    ]


def holding(folder: Path, text: str) -> list[str]:
    """The files that hold a text, whatever is meant by it."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def test_forgetting_leaves_nothing_anywhere_and_says_what_there_was(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    """D12: a reset left the stored messages behind."""
    brain.will_extract(memories(f"The word is {SECRET}", "Alice likes tea"), "no", "no")
    middleware = make()
    agent = agent_with(middleware)
    await agent.reply(f"The word is {SECRET}.")
    await agent.reply(f"I said {SECRET}.")
    facts = middleware.facts
    edited, deleted = await facts.list()
    await facts.update(edited.id, f"{SECRET} is the word")
    await facts.delete(deleted.id)
    bob = make(user_id="bob")
    await bob.facts.add("bob likes tea")
    assert len(holding(tmp_path, SECRET)) >= 3
    purged = await facts.forget()
    assert (purged.memories, purged.waiting, purged.left) == (1, 1, "")
    assert purged.history >= 5
    assert purged.messages >= 2
    assert "1 memories" in str(purged)
    assert holding(tmp_path, SECRET) == []
    assert await facts.list() == []
    assert await facts.search(SECRET) == []
    assert await facts.history(edited.id) == []
    assert [fact.text for fact in await bob.facts.list()] == ["bob likes tea"]
    assert len(await bob.facts.history((await bob.facts.list())[0].id)) == 1
    assert await facts.forget() == Purged()


async def test_a_store_that_was_used_before_is_purged_too(make: Make, tmp_path: Path) -> None:
    """D12: the facts of the default store, once the config names another one."""
    await make().facts.add(f"The word is {SECRET}")
    await make(user_id="bob").facts.add("bob likes tea")
    settings = {"path": str(tmp_path / "qdrant"), "collection_name": "facts"}
    grown = make(mem0_config={"vector_store": {"provider": "qdrant", "config": settings}})
    await grown.facts.add("Alice likes coffee")
    purged = await grown.facts.forget()
    assert purged.memories == 2
    assert not purged.left
    assert holding(tmp_path, SECRET) == []
    bob = make(user_id="bob").facts
    assert [fact.text for fact in await bob.list()] == ["bob likes tea"]
    assert await bob.history((await bob.list())[0].id)


async def test_a_program_that_reads_old_pages_is_told_of(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.mem0.sqlite_file.PATIENCE", 0.05)
    facts = make().facts
    await facts.add(f"The word is {SECRET}")
    reader = sqlite3.connect(tmp_path / "mem0" / "memory.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memories").fetchone() == (1,)
    assert "is reading the facts" in (await facts.forget()).left
    reader.close()
    assert not (await facts.forget()).left
    assert holding(tmp_path, SECRET) == []


async def test_another_users_history_is_not_shown(make: Make) -> None:
    memory_id = (await make().facts.add("Alice likes tea")).changes[0].memory_id
    with pytest.raises(StorageError, match="bob has no memory of the id"):
        await make(user_id="bob").facts.history(memory_id)


async def test_what_is_being_written_when_a_user_is_forgotten_is_forgotten_too(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    gate = Gate()
    brain.will_extract(reply(gate, text(memories(SECRET))))
    middleware = make(await_write=False)
    await agent_with(middleware).reply(f"The word is {SECRET}.")
    await gate.reached()
    assert (await middleware.facts.forget()).waiting == 1
    gate.open()
    assert holding(tmp_path, SECRET) == []
    assert await middleware.facts.list() == []


async def test_users_whose_names_look_alike_are_told_apart_when_forgetting(make: Make, brain: Brain) -> None:
    for user in ("al", "al&user_id=ice", "al%"):
        brain.will_extract("no", "no", memories(f"{user} likes tea"))
        middleware = make(user_id=user)
        agent = agent_with(middleware)
        await agent.reply("one")
        await agent.reply("two")
        await middleware.aclose()
    await make(user_id="al").facts.forget()
    purged = await make(user_id="al&user_id=ice").facts.forget()
    assert (purged.memories, purged.messages) == (1, 2)
    purged = await make(user_id="al%").facts.forget()
    assert (purged.memories, purged.messages) == (1, 2)


async def test_reindexing_makes_all_vectors_anew_with_progress(
    make: Make, openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = make(chat_model=None)
    await add_as_given(before.store, [f"fact number n{number}" for number in range(100)], before.scope)
    await before.aclose()
    larger = OpenAIEmbeddingModel("large", base_url=openai_server.base_url, dimensions=128)
    facts = make(embedding_model=larger).facts
    seen: list[tuple[int, int]] = []
    assert await facts.reindex(lambda done, total: seen.append((done, total))) == 100
    assert seen[-1] == (100, 100)
    assert len(seen) > 1
    assert (await facts.search("fact number n42"))[0].text == "fact number n42"
    await make(embedding_model=larger).start()
    monkeypatch.setattr(bundled, "_loaded", Loaded(None, "it is not installed"))
    with pytest.raises(StorageError, match="it is not installed"):
        await make(embedding_model=None).facts.reindex()
    await larger.aclose()


async def test_only_the_default_store_is_embedded_anew(make: Make) -> None:
    for options in ({"client": FakeClient()}, {"mem0_config": {"vector_store": {"provider": "qdrant"}}}):
        with pytest.raises(StorageError, match="embedded anew"):
            await make(**options).facts.reindex()
