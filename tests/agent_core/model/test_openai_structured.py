"""`OpenAIChatModel.generate_structured`: the strictest means that an endpoint has, found by trying."""

from __future__ import annotations

import pytest

from agent_core.errors import ModelBadRequest, ModelOverloaded, ModelUnauthorized, StructuredOutputError
from agent_core.event import Usage
from agent_core.message import UserMsg
from agent_core.model import EndpointProfile, RetryPolicy
from tests.fake_server import FakeServer, Strictness, http_error, reply, text, tool_call

SCHEMA = {"type": "object", "properties": {"files": {"type": "array"}}, "required": ["files"]}
ASK = [UserMsg("user", "which files?")]
ANSWER = '{"files": ["a.md"]}'


def means(request) -> str:
    """By what an object was asked for."""
    wanted = request.body.get("response_format")
    if wanted:
        return wanted["type"]
    return "tool" if "tool_choice" in request.body else "prompt"


def means_tried(server: FakeServer) -> list[str]:
    return [means(request) for request in server.requests]


async def test_by_schema(openai_server, model):
    openai_server.play(reply(text(ANSWER, pieces=4), usage=(9, 4)))
    reply_ = await model.generate_structured(ASK, SCHEMA)
    assert reply_.value == {"files": ["a.md"]}
    assert reply_.usage == Usage(9, 4)
    [request] = openai_server.requests
    assert request.body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA}


async def test_the_wish_is_in_words_too(openai_server, model):
    """An endpoint that ignores the field in silence is asked all the same."""
    openai_server.play(reply(text(f"Of course!\n```json\n{ANSWER}\n```")))
    assert (await model.generate_structured(ASK, SCHEMA)).value == {"files": ["a.md"]}
    assert "JSON" in openai_server.requests[0].messages[-1]["content"]


async def test_a_means_that_is_refused_is_not_asked_for_again(openai_server, model):
    """S28: a 400 leads on to another request, once."""
    openai_server.strictness = Strictness(response_formats=("json_object",))
    openai_server.play(reply(text(ANSWER)), reply(text(ANSWER)))
    await model.generate_structured(ASK, SCHEMA)
    await model.generate_structured(ASK, SCHEMA)
    assert means_tried(openai_server) == ["json_schema", "json_object", "json_object"]


@pytest.mark.parametrize(
    ("status", "said"),
    [(500, "failed to parse grammar"), (404, "No endpoints found that support response_format"), (501, "json_schema")],
)
async def test_a_means_that_is_lacking_by_another_status_leads_on(openai_server, make_model, status, said):
    openai_server.play(http_error(status, said), reply(text(ANSWER)))
    model = make_model(retry=RetryPolicy(retries=0))
    assert (await model.generate_structured(ASK, SCHEMA)).value
    assert means_tried(openai_server) == ["json_schema", "json_object"]


async def test_by_a_tool(openai_server, model):
    openai_server.strictness = Strictness(refused_fields=("response_format",))
    openai_server.play(reply(tool_call("answer", ANSWER, pieces=3)))
    assert (await model.generate_structured(ASK, SCHEMA)).value == {"files": ["a.md"]}
    assert means_tried(openai_server) == ["json_schema", "json_object", "tool"]


async def test_by_words_alone(openai_server, model):
    openai_server.strictness = Strictness(refused_fields=("response_format", "tools"))
    openai_server.play(reply(text(f"Here: {ANSWER}")))
    assert (await model.generate_structured(ASK, SCHEMA)).value == {"files": ["a.md"]}
    assert means_tried(openai_server) == ["json_schema", "json_object", "tool", "prompt"]


async def test_an_answer_of_another_form_leads_on(openai_server, model):
    openai_server.play(reply(text("no idea")), reply(text('{"else": 1}')), reply(tool_call("answer", ANSWER)))
    assert (await model.generate_structured(ASK, SCHEMA)).value == {"files": ["a.md"]}
    assert model.profile.structured == "tool"


async def test_when_nothing_helps_it_is_said(openai_server, model):
    openai_server.play(*[reply(text("no idea"))] * 4)
    with pytest.raises(StructuredOutputError, match="no idea"):
        await model.generate_structured(ASK, SCHEMA)


async def test_it_starts_with_what_the_profile_says(openai_server, make_model):
    openai_server.play(reply(text(ANSWER)))
    await make_model(profile=EndpointProfile(structured="prompt")).generate_structured(ASK, SCHEMA)
    assert means_tried(openai_server) == ["prompt"]


async def test_a_refusal_for_another_reason_is_not_repeated_in_other_words(openai_server, model):
    """S28: never blindly repeated."""
    openai_server.play(http_error(400, "temperature must be 1"))
    with pytest.raises(ModelBadRequest):
        await model.generate_structured(ASK, SCHEMA)
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    ("status", "error"), [(401, ModelUnauthorized), (429, ModelOverloaded), (503, ModelOverloaded)]
)
async def test_other_errors_are_not_tried_around(openai_server, make_model, status, error):
    openai_server.play(http_error(status, "no"))
    with pytest.raises(error):
        await make_model(retry=RetryPolicy(retries=0)).generate_structured(ASK, SCHEMA)
    assert len(openai_server.requests) == 1
