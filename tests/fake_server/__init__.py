"""A scripted OpenAI-compatible server over real HTTP on loopback; all model tests talk to it.

    async def test_something(openai_server):
        openai_server.play(reply(reasoning("hm"), text("hello", pieces=5)), reply(tool_call("Read", {"path": "a"})))
        model = OpenAIChatModel("m", base_url=openai_server.base_url)
        ...
        assert openai_server.requests[0].body["messages"] == [...]

Or set `openai_server.brain` to a function from `Request` to an answer. `python -m tests.fake_server` runs it by itself.
"""

from tests.fake_server.script import (
    CLOSE,
    DONE,
    SILENCE,
    Answer,
    Gate,
    Pause,
    chunk,
    drop,
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
from tests.fake_server.server import FakeServer, Request, serving_in_thread
from tests.fake_server.strictness import Strictness

__all__ = [
    "CLOSE",
    "DONE",
    "SILENCE",
    "Answer",
    "FakeServer",
    "Gate",
    "Pause",
    "Request",
    "Strictness",
    "chunk",
    "drop",
    "event",
    "finish",
    "http_error",
    "in_pieces",
    "json_answer",
    "raw",
    "reasoning",
    "reply",
    "serving_in_thread",
    "text",
    "tool_call",
    "usage",
]
