"""`OpenAIChatModel` against endpoints that refuse, limit, lack something or are not there."""

from __future__ import annotations

import re
import socket
import traceback

import pytest

from agent_core.errors import (
    ContextOverflow,
    ModelBadRequest,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelUnauthorized,
    ModelUnreachable,
)
from agent_core.message import AssistantMsg, SystemMsg, ThinkingBlock, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model import EndpointProfile, Finished, OpenAIChatModel, Retrying, RetryPolicy, TextDelta, TimeLimits
from tests.agent_core.model.conftest import answer, answer_until_error
from tests.fake_server import Answer, Strictness, drop, event, http_error, json_answer, raw, reply, text

KEY = "sk-very-secret-key"
CALL = AssistantMsg("bot", [ThinkingBlock("hm"), ToolCallBlock("c1", "Read", '{"path": "a"}')])
RESULT = SystemMsg("Read", [ToolResultBlock("c1", "Read", "done")])
LOOP = (UserMsg("user", "read a"), CALL, RESULT)


def unused_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def kinds(deltas) -> list[type]:
    return [type(delta) for delta in deltas]


def moved(to: str, status: int = 302) -> Answer:
    return json_answer({}, status, {"location": to})


class TestRedirects:
    """What an endpoint leads to is what is told of; the address to look at is the one that was configured."""

    async def test_to_a_dead_address(self, openai_server, model):
        dead = unused_address()
        openai_server.play(*[moved(f"{dead}/login?token=abc", status) for status in (302, 307, 308)])
        _, error = await answer_until_error(model, error=ModelUnreachable)
        assert str(error) == (
            f"Cannot reach {dead}/login (connection refused); {openai_server.base_url} redirects there: "
            "check the base URL."
        )

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_to_an_address_that_refuses(self, openai_server, model, status):
        openai_server.play(moved("/v1/chat/completions?moved", status), http_error(401, "who are you?"))
        _, error = await answer_until_error(model, error=ModelUnauthorized)
        assert "who are you?" in str(error)
        assert str(error).endswith(f"; {openai_server.base_url} redirects there: check the base URL.")

    async def test_to_a_web_page(self, openai_server, model):
        page = raw(b"<html>Sign in</html>", headers={"content-type": "text/html"})
        openai_server.play(moved("/v1/chat/completions?next=login", 307), page)
        _, error = await answer_until_error(model, error=ModelNotFound)
        assert "/v1/chat/completions answered with text/html instead of a chat completion" in str(error)
        assert f"{openai_server.base_url} redirects there" in str(error)

    async def test_without_end(self, openai_server, model):
        openai_server.play(*[moved("/v1/chat/completions", 307)] * 100)
        _, error = await answer_until_error(model, error=ModelUnreachable)
        assert "redirects there: check the base URL." in str(error)

    async def test_to_nowhere(self, openai_server, model):
        openai_server.play(json_answer({}, 302))
        _, error = await answer_until_error(model, error=ModelNotFound)
        assert "does not say where to; check the base URL" in str(error)

    async def test_that_work_are_nothing_to_speak_of(self, openai_server, model):
        openai_server.play(moved("/v1/chat/completions?moved", 308), reply(text("hello")))
        assert TextDelta("hello") in await answer(model)


