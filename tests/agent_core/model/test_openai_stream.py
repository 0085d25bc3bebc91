"""`OpenAIChatModel` over real HTTP: what streams in, whole or broken."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_core.errors import (
    ModelError,
    ModelInterrupted,
    ModelNotFound,
    ModelOverloaded,
    ModelTimeout,
)
from agent_core.event import Usage
from agent_core.message import UserMsg
from agent_core.model import (
    EndpointProfile,
    Finished,
    Retrying,
    RetryPolicy,
    TextDelta,
    ThinkingDelta,
    TimeLimits,
    ToolCallDelta,
    ToolSchema,
)
from tests.agent_core.model.conftest import answer, answer_until_error
from tests.cancelling import cancel
from tests.fake_server import (
    CLOSE,
    DONE,
    SILENCE,
    Gate,
    Pause,
    chunk,
    event,
    finish,
    http_error,
    in_pieces,
    json_answer,
    raw,
    reasoning,
    reply,
    text,
    tool_call,
    usage,
)

READ = ToolSchema("Read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def joined(deltas, kind=TextDelta) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))


class TestWholeAnswers:
    async def test_reasoning_text_calls_and_usage(self, openai_server, model):
        openai_server.play(
            reply(reasoning("hm"), text("hello", pieces=2), tool_call("Read", {"path": "é"}, id="c1"), usage=(12, 3))
        )
        assert await answer(model, tools=[READ]) == [
            ThinkingDelta("hm"),
            TextDelta("hel"),
            TextDelta("lo"),
            ToolCallDelta("c1", "Read", ""),
            ToolCallDelta("c1", "Read", '{"path": "é"}'),
            Finished("tool_calls", Usage(12, 3)),
        ]

    async def test_the_request(self, openai_server, make_model):
        openai_server.play(reply(text("ok")))
        await answer(make_model(max_tokens=50, options={"temperature": 0, "top_k": 3}, api_key=" sk-1\n"), tools=[READ])
        [request] = openai_server.requests
        assert request.body == {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [READ.wire()],
            "max_tokens": 50,
            "temperature": 0,
            "top_k": 3,
        }
        assert request.headers["authorization"] == "Bearer sk-1"

    async def test_deltas_arrive_as_they_are_sent(self, openai_server, model):
        gate = Gate()
        openai_server.play(reply(text("one"), gate, text("two")))
        deltas = model.stream([UserMsg("user", "hi")])
        assert await anext(deltas) == TextDelta("one")
        await gate.reached()
        gate.open()
        assert await anext(deltas) == TextDelta("two")
        await deltas.aclose()

    async def test_chunks_with_empty_choices(self, openai_server, model):
        """S07: filter information first, usage last."""
        filters = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
        openai_server.play(raw(filters, text("kept"), finish(), usage(7, 2), DONE))
        assert await answer(model) == [TextDelta("kept"), Finished("stop", Usage(7, 2))]

    @pytest.mark.parametrize("index", [{}, {"index": None}])
    async def test_calls_without_index(self, openai_server, model, index):
        """S01, S06: arguments are kept, not dropped and not a type error."""
        first = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}, **index}
        second = {"function": {"arguments": "{}"}, **index}
        openai_server.play(reply(chunk({"tool_calls": [first]}), chunk({"tool_calls": [second]})))
        deltas = await answer(model)
        assert deltas[:-1] == [ToolCallDelta("c1", "f", ""), ToolCallDelta("c1", "f", "{}")]

    async def test_two_ids_under_one_index(self, openai_server, model):
        """S03: two calls."""
        openai_server.play(reply(tool_call("read", {"p": "1"}, id="a"), tool_call("read", {"p": "2"}, id="b")))
        calls = [delta for delta in await answer(model) if isinstance(delta, ToolCallDelta) and delta.arguments]
        assert calls == [ToolCallDelta("a", "read", '{"p": "1"}'), ToolCallDelta("b", "read", '{"p": "2"}')]

    async def test_large_arguments_in_one_chunk(self, openai_server, model):
        """S19: 6 KB at once."""
        arguments = {"content": "x" * 6000}
        openai_server.play(reply(tool_call("Write", arguments)))
        last = (await answer(model))[-2]
        assert isinstance(last, ToolCallDelta)
        assert json.loads(last.arguments) == arguments

    async def test_no_finish_but_done(self, openai_server, model):
        """S18: the text is complete; so is a call, whose arguments the agent will check."""
        openai_server.play(reply(text("all"), finish=None), reply(tool_call("f", {}, id="c"), finish=None))
        assert await answer(model) == [TextDelta("all"), Finished(None, Usage(10, 5))]
        assert (await answer(model))[1:] == [ToolCallDelta("c", "f", "{}"), Finished(None, Usage(10, 5))]

    async def test_finish_but_no_done(self, openai_server, model):
        openai_server.play(
            reply(text("all"), usage=None, done=False), reply(text("all"), CLOSE, done=False, finish=None)
        )
        assert await answer(model) == [TextDelta("all"), Finished("stop", None)]

    async def test_finish_then_a_broken_connection(self, openai_server, model):
        openai_server.play(raw(text("all"), finish(), CLOSE))
        assert await answer(model) == [TextDelta("all"), Finished("stop", None)]

    async def test_a_huge_delta_in_small_pieces_cut_inside_an_emoji(self, openai_server, model):
        """S15: 40 KB of reasoning in 8 KB pieces, and a few bytes at a time around an emoji."""
        thought = "思考" * 3_000 + "🙂" * 6_000
        data = event(chunk({"reasoning_content": thought}))
        assert len(data) > 40_000
        cut_everywhere = in_pieces(event(chunk({"content": "🙂 é"})), 1)
        openai_server.play(reply(in_pieces(data, 8 * 1024 + 1), cut_everywhere))
        deltas = await answer(model)
        assert joined(deltas, ThinkingDelta) == thought
        assert joined(deltas) == "🙂 é"

    async def test_an_answer_that_does_not_stream(self, openai_server, model):
        message = {"role": "assistant", "content": "all at once"}
        completion = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        openai_server.play(json_answer({**completion, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}))
        assert await answer(model) == [TextDelta("all at once"), Finished("stop", Usage(1, 2))]

    @pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n\n", b": waiting\n\n"])
    async def test_an_answer_that_does_not_stream_behind_other_bytes(self, openai_server, model, before):
        document = json.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
        openai_server.play(raw(before, document.encode()))
        assert await answer(model) == [TextDelta("a"), Finished("stop", None)]

    async def test_chunks_one_a_line_that_are_no_events(self, openai_server, model):
        lines = [json.dumps(part).encode() + b"\n" for part in (*text("ab", pieces=2), finish())]
        openai_server.play(raw(*lines, headers={"content-type": "application/x-ndjson"}))
        assert await answer(model) == [TextDelta("a"), TextDelta("b"), Finished("stop", None)]

    async def test_events_with_a_single_line_end_between_them(self, openai_server, model):
        """S17: joined, but still readable line by line."""
        lines = b"".join(event(part).replace(b"\n\n", b"\n") for part in (*text("ab", pieces=2), finish()))
        openai_server.play(raw(lines + b"data: [DONE]\n\n"))
        assert await answer(model) == [TextDelta("a"), TextDelta("b"), Finished("stop", None)]

    @pytest.mark.parametrize("end", [b"data: [done]", b"data:[DONE]", b"data: [DONE] "])
    async def test_the_end_however_it_is_written(self, openai_server, model, end):
        openai_server.play(raw(text("a"), end + b"\n\n", framing="close"))
        assert await answer(model) == [TextDelta("a"), Finished(None, None)]

    async def test_line_separators_inside_a_text(self, openai_server, model):
        openai_server.play(reply(text("a\u2028b\x85c\x0bd")))
        assert joined(await answer(model)) == "a\u2028b\x85c\x0bd"


class TestBrokenAnswers:
    async def test_the_peer_closes_in_mid_body(self, openai_server, model):
        """S14: three chunks, then nothing; what came stands, and it is no complete answer."""
        openai_server.play(raw(text("abc", pieces=3), CLOSE))
        deltas, error = await answer_until_error(model, error=ModelInterrupted)
        assert deltas == [TextDelta("a"), TextDelta("b"), TextDelta("c")]
        assert "the connection was closed" in str(error)

    async def test_a_body_that_ends_with_the_connection(self, openai_server, model):
        """S14: without a length, only the missing finish and `[DONE]` tell."""
        openai_server.play(raw(text("abc"), CLOSE, framing="close"))
        deltas, error = await answer_until_error(model, error=ModelInterrupted)
        assert deltas == [TextDelta("abc")]
        assert "broke off" in str(error)

    async def test_a_call_that_breaks_off(self, openai_server, model):
        """S14: the same for a call."""
        openai_server.play(raw(tool_call("Write", '{"path": "a'), CLOSE))
        deltas, _ = await answer_until_error(model, error=ModelInterrupted)
        assert joined_arguments(deltas) == '{"path": "a'

    async def test_two_events_joined_in_the_middle(self, openai_server, model):
        """S17: the error is surfaced as one of ours."""
        good, bad = event(text("ok")[0]), event(text("no")[0])
        openai_server.play(raw(good, bad[:40] + bad, DONE))
        deltas, error = await answer_until_error(model, error=ModelError)
        assert deltas == [TextDelta("ok")]
        assert "not JSON" in str(error)

    async def test_what_came_in_the_same_bytes_before_the_damage_is_kept(self, openai_server, model):
        """S17: a network may deliver both at once."""
        openai_server.play(raw(b"".join(event(part) for part in text("ok", pieces=2)) + b"data: {no\n\n", DONE))
        deltas, _ = await answer_until_error(model, error=ModelInterrupted)
        assert deltas == [TextDelta("o"), TextDelta("k")]

    async def test_an_error_in_an_answer_without_choices(self, openai_server, model):
        """S09: HTTP 200, and yet a failure with the endpoint's words."""
        failed = raw({"choices": [], "error": {"code": 502, "message": "worker limit"}}, DONE)
        openai_server.play(failed, failed, failed)
        deltas, error = await answer_until_error(model, error=ModelOverloaded)
        assert all(isinstance(delta, Retrying) for delta in deltas)
        assert "worker limit" in str(error)

    @pytest.mark.parametrize(
        "failure",
        [
            event({"error": {"code": 529, "message": "overloaded"}}),
            event({"error": {"type": "overloaded_error", "message": "overloaded"}}, name="error"),
            event({"message": "overloaded"}, name="error"),
            b"event: error\ndata: overloaded\n\n",
            event({"object": "error", "message": "overloaded", "code": 503}),
            b'error: {"code": 503, "message": "overloaded"}\n\n',
        ],
    )
    async def test_overload_inside_the_stream(self, openai_server, model, failure):
        """S11: before any content a bounded retry, after some none."""
        role = chunk({"role": "assistant", "content": ""})
        openai_server.play(raw(role, failure), reply(text("fine")))
        retrying, *deltas = await answer(model)
        assert isinstance(retrying, Retrying)
        assert "overloaded" in retrying.error
        assert joined(deltas) == "fine"

        openai_server.play(raw(text("twenty characters..."), failure), reply(text("never played")))
        deltas, error = await answer_until_error(model, error=ModelOverloaded)
        assert deltas == [TextDelta("twenty characters...")]
        assert "overloaded" in str(error)
        assert openai_server.unplayed == 1

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (event({"code": "InvalidParameter", "message": "no such thing"}), "no such thing"),
            (event({"detail": "no credit"}), "no credit"),
            (event({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "log in"}}), "log in"),
            (event([{"error": {"code": 400, "message": "bad key"}}]), "bad key"),
            (b": waiting\n\n" + json.dumps({"error": {"message": "died"}}).encode(), "died"),
            (b"upstream connect error", "upstream connect error"),
            (b"\x1f\x8b\x08\x00\xff\xfe", "bytes that are no text"),
            (b"data: hello\n\n", "hello"),
        ],
    )
    async def test_what_came_in_place_of_an_answer_is_told(self, openai_server, make_model, body, said):
        """S09: whoever sent it, and in whatever form."""
        openai_server.play(raw(body, DONE))
        _, error = await answer_until_error(make_model(retry=RetryPolicy(retries=0)), error=ModelError)
        assert said in str(error)

    @pytest.mark.parametrize(
        ("document", "said"),
        [({"detail": "who?"}, "who?"), ([{"error": {"message": "bad key", "code": 400}}], "bad key")],
    )
    async def test_a_success_that_is_the_error_of_a_proxy_is_told(self, openai_server, model, document, said):
        openai_server.play(json_answer(document))
        _, error = await answer_until_error(model, error=ModelError)
        assert said in str(error)

    async def test_an_error_in_the_choice_is_one(self, openai_server, model):
        """S11: after some text, where a router puts the failure of a provider."""
        failed = {"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "upstream died"}}
        openai_server.play(raw(text("so far"), {"choices": [failed]}, DONE))
        deltas, error = await answer_until_error(model, error=ModelOverloaded)
        assert deltas == [TextDelta("so far")]
        assert "upstream died" in str(error)

    @pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource", "abort"])
    async def test_an_answer_that_finishes_with_an_error_is_not_complete(self, openai_server, model, word):
        openai_server.play(raw(text("so far"), finish(word), DONE))
        deltas, error = await answer_until_error(model, error=ModelInterrupted)
        assert deltas == [TextDelta("so far")]
        assert f"failed: {word}" in str(error)

    @pytest.mark.parametrize("end", [(DONE,), ()])
    @pytest.mark.parametrize(
        "failure",
        [
            {"code": 500, "message": "worker died"},
            {"detail": "worker died"},
            {"type": "error", "message": "worker died"},
            {"error_code": 336100, "error_msg": "worker died"},
            {"choices": None, "base_resp": {"status_code": 1013, "status_msg": "worker died"}},
        ],
    )
    async def test_an_error_in_any_shape_after_some_text_is_one(self, openai_server, model, failure, end):
        """S09, S11: though the stream ends as if all was well."""
        openai_server.play(raw(text("so far"), event(failure), *end))
        deltas, error = await answer_until_error(model, error=ModelInterrupted)
        assert deltas == [TextDelta("so far")]
        assert "worker died" in str(error)

    @pytest.mark.parametrize("nothing", [{"code": None, "message": ""}, {"code": 0, "message": None}, {}, False, ""])
    async def test_an_error_with_nothing_in_it_is_none(self, openai_server, model, nothing):
        """Some servers send the field with every chunk."""
        openai_server.play(raw({**text("fine")[0], "error": nothing}, {**finish(), "error": nothing}, DONE))
        assert joined(await answer(model)) == "fine"

    async def test_what_came_before_an_error_in_the_same_document_is_kept(self, openai_server, model):
        lines = [json.dumps(part) for part in (*text("so far"), {"error": {"message": "died"}})]
        openai_server.play(raw("\n".join(lines).encode(), headers={"content-type": "application/x-ndjson"}))
        deltas, error = await answer_until_error(model, error=ModelOverloaded)
        assert deltas == [TextDelta("so far")]
        assert "died" in str(error)

    async def test_nothing_before_the_end_is_tried_again(self, openai_server, model):
        """S09: an answer without an answer is no success."""
        openai_server.play(raw(DONE), raw(CLOSE), reply(text("fine")))
        deltas = await answer(model)
        assert [type(delta) for delta in deltas] == [Retrying, Retrying, TextDelta, Finished]

    @pytest.mark.parametrize("body", ["<html><body>Welcome</body></html>", "ok"])
    async def test_a_page_instead_of_an_answer(self, openai_server, model, body):
        openai_server.play(raw(body.encode(), headers={"content-type": "text/html; charset=utf-8"}))
        _, error = await answer_until_error(model, error=ModelNotFound)
        assert "text/html" in str(error)
        assert "/v1" in str(error)

    async def test_json_that_is_no_answer(self, openai_server, model):
        openai_server.play(json_answer({"status": "ok"}))
        _, error = await answer_until_error(model, error=ModelNotFound)
        assert "application/json" in str(error)


class TestSilence:
    async def test_a_stream_that_goes_silent(self, openai_server, make_model):
        """S32: two chunks, then nothing."""
        openai_server.play(raw(text("ab", pieces=2), SILENCE))
        model = make_model(limits=TimeLimits(idle=0.05))
        deltas, error = await answer_until_error(model, error=ModelTimeout)
        assert deltas == [TextDelta("a"), TextDelta("b")]
        assert "0.05 s" in str(error)
        await openai_server.requests[0].disconnected.wait()

    @pytest.mark.parametrize("sign", [b": waiting\n\n", chunk({}), b"\n"])
    async def test_signs_of_life_that_say_nothing_are_not_waited_for_without_end(self, openai_server, make_model, sign):
        """S32: a proxy keeps a connection alive whose other end has gone."""
        openai_server.play(raw(text("a"), *[sign, Pause(0.02)] * 1_000, text("never reached")))
        model = make_model(limits=TimeLimits(idle=0.1, first_token=0.3))
        deltas, error = await answer_until_error(model, error=ModelTimeout)
        assert deltas == [TextDelta("a")]
        assert "stopped in mid-answer" in str(error)

    async def test_signs_of_life_are_waited_for_longer_than_silence(self, openai_server, make_model):
        """S32: a model that thinks unseen."""
        openai_server.play(reply(text("a"), *[b": waiting\n\n", Pause(0.02)] * 70, text("b")))
        assert TextDelta("b") in await answer(make_model(limits=TimeLimits(idle=1.0, first_token=60.0)))

    @pytest.mark.parametrize("steps", [(), (chunk({"role": "assistant"}),), (b": waiting\n\n",)])
    async def test_an_endpoint_that_never_begins(self, openai_server, make_model, steps):
        """S32: also after a first chunk that says nothing; it is not tried again, it has had its time."""
        openai_server.play(raw(*steps, SILENCE), reply(text("never played")))
        model = make_model(limits=TimeLimits(first_token=0.2))
        deltas, error = await answer_until_error(model, error=ModelTimeout)
        assert deltas == []
        assert "gave no answer for 0.2 s" in str(error)
        assert openai_server.unplayed == 1

    async def test_silence_after_the_finish_is_the_end(self, openai_server, model, monkeypatch):
        monkeypatch.setattr("agent_core.model.openai_model._TAIL_SECONDS", 0.05)
        openai_server.play(raw(text("all"), finish(), SILENCE))
        assert await answer(model) == [TextDelta("all"), Finished("stop", None)]

    async def test_signs_of_life_after_the_finish_do_not_keep_it_open(self, openai_server, model, monkeypatch):
        monkeypatch.setattr("agent_core.model.openai_model._TAIL_SECONDS", 0.1)
        openai_server.play(raw(text("all"), finish(), *[b": waiting\n\n", Pause(0.02)] * 1_000, SILENCE))
        assert await answer(model) == [TextDelta("all"), Finished("stop", None)]

    async def test_silence_after_done_is_the_end(self, openai_server, model):
        openai_server.play(raw(text("all"), finish(), DONE, SILENCE))
        assert await answer(model) == [TextDelta("all"), Finished("stop", None)]


class TestCancelling:
    @pytest.mark.parametrize("steps", [(), (text("a"),), (text("a"), finish())])
    async def test_a_cancelled_call_closes_the_connection(self, openai_server, model, steps):
        """S32: cancelling works at once, whatever the endpoint does."""
        gate = Gate()
        openai_server.play(raw(*steps, gate))
        task = asyncio.ensure_future(answer(model))
        await gate.reached()
        await cancel(task)
        await openai_server.requests[0].disconnected.wait()

    async def test_closing_the_iterator_closes_the_connection(self, openai_server, model):
        openai_server.play(raw(text("a"), SILENCE))
        deltas = model.stream([UserMsg("user", "hi")])
        assert await anext(deltas) == TextDelta("a")
        await deltas.aclose()
        await openai_server.requests[0].disconnected.wait()

    async def test_cancelling_in_the_wait_before_a_retry(self, openai_server, make_model):
        openai_server.play(http_error(503, "busy"), reply(text("never played")))
        deltas = make_model(retry=RetryPolicy(backoff=20.0)).stream([UserMsg("user", "hi")])
        assert await anext(deltas) == Retrying(1, 20.0, _retry_text(openai_server))
        waiting = asyncio.ensure_future(anext(deltas))
        await asyncio.sleep(0)
        await cancel(waiting)
        assert openai_server.unplayed == 1

    async def test_the_model_works_on_after_a_cancellation(self, openai_server, model):
        gate = Gate()
        openai_server.play(raw(text("a"), gate), reply(text("b")))
        task = asyncio.ensure_future(answer(model))
        await gate.reached()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert joined(await answer(model)) == "b"

    async def test_answers_at_the_same_time_do_not_mix(self, openai_server, model):
        gate = Gate()
        openai_server.play(reply(text("a1"), gate, text("a2")), reply(text("b1"), text("b2")))
        first = asyncio.ensure_future(answer(model))
        await gate.reached()
        assert joined(await answer(model)) == "b1b2"
        gate.open()
        assert joined(await first) == "a1a2"


def joined_arguments(deltas) -> str:
    return "".join(delta.arguments for delta in deltas if isinstance(delta, ToolCallDelta))


def _retry_text(server) -> str:
    return f"{server.base_url} is overloaded or failed (HTTP 503); try again later: busy"


def test_the_profile_can_be_given(make_model):
    profile = EndpointProfile(context_size=4096)
    assert make_model(profile=profile).context_size == 4096
    assert make_model(profile=profile, context_size=0).context_size == 0
