"""A configured embedding model, asked over real HTTP from the threads that search."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from agent_core.embedding import EmbeddingModelBase, OpenAIEmbeddingModel
from agent_core.errors import ModelError, ModelUnauthorized
from agent_core.model import RetryPolicy
from memory.search import EndpointEmbedder, HybridSearch, Passage, Progress
from tests.fake_server import http_error
from tests.fake_server.vectors import vector


@pytest.fixture
async def model(openai_server):
    model = OpenAIEmbeddingModel("e", base_url=openai_server.base_url, retry=RetryPolicy(retries=0))
    yield model
    await model.aclose()


async def test_the_length_of_its_vectors_is_asked_for_where_nobody_knows_it(openai_server, model) -> None:
    embedder = await EndpointEmbedder.open(model)
    assert embedder.dimensions == 64
    assert embedder.model_id == f"{openai_server.base_url}:e:64"
    assert len(openai_server.requests) == 1
    await EndpointEmbedder.open(model)
    assert len(openai_server.requests) == 1


async def test_vectors_come_in_order_and_of_length_one(model) -> None:
    embedder = await EndpointEmbedder.open(model)
    rows = await asyncio.to_thread(embedder.embed_passages, ["tea", "two\ncoffees", "茶\0"])
    assert np.allclose(rows, [vector("tea"), vector("two coffees"), vector("茶")])
    assert np.allclose(await asyncio.to_thread(embedder.embed_queries, ["tea"]), [vector("tea")])


async def test_a_refusal_is_the_models_error(openai_server, model) -> None:
    embedder = await EndpointEmbedder.open(model)
    openai_server.play(http_error(401, "no such key"))
    with pytest.raises(ModelUnauthorized):
        await asyncio.to_thread(embedder.embed_queries, ["tea"])


async def test_an_answer_of_another_length_is_an_error(model) -> None:
    model.dimensions = 5
    embedder = await EndpointEmbedder.open(model)
    with pytest.raises(ModelError, match=r"gave \(1, 64\) numbers instead of \(1, 5\)"):
        await asyncio.to_thread(embedder.embed_queries, ["tea"])


async def test_local_search_works_with_it(model) -> None:
    search: HybridSearch[str] = HybridSearch(await EndpointEmbedder.open(model))
    await asyncio.to_thread(search.add, [Passage("tea", "a pot of tea"), Passage("home", "Hangzhou")])
    assert await asyncio.to_thread(search.wait_embedded, 60)
    (first, *_) = await asyncio.to_thread(search.search, "where is the teapot of the pot?", 2)
    assert first.key == "tea"
    assert first.semantic is not None
    assert search.progress() == Progress(2, 2)
    search.close()


class Silent(EmbeddingModelBase):
    """Never answers."""

    model = "silent"
    dimensions = 3

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def embed(self, texts):
        self.asked.set()
        await asyncio.Event().wait()
        return []


@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "left"])
def test_a_thread_does_not_wait_for_a_loop_that_has_ended(is_cancelled: bool) -> None:
    async def ask() -> tuple[EndpointEmbedder, Future[object]]:
        model = Silent()
        embedder = await EndpointEmbedder.open(model)
        answer = pool.submit(embedder.embed_queries, ["tea"])
        await model.asked.wait()
        return embedder, answer

    loop = asyncio.new_event_loop()
    with ThreadPoolExecutor(1) as pool:
        embedder, answer = asyncio.run(ask()) if is_cancelled else loop.run_until_complete(ask())
        with pytest.raises(ModelError, match="event loop has ended"):
            answer.result(60)
        with pytest.raises(ModelError, match="event loop has ended"):
            embedder.embed_queries(["tea"])
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
