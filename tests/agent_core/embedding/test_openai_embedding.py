"""`OpenAIEmbeddingModel` over real HTTP."""

from __future__ import annotations

import pytest

from agent_core.embedding import OpenAIEmbeddingModel
from agent_core.errors import ModelError, ModelNotFound, ModelOverloaded, ModelTimeout, ModelUnauthorized
from agent_core.model import RetryPolicy, TimeLimits
from tests.fake_server import SILENCE, http_error, json_answer, raw
from tests.fake_server.vectors import vector

QUICK = RetryPolicy(retries=2, backoff=0.0)


@pytest.fixture
async def make_embedder(openai_server):
    made = []

    def make(**fields):
        made.append(OpenAIEmbeddingModel("e", **{"base_url": openai_server.base_url, "retry": QUICK, **fields}))
        return made[-1]

    yield make
    for embedder in made:
        await embedder.aclose()


async def test_one_vector_a_text_in_order(openai_server, make_embedder):
    embedder = make_embedder()
    assert embedder.dimensions is None
    assert await embedder.embed(["tea", "coffee", "茶"]) == [vector("tea"), vector("coffee"), vector("茶")]
    assert embedder.dimensions == 64
    assert openai_server.requests[0].body == {
        "model": "e",
        "input": ["tea", "coffee", "茶"],
        "encoding_format": "float",
    }


async def test_many_texts_go_in_batches(openai_server, make_embedder):
    texts = [f"text {number}" for number in range(7)]
    assert await make_embedder(batch_size=3).embed(texts) == [vector(text) for text in texts]
    assert [len(request.body["input"]) for request in openai_server.requests] == [3, 3, 1]


async def test_no_texts_cost_no_request(openai_server, make_embedder):
    assert await make_embedder().embed([]) == []
    assert openai_server.requests == []


async def test_the_wanted_length_is_asked_for(openai_server, make_embedder):
    [found] = await make_embedder(dimensions=8).embed(["tea"])
    assert len(found) == 8
    assert openai_server.requests[0].body["dimensions"] == 8


async def test_empty_and_malformed_texts_are_made_acceptable(openai_server, make_embedder):
    assert len(await make_embedder().embed(["", "hi \ud83d"])) == 2
    assert openai_server.requests[0].body["input"] == [" ", "hi \ufffd"]


async def test_vectors_are_put_in_order_by_their_index(openai_server, make_embedder):
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    openai_server.play(json_answer({"data": data}))
    assert await make_embedder().embed(["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"data": []},
        {"data": [{"embedding": [1]}]},
        {"data": [{"embedding": [1]}, {"embedding": [1, 2]}]},
        {"data": [{"embedding": []}, {"embedding": []}]},
        {"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]},
        {"data": [None, None]},
    ],
)
async def test_an_answer_that_does_not_fit_is_an_error(openai_server, make_embedder, document):
    openai_server.play(json_answer(document))
    with pytest.raises(ModelError, match="no list of vectors"):
        await make_embedder().embed(["a", "b"])


async def test_failures_are_those_of_chat_models(openai_server, make_embedder):
    openai_server.play(http_error(401, "no"))
    with pytest.raises(ModelUnauthorized):
        await make_embedder().embed(["a"])
    openai_server.play(http_error(404, "no"))
    with pytest.raises(ModelNotFound):
        await make_embedder().embed(["a"])
    openai_server.play(*[http_error(503, "busy")] * 3)
    with pytest.raises(ModelOverloaded):
        await make_embedder().embed(["a"])


async def test_an_error_in_a_successful_answer_is_an_error(openai_server, make_embedder):
    """S09: the kind."""
    openai_server.play(json_answer({"error": {"code": 502, "message": "worker limit"}}))
    with pytest.raises(ModelOverloaded, match="worker limit"):
        await make_embedder().embed(["a"])


async def test_a_busy_endpoint_is_asked_again(openai_server, make_embedder):
    openai_server.play(http_error(429, "slow"))
    assert await make_embedder().embed(["tea"]) == [vector("tea")]


async def test_a_silent_endpoint_is_given_up(openai_server, make_embedder):
    openai_server.play(raw(SILENCE))
    with pytest.raises(ModelTimeout, match=r"0\.05 s"):
        await make_embedder(limits=TimeLimits(first_token=0.05)).embed(["a"])
