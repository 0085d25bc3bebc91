"""A model that talks to the scripted server, without waits between its tries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agent_core.message import UserMsg
from agent_core.model import ModelDelta, OpenAIChatModel, RetryPolicy
from tests.fake_server import FakeServer

QUICK = RetryPolicy(retries=2, backoff=0.0)


@pytest.fixture
async def make_model(openai_server: FakeServer) -> AsyncIterator[Callable[..., OpenAIChatModel]]:
    """Make models for the server; they are closed at the end."""
    models: list[OpenAIChatModel] = []

    def make(**fields: Any) -> OpenAIChatModel:
        models.append(OpenAIChatModel("m", **{"base_url": openai_server.base_url, "retry": QUICK, **fields}))
        return models[-1]

    yield make
    for model in models:
        await model.aclose()


@pytest.fixture
def model(make_model: Callable[..., OpenAIChatModel]) -> OpenAIChatModel:
    """A model for the server."""
    return make_model()


async def answer(model: OpenAIChatModel, *messages: Any, tools: Any = ()) -> list[ModelDelta]:
    """All deltas of an answer."""
    return [delta async for delta in model.stream(messages or [UserMsg("user", "hi")], tools)]


async def answer_until_error(
    model: OpenAIChatModel, *messages: Any, error: type[Exception]
) -> tuple[list[ModelDelta], Exception]:
    """The deltas that came before the error, and the error."""
    deltas: list[ModelDelta] = []
    with pytest.raises(error) as caught:
        async for delta in model.stream(messages or [UserMsg("user", "hi")]):
            deltas.append(delta)
    return deltas, caught.value