class TestRefusals:
    @pytest.mark.parametrize(
        ("status", "error", "advice"),
        [
            (401, ModelUnauthorized, "API key"),
            (403, ModelUnauthorized, "API key"),
            (404, ModelNotFound, "check the model's name"),
            (400, ModelBadRequest, "refused the request"),
            (402, ModelOverloaded, "top it up"),
        ],
    )
    async def test_are_told_once_in_one_line_that_says_what_to_do(self, openai_server, model, status, error, advice):
        """S28: and never blindly repeated."""
        openai_server.play(http_error(status, "because I say so"))
        deltas, caught = await answer_until_error(model, error=error)
        assert deltas == []
        assert len(openai_server.requests) == 1
        message = str(caught)
        assert "\n" not in message
        for part in (advice, "because I say so", openai_server.base_url):
            assert part in message
        assert caught.__cause__ is not None

    @pytest.mark.parametrize(
        "said",
        [
            "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.",
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
            "messages.2.tool_call_id: String should have at most 40 characters, length 55",
        ],
    )
    async def test_of_the_ids_of_calls_that_another_endpoint_gave_teach_to_send_others(
        self, openai_server, model, said
    ):
        """S25: what is in the history once must not have every later request refused."""
        openai_server.play(http_error(400, said), reply(text("fine")), reply(text("again")))
        assert TextDelta("fine") in await answer(model, *LOOP)
        assert TextDelta("again") in await answer(model, *LOOP)
        refused, *sent = [[m for m in request.messages if m["role"] != "user"] for request in openai_server.chats]
        assert refused[0]["tool_calls"][0]["id"] == "c1"
        for call, result in sent:
            assert re.fullmatch("[a-z0-9]{9}", call["tool_calls"][0]["id"])
            assert result["tool_call_id"] == call["tool_calls"][0]["id"]
        assert sent[0] == sent[1]

    async def test_of_a_call_without_its_result_teach_nothing_about_ids(self, openai_server, model):
        openai_server.play(http_error(400, "these tool_call_ids did not have response messages: c1"))
        await answer_until_error(model, *LOOP, error=ModelBadRequest)
        assert len(openai_server.requests) == 1

    async def test_a_model_that_is_not_there(self, openai_server, make_model):
        openai_server.models = {"other": {}}
        _, error = await answer_until_error(make_model(), error=ModelNotFound)
        assert "no model 'm'" in str(error)

    async def test_a_wrong_path(self, openai_server, make_model):
        _, error = await answer_until_error(make_model(base_url=f"{openai_server.base_url}/no"), error=ModelNotFound)
        assert "it usually ends in /v1" in str(error)

    async def test_a_prompt_that_is_too_long(self, openai_server, model):
        openai_server.play(http_error(400, "This model's maximum context length is 8 tokens.", code="x"))
        await answer_until_error(model, error=ContextOverflow)

    async def test_a_prompt_that_is_too_long_told_inside_the_stream(self, openai_server, model):
        openai_server.play(raw(event({"error": {"code": 500, "message": "the request exceeds the context size"}})))
        await answer_until_error(model, error=ContextOverflow)
        assert len(openai_server.requests) == 1


class TestRetries:
    @pytest.mark.parametrize("failure", [http_error(429, "slow"), http_error(500), http_error(529), drop()])
    async def test_twice_refused_then_answered(self, openai_server, model, failure):
        openai_server.play(failure, failure, reply(text("ok")))
        deltas = await answer(model)
        assert kinds(deltas) == [Retrying, Retrying, TextDelta, Finished]
        assert [delta.attempt for delta in deltas[:2]] == [1, 2]

    async def test_they_are_bounded(self, openai_server, model):
        openai_server.play(*[http_error(500, "broken")] * 5)
        deltas, _ = await answer_until_error(model, error=ModelOverloaded)
        assert kinds(deltas) == [Retrying, Retrying]
        assert len(openai_server.requests) == 3

    async def test_none_when_none_are_wanted(self, openai_server, make_model):
        openai_server.play(http_error(500, "broken"))
        deltas, _ = await answer_until_error(make_model(retry=RetryPolicy(retries=0)), error=ModelOverloaded)
        assert deltas == []

    async def test_the_endpoint_says_how_long_to_wait(self, openai_server, model):
        openai_server.play(http_error(429, "slow", headers={"retry-after": "7"}))
        deltas = model.stream([UserMsg("user", "hi")])
        first = await anext(deltas)
        assert isinstance(first, Retrying)
        assert first.delay == 7.0
        await deltas.aclose()

    async def test_nobody_waits_an_hour(self, openai_server, model):
        openai_server.play(http_error(429, "slow", headers={"retry-after": "3600"}))
        deltas, error = await answer_until_error(model, error=ModelOverloaded)
        assert deltas == []
        assert error.retryable

    async def test_nobody_waits_beyond_the_time_limit(self, openai_server, make_model):
        openai_server.play(http_error(429, "slow", headers={"retry-after": "7"}))
        deltas, _ = await answer_until_error(make_model(limits=TimeLimits(first_token=5.0)), error=ModelOverloaded)
        assert deltas == []


