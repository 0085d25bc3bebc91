"""The scripted server itself: what other tests take for granted."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.fake_server import FakeServer, Strictness, reply, serving_in_thread, text, tool_call
from tests.fake_server.strictness import history_complaint
from tests.fake_server.vectors import vector

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "done"}
USER = {"role": "user", "content": "hi"}


def ask(server: FakeServer, path: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"{server.base_url}{path}", data) as response:
        return json.load(response)


@pytest.fixture
def threaded():
    with serving_in_thread(FakeServer()) as server:
        yield server


class TestStrictness:
    @pytest.mark.parametrize("messages", [[USER], [USER, CALLING, RESULT], [USER, CALLING, RESULT, USER]])
    def test_sound_histories_pass(self, messages):
        assert Strictness().complaint({"messages": messages}) is None

    @pytest.mark.parametrize(
        "messages",
        [
            [],
            [RESULT],
            [CALLING],
            [CALLING, USER, RESULT],
            [CALLING, RESULT, RESULT],
            [{**CALLING, "tool_calls": [CALL, CALL]}, RESULT],
            [{**CALLING, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": "{"}}]}, RESULT],
            [{**CALLING, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": "[]"}}]}, RESULT],
            [{**CALLING, "tool_calls": [{**CALL, "function": {"name": "", "arguments": "{}"}}]}, RESULT],
            [{"role": "user", "content": None}],
            [{"role": "user", "content": ""}],
            [{"role": "nobody", "content": "x"}],
        ],
    )
    def test_unsound_histories_are_refused(self, messages):
        assert Strictness().complaint({"messages": messages})

    def test_switches(self):
        body = {"messages": [CALLING, RESULT]}
        assert Strictness(refuse_null_content=True).complaint(body)
        assert Strictness(refuse_empty_content=True).complaint({"messages": [{**CALLING, "content": ""}, RESULT]})
        assert Strictness(need_reasoning="reasoning_content").complaint(body)
        assert Strictness(refused_fields=("tools",)).complaint({**body, "tools": []})
        assert Strictness(alternating_roles=True).complaint({"messages": [USER, USER]})
        assert history_complaint(body["messages"]) is None


class TestRoutes:
    def test_models(self, threaded):
        threaded.models = {"big": {"context_length": 5}}
        assert ask(threaded, "/models")["data"][0]["context_length"] == 5

    def test_embeddings_are_deterministic_and_alike_for_alike_texts(self, threaded):
        body = {"model": "e", "input": ["green tea", "tea, green!", "a car"]}
        tea, same_tea, car = (entry["embedding"] for entry in ask(threaded, "/embeddings", body)["data"])
        assert tea == same_tea == vector("green tea")
        assert tea != car

    def test_an_answer_that_is_not_streamed(self, threaded):
        threaded.play(reply(text("hello", pieces=3), tool_call("f", {"a": 1}, id="c", pieces=2)))
        [choice] = ask(threaded, "/chat/completions", {"messages": [USER]})["choices"]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] == "hello"
        assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"a": 1}

    def test_a_brain_answers_what_is_not_scripted(self, threaded):
        threaded.brain = lambda request: reply(text(request.messages[-1]["content"].upper()))
        threaded.play(reply(text("scripted")))
        said = [ask(threaded, "/chat/completions", {"messages": [USER]}) for _ in range(2)]
        assert [one["choices"][0]["message"]["content"] for one in said] == ["scripted", "HI"]

    @pytest.mark.parametrize(("path", "status"), [("/chat/completions", 500), ("/nowhere", 404)])
    def test_what_nobody_answers_is_an_error(self, threaded, path, status):
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(threaded, path, {"messages": [USER]})
        assert caught.value.code == status
        caught.value.close()

    async def test_a_request_can_be_waited_for(self, openai_server):
        waiting = asyncio.ensure_future(openai_server.request(1))
        await asyncio.to_thread(ask, openai_server, "/models")
        assert (await waiting).path == "/v1/models"


def test_it_runs_by_itself():
    command = [sys.executable, "-m", "tests.fake_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()[-1]
            body = json.dumps({"messages": [{"role": "user", "content": "good day"}]}).encode()
            with urllib.request.urlopen(f"{address}/chat/completions", body) as response:
                message = json.load(response)["choices"][0]["message"]
        finally:
            process.terminate()
    assert message["content"] == "You said: good day"
    assert message["reasoning_content"]
