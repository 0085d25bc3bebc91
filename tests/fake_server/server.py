"""`FakeServer`: listens on loopback, records every request, and plays what it was given."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fake_server.http import Head, Response, read_request, send_json
from tests.fake_server.script import (
    CLOSE,
    DONE,
    Answer,
    Gate,
    Pause,
    Step,
    assembled,
    event,
    http_error,
    json_answer,
    usage,
)
from tests.fake_server.strictness import Strictness
from tests.fake_server.vectors import DIMENSIONS, vector

_EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


@dataclass
class Request:
    """What a client sent. `disconnected` is set when it went away before it had its answer."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a chat request."""
        return list(self.body.get("messages", ()))


Brain = Callable[[Request], "Answer | Awaitable[Answer]"]


class FakeServer:
    """An OpenAI-compatible server.

    Args:
        api_key: requests without it get 401; None asks for none.
        models: facts of the models that it has, by name; others get 404. None has every model, and lists `m`.
        brain: answers what nothing was scripted for.

    Attributes:
        strictness: what it refuses.
        requests: all requests, oldest first, also the refused ones.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        brain: Brain | None = None,
    ) -> None:
        self.api_key = api_key
        self.models = models
        self.brain = brain
        self.strictness = Strictness()
        self.requests: list[Request] = []
        self.port = 0
        self._script: deque[Answer] = deque()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()

    @property
    def base_url(self) -> str:
        """What clients take as their base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Request]:
        """The chat requests only."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def play(self, *answers: Answer) -> None:
        """Add answers to the script; each chat request that is not refused takes one."""
        self._script.extend(answers)

    @property
    def unplayed(self) -> int:
        """How many scripted answers are left."""
        return len(self._script)

    async def start(self, port: int = 0) -> None:
        """Listen, on a free port when it is 0."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close everything, whatever is being played."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def request(self, number: int = 1) -> Request:
        """Wait for the request of that number, from 1."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= number)
        return self.requests[number - 1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            head = await read_request(reader)
            if head is not None:
                await self._serve(head, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # Cancelled by `stop` alone; Python 3.11 would print a traceback for a connection that ends cancelled.
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = Request(head.method, head.path, head.headers, json.loads(head.body or b"{}"))
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        playing = asyncio.ensure_future(self._answer(request, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({playing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done() or isinstance(playing.exception(), ConnectionError):
                request.disconnected.set()
            else:
                playing.result()
        finally:
            playing.cancel()
            leaving.cancel()
            await asyncio.gather(playing, leaving, return_exceptions=True)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        answer = self._refusal(request) or await self._chosen(request)
        if answer.framing == "none":
            return
        if answer.document is not None:
            await send_json(writer, answer.document, answer.status, answer.headers)
        elif request.body.get("stream"):
            await self._stream(request, answer, writer)
        else:
            for step in answer.steps:
                await _pass(step)
            await send_json(writer, _whole(answer), answer.status, answer.headers)

    def _refusal(self, request: Request) -> Answer | None:
        if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
            sent = request.headers.get("authorization", "").removeprefix("Bearer ")
            return http_error(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")
        model = request.body.get("model")
        if model is not None and self.models is not None and model not in self.models:
            return http_error(404, f"The model `{model}` does not exist", code="model_not_found")
        if request.path.endswith("/chat/completions") and (complaint := self.strictness.complaint(request.body)):
            return http_error(400, complaint, type="invalid_request_error")
        return None

    async def _chosen(self, request: Request) -> Answer:
        route = request.path.partition("?")[0].removeprefix("/v1")
        if route == "/models":
            facts = self.models if self.models is not None else {"m": {}}
            entries = [{"id": name, "object": "model", "created": 0, **fact} for name, fact in facts.items()]
            return json_answer({"object": "list", "data": entries})
        if route == "/chat/completions" or (route == "/embeddings" and self._script):
            return await self._next_answer(request)
        if route == "/embeddings":
            return json_answer(_embeddings(request.body))
        return http_error(404, f"Invalid URL ({request.method} {request.path})")

    async def _next_answer(self, request: Request) -> Answer:
        if self._script:
            return self._script.popleft()
        if self.brain is None:
            return http_error(500, "the test scripted no more answers")
        try:
            answer = self.brain(request)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception as error:
            return http_error(500, f"the test's brain failed: {error!r}")

    async def _stream(self, request: Request, answer: Answer, writer: asyncio.StreamWriter) -> None:
        response = Response(writer, chunked=answer.framing == "chunked")
        await response.start(answer.status, {**_EVENT_STREAM, **answer.headers})
        for step in answer.steps:
            if step is CLOSE:
                return
            if isinstance(step, (dict, bytes)):
                await response.write(step if isinstance(step, bytes) else event(step))
            else:
                await _pass(step)
        if answer.usage and (request.body.get("stream_options") or {}).get("include_usage"):
            await response.write(event(usage(*answer.usage)))
        if answer.done:
            await response.write(DONE)
        await response.end()


async def _pass(step: Step) -> None:
    """Wait where a step says so; silence lasts until the client leaves, which cancels this."""
    if isinstance(step, Gate):
        await step.wait()
    elif isinstance(step, Pause):
        await asyncio.sleep(step.seconds)
    elif not isinstance(step, (dict, bytes)):
        await asyncio.Event().wait()


def _whole(answer: Answer) -> dict[str, Any]:
    completion = assembled(answer.steps)
    return {**completion, "usage": usage(*answer.usage)["usage"]} if answer.usage else completion


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions") or DIMENSIONS
    data = [{"object": "embedding", "index": i, "embedding": vector(text, size)} for i, text in enumerate(texts)]
    return {
        "object": "list",
        "model": body.get("model"),
        "data": data,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


@contextlib.contextmanager
def serving_in_thread(server: FakeServer, port: int = 0) -> Iterator[FakeServer]:
    """Run a server in a thread with a loop of its own, for tests that block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(port), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