class TestUnreachable:
    async def test_nothing_listens(self, make_model):
        model = make_model(base_url=unused_address())
        deltas, error = await answer_until_error(model, error=ModelUnreachable)
        assert kinds(deltas) == [Retrying, Retrying]
        assert "connection refused" in str(error)
        assert "is the server running?" in str(error)

    async def test_no_such_host(self, make_model):
        model = make_model(base_url="https://no-such-host.invalid/v1", retry=RetryPolicy(retries=0))
        _, error = await answer_until_error(model, error=ModelUnreachable)
        assert "no-such-host.invalid" in str(error)
        assert "check the address and the network" in str(error)

    @pytest.mark.parametrize("address", ["localhost:1", "ftp://127.0.0.1/v1", "http://127.0.0.1:99999"])
    async def test_an_address_that_is_none(self, make_model, address):
        model = make_model(base_url=address, retry=RetryPolicy(retries=0))
        _, error = await answer_until_error(model, error=ModelError)
        assert address in str(error)
        assert "\n" not in str(error)

    async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
        self, openai_server, make_model, monkeypatch
    ):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(make_model())) == [TextDelta, Finished]


class TestKeys:
    async def test_a_server_on_this_machine_needs_none(self, openai_server, make_model, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(make_model())) == [TextDelta, Finished]

    async def test_key_and_address_come_from_the_environment(self, openai_server, make_model, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", openai_server.base_url)
        openai_server.api_key = KEY
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(make_model(base_url=None))) == [TextDelta, Finished]

    async def test_a_missing_key_is_told_as_such(self, openai_server, make_model, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        openai_server.api_key = KEY
        _, error = await answer_until_error(make_model(), error=ModelUnauthorized)
        assert "none is set" in str(error)

    @pytest.mark.parametrize("key", ["sk-é", "sk 1", "sk\n1"])
    async def test_a_key_that_cannot_be_one_is_not_even_sent(self, openai_server, make_model, key):
        _, error = await answer_until_error(make_model(api_key=key), error=ModelUnauthorized)
        assert key not in str(error)
        assert openai_server.requests == []

    @pytest.mark.parametrize("refusal", ["401", "400", "drop", "unreachable", "event"])
    async def test_the_key_is_in_no_error_and_no_traceback(self, openai_server, make_model, refusal):
        """Also when the endpoint quotes it, and when a traceback shows every frame's locals."""
        model = make_model(api_key=KEY)
        if refusal == "401":
            openai_server.api_key = "another"
        elif refusal == "unreachable":
            model = make_model(api_key=KEY, base_url=unused_address())
        else:
            quoted = event({"error": {"message": f"what is {KEY}?"}})
            answers = {"400": http_error(400, f"what is {KEY}?"), "drop": drop(), "event": raw(quoted)}
            openai_server.play(*[answers[refusal]] * 3)
        _, error = await answer_until_error(model, error=ModelError)
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert "answer_until_error" in shown
        assert KEY not in shown
        assert KEY not in repr(model)

    def test_the_key_is_in_no_representation(self):
        model = OpenAIChatModel("m", api_key=KEY, base_url="http://ana:pw@127.0.0.1:1/v1")
        assert KEY not in f"{model!r} {vars(model)!r}"
        assert "pw" not in f"{model!r} {vars(model)!r} {model.endpoint}"


class TestQuirks:
    async def test_null_content_refused(self, openai_server, model):
        """S28: one fallback, kept for the next time."""
        openai_server.strictness = Strictness(refuse_null_content=True)
        openai_server.play(reply(text("ok")), reply(text("ok")))
        await answer(model, *LOOP)
        await answer(model, *LOOP)
        contents = [request.messages[1]["content"] for request in openai_server.requests]
        assert contents == [None, "", ""]

    async def test_empty_content_refused(self, openai_server, make_model):
        """S28: the other server."""
        openai_server.strictness = Strictness(refuse_empty_content=True)
        openai_server.play(reply(text("ok")))
        await answer(make_model(profile=EndpointProfile(call_only_content="")), *LOOP)
        assert [request.messages[1]["content"] for request in openai_server.requests] == ["", None]

    async def test_both_refused_ends_with_the_refusal(self, openai_server, model):
        """S28: no endless turning back and forth, and the profile stays what it was."""
        openai_server.strictness = Strictness(refuse_null_content=True, refuse_empty_content=True)
        await answer_until_error(model, *LOOP, error=ModelBadRequest)
        assert len(openai_server.requests) == 2
        assert model.profile == EndpointProfile()

    async def test_reasoning_goes_back_where_the_profile_says_so(self, openai_server, make_model):
        """S12: no refusal at all."""
        openai_server.strictness = Strictness(need_reasoning="reasoning_content")
        openai_server.play(reply(text("ok")))
        await answer(make_model(profile=EndpointProfile(reasoning_field="reasoning_content")), *LOOP)
        assert [request.messages[1]["reasoning_content"] for request in openai_server.requests] == ["hm"]

    async def test_reasoning_goes_back_once_the_endpoint_has_asked_for_it(self, openai_server, model):
        """S12: learnt from the refusal."""
        openai_server.strictness = Strictness(need_reasoning="reasoning_content")
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(model, *LOOP)) == [TextDelta, Finished]

    @pytest.mark.parametrize(
        ("place", "said"),
        [
            (["body", "messages", 1, "content"], "none is not an allowed value"),
            (["body", "stream_options"], "extra fields not permitted"),
        ],
    )
    async def test_what_fastapi_says_of_a_field_teaches_as_well(self, openai_server, model, place, said):
        """S28: the words alone do not tell what they are about."""
        other = {"loc": ["body"], "msg": "value error"}
        openai_server.play(json_answer({"detail": [other, {"loc": place, "msg": said}]}, 422), reply(text("ok")))
        assert kinds(await answer(model, *LOOP)) == [TextDelta, Finished]

    async def test_an_endpoint_that_cannot_report_usage(self, openai_server, model):
        openai_server.strictness = Strictness(refused_fields=("stream_options",))
        openai_server.play(reply(text("ok")), reply(text("ok")))
        assert (await answer(model))[-1] == Finished("stop", None)
        await answer(model)
        assert ["stream_options" in request.body for request in openai_server.requests] == [True, False, False]

    async def test_an_endpoint_with_the_other_name_for_the_limit(self, openai_server, make_model):
        openai_server.play(
            http_error(400, "'max_tokens' is not supported, use 'max_completion_tokens'"), reply(text("ok"))
        )
        await answer(make_model(max_tokens=9))
        assert openai_server.requests[1].body["max_completion_tokens"] == 9

    async def test_several_quirks_at_once(self, openai_server, model):
        openai_server.strictness = Strictness(
            refuse_null_content=True, need_reasoning="reasoning_content", refused_fields=("stream_options",)
        )
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(model, *LOOP)) == [TextDelta, Finished]
        assert len(openai_server.requests) == 4

    @pytest.mark.parametrize("arguments", ["{", '{"path":"a.md","content":"lo', '{"type": user"}'])
    async def test_the_conversation_goes_on_after_broken_arguments(self, openai_server, model, arguments):
        """S25: the server refuses unparsable arguments in the history, and never sees any."""
        broken = AssistantMsg("bot", [ToolCallBlock("c1", "Read", arguments)])
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(model, LOOP[0], broken, RESULT)) == [TextDelta, Finished]
        assert len(openai_server.requests) == 1

    async def test_a_history_that_was_interrupted(self, openai_server, model):
        """C01, C02: calls without results, then `hi`."""
        openai_server.play(reply(text("ok")))
        assert kinds(await answer(model, LOOP[0], CALL, UserMsg("user", "hi"))) == [TextDelta, Finished]
