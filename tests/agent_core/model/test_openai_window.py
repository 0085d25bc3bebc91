"""The window that an endpoint reports."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.model import RetryPolicy
from tests.agent_core.model.conftest import answer
from tests.fake_server import reply, text


async def test_it_is_found_where_the_endpoint_reports_it(openai_server, make_model):
    openai_server.models = {"m": {"max_model_len": 4096}}
    model = make_model()
    assert await model.discover_context_size() == 4096
    assert model.context_size == 4096


async def test_what_the_caller_said_is_kept(openai_server, make_model):
    openai_server.models = {"m": {"context_length": 4096}}
    model = make_model(context_size=100)
    assert await model.discover_context_size() == 100


async def test_it_stays_unknown_when_the_endpoint_says_nothing(model):
    assert await model.discover_context_size() is None


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1/v1", "{server}/no"])
async def test_a_failure_is_no_error(openai_server, make_model, base_url):
    model = make_model(base_url=base_url.format(server=openai_server.base_url), retry=RetryPolicy(retries=0))
    assert await model.discover_context_size() is None


async def test_no_reply_waits_for_it(openai_server, model):
    openai_server.play(reply(text("ok")))
    discovery = asyncio.ensure_future(model.discover_context_size())
    await answer(model)
    assert openai_server.chats
    await discovery
