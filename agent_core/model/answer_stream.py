"""One streamed answer on its way in: bytes to chunks, within a time limit, and every way in which it can break off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from agent_core.model.failure import Failure, root_cause
from agent_core.model.openai_client import OpenAIClient
from agent_core.model.sse import EventDecoder, ServerSentEvent

Chunk = Mapping[str, Any]

_DRAIN_SECONDS = 0.1


class AnswerStream:
    """The chunks of an open response.

    Args:
        response: the SDK's streamed response.
        client: whose response it is.

    Attributes:
        ended: nothing more will come.
        complete: the endpoint said `[DONE]`, or sent its answer in one piece; a stream without either may be cut short.
    """

    def __init__(self, response: Any, client: OpenAIClient) -> None:
        self.ended = False
        self.complete = False
        self._client = client
        self._failures = client.reader_for(response.http_response)
        self._pieces: AsyncIterator[bytes] = response.iter_bytes()
        self._content_type = str(response.headers.get("content-type", "")).partition(";")[0]
        self._decoder = EventDecoder()
        self._document: list[bytes] | None = None
        self._is_new = True
        self._failure: Failure | None = None

    async def read(self, seconds: float | None) -> list[Chunk]:
        """Wait for the next bytes and give the chunks that they complete; none for a keep-alive comment.

        Raises:
            TimeoutError: nothing came for `seconds`.
            Failure: the connection broke, the endpoint reported an error, or sent what is no event.
        """
        if self._failure is not None:
            raise self._failure
        try:
            async with asyncio.timeout(seconds):
                data = await anext(self._pieces, None)
        except TimeoutError:
            raise
        except Exception as error:
            raise self._failures.interrupted(root_cause(error)) from self._client.shown_safely(error)
        if self._is_new and data and data.strip():
            self._is_new = False
            # Told by its look and not by its content type, which some servers get wrong.
            self._document = [] if data.lstrip().startswith(b"{") else None
        if self._document is not None:
            return self._read_document(self._document, data)
        return self._read_events(data)

    def _read_events(self, data: bytes | None) -> list[Chunk]:
        if data is None:
            self.ended = True
        events = self._decoder.close() if data is None else self._decoder.feed(data)
        chunks: list[Chunk] = []
        try:
            for event in events:
                chunks += self._chunks(event)
        except Failure as failure:
            if not chunks:
                raise
            # What came before in the same bytes is not to be lost with it.
            self._failure, self.ended = failure, False
        return chunks

    def _read_document(self, pieces: list[bytes], data: bytes | None) -> list[Chunk]:
        """Collect an answer that is one JSON document, although a stream was asked for."""
        if data is not None:
            pieces.append(data)
            return []
        self.complete = self.ended = True
        body = b"".join(pieces).decode("utf-8", "replace")
        return self._chunks(ServerSentEvent("message", body))

    def _chunks(self, event: ServerSentEvent) -> list[Chunk]:
        values = self._values(event)
        for value in values:
            if event.name == "error" or _is_error(value):
                raise self._failures.broken(value)
        return [value for value in values if isinstance(value, Mapping)]

    def _values(self, event: ServerSentEvent) -> list[Any]:
        """The JSON values of an event: one as a rule, one a line from servers that forget the blank line between."""
        if event.data.strip() == "[DONE]":
            self.complete = self.ended = True
            return []
        try:
            return [json.loads(event.data)]
        except (ValueError, RecursionError) as error:
            lines = event.data.split("\n")
            if len(lines) > 1:
                return [value for line in lines for value in self._values(ServerSentEvent(event.name, line))]
            if event.name == "error":
                return [event.data]
            raise self._failures.interrupted(f"it sent what is not JSON: {error}") from error

    async def drain(self) -> None:
        """Read to the end of a body whose answer is complete, briefly, so that its connection can be used again."""
        with suppress(Exception):
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in self._pieces:
                    pass

    def nothing_came(self) -> Failure:
        """The failure to raise when the stream has ended without a chunk that is (part of) an answer."""
        if self._content_type in ("", "text/event-stream"):
            return self._failures.interrupted("the connection was closed before an answer came")
        return self._failures.no_stream(self._content_type)


def _is_error(value: object) -> bool:
    """Whether a chunk reports an error: OpenAI's form, and that of older vLLM."""
    return isinstance(value, Mapping) and bool(value.get("error") or value.get("object") == "error")
