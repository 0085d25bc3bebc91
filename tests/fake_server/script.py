"""What the server plays: answers, and short words for the pieces that they are made of."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal

Chunk = dict[str, Any]
DONE = b"data: [DONE]\n\n"
_call_numbers = itertools.count(1)


class Ending(Enum):
    """What may happen to a connection in the middle of an answer."""

    CLOSE = auto()
    SILENCE = auto()


CLOSE = Ending.CLOSE
"""Close the socket, however incomplete the answer is."""
SILENCE = Ending.SILENCE
"""Send nothing more and keep the socket open until the client closes it."""


class Gate:
    """A place in an answer where the server waits until the test opens the gate, from whatever thread."""

    def __init__(self) -> None:
        self._opened: Future[None] = Future()
        self._reached: Future[None] = Future()

    def open(self) -> None:
        """Let the server go on."""
        if not self._opened.done():
            self._opened.set_result(None)

    async def reached(self) -> None:
        """Wait until the server has come to the gate: everything before it has been sent."""
        await asyncio.shield(asyncio.wrap_future(self._reached))

    async def wait(self) -> None:
        """The server's side."""
        if not self._reached.done():
            self._reached.set_result(None)
        await asyncio.shield(asyncio.wrap_future(self._opened))


@dataclass(frozen=True)
class Pause:
    """Seconds for which the server waits; for demos, tests use a `Gate`."""

    seconds: float


Step = Chunk | bytes | Gate | Pause | Ending
Part = Step | Iterable[Step]


@dataclass(frozen=True)
class Answer:
    """One answer of the server.

    Args:
        steps: what is sent and done, in order. Chunks become events; bytes go out as they are, each written by itself.
        status: the HTTP status.
        headers: more headers, or other ones.
        document: a body that is one JSON document; `steps` are not used then.
        usage: tokens in and out, sent at the end when the request asks for them.
        done: whether the stream ends with `[DONE]`.
        framing: `chunked`, or `close`: the end of the connection is the end of the body. `none` answers nothing at all.
    """

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    document: Any = None
    usage: tuple[int, int] | None = None
    done: bool = False
    framing: Literal["chunked", "close", "none"] = "chunked"


def reply(
    *parts: Part, finish: str | None = "", usage: tuple[int, int] | None = (10, 5), done: bool = True, **fields: Any
) -> Answer:
    """A streamed answer. `finish` is found from the parts when empty; None leaves it out."""
    steps = _flat(parts)
    if finish == "":
        calls = any(step["choices"][0]["delta"].get("tool_calls") for step in steps if _has_delta(step))
        finish = "tool_calls" if calls else "stop"
    if finish is not None:
        steps.append(chunk({}, finish))
    return Answer(tuple(steps), usage=usage, done=done, **fields)


def raw(*parts: Part, **fields: Any) -> Answer:
    """Exactly these steps, with nothing added."""
    return Answer(tuple(_flat(parts)), **fields)


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A JSON document, whatever was asked for."""
    return Answer(document=document, status=status, headers=headers or {})


def http_error(
    status: int, message: str = "", *, code: str | None = None, type: str = "", headers: Mapping[str, str] | None = None
) -> Answer:
    """A refusal in OpenAI's form."""
    return json_answer({"error": {"message": message, "type": type, "code": code}}, status, headers)


def drop() -> Answer:
    """Close the connection without a word."""
    return Answer(framing="none")


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> Chunk:
    """One chunk with one choice."""
    return _chunk([{"index": 0, "delta": dict(delta), "finish_reason": finish_reason}])


def text(content: str, pieces: int = 1) -> list[Chunk]:
    """Answer text in so many pieces."""
    return [chunk({"content": piece}) for piece in _split(content, pieces)]


def reasoning(content: str, pieces: int = 1, field: str = "reasoning_content") -> list[Chunk]:
    """Reasoning text in so many pieces."""
    return [chunk({field: piece}) for piece in _split(content, pieces)]


def tool_call(
    name: str, arguments: Mapping[str, Any] | str, *, id: str | None = None, index: int = 0, pieces: int = 1
) -> list[Chunk]:
    """A tool call: its name first, then the arguments in so many pieces. A str goes out as it is, valid or not."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    head = {"index": index, "id": id or f"call_{next(_call_numbers)}", "type": "function"}
    calls = [{**head, "function": {"name": name, "arguments": ""}}]
    calls += [{"index": index, "function": {"arguments": piece}} for piece in _split(written, pieces)]
    return [chunk({"tool_calls": [call]}) for call in calls]


def usage(prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> Chunk:
    """The chunk that reports tokens."""
    return {
        **_chunk([]),
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
        },
    }


def finish(reason: str = "stop") -> Chunk:
    """The chunk that ends an answer."""
    return chunk({}, reason)


def event(value: Any, name: str = "") -> bytes:
    """A value as the bytes of a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def in_pieces(data: bytes, size: int) -> list[bytes]:
    """Bytes cut every `size` bytes, wherever that falls."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def assembled(steps: Iterable[Step]) -> dict[str, Any]:
    """What the chunks of an answer amount to when it is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish_reason = None
    for step in steps:
        if not _has_delta(step):
            continue
        choice = step["choices"][0]
        finish_reason = choice["finish_reason"] or finish_reason
        for key in ("content", "reasoning_content", "reasoning"):
            if choice["delta"].get(key):
                message[key] = (message.get(key) or "") + choice["delta"][key]
        for piece in choice["delta"].get("tool_calls") or ():
            call = calls.setdefault(piece["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
            call["id"] = piece.get("id") or call.get("id")
            for key, value in piece["function"].items():
                call["function"][key] += value
    if calls:
        message["tool_calls"] = list(calls.values())
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def _chunk(choices: list[dict[str, Any]]) -> Chunk:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices}


def _has_delta(step: Step) -> bool:
    return isinstance(step, dict) and bool(step.get("choices")) and isinstance(step["choices"][0].get("delta"), dict)


def _flat(parts: Iterable[Part]) -> list[Step]:
    steps: list[Step] = []
    for part in parts:
        steps += [part] if isinstance(part, (dict, bytes, Gate, Pause, Ending)) else part
    return steps


def _split(content: str, pieces: int) -> list[str]:
    size = max(1, -(-len(content) // pieces))
    return [content[start : start + size] for start in range(0, len(content), size)]
