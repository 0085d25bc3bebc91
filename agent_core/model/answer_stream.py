"""One streamed answer on its way in: bytes to chunks, within a time limit, and every way in which it can break off."""

from __future__ import annotations

import asyncio
import json
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from agent_core.model.failure import Failure, root_cause, words_in
from agent_core.model.openai_client import OpenAIClient
from agent_core.model.sse import EventDecoder, ServerSentEvent
from agent_core.text import shorten

Chunk = Mapping[str, Any]

_DRAIN_SECONDS = 0.1
_EXCERPT = 80


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
        self._no_answer: Chunk = {}
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
            self._document = [] if data.removeprefix(BOM_UTF8).lstrip().startswith((b"{", b"[")) else None
        if self._document is not None:
            return self._read_document(self._document, data)
        return self._read_events(data)

    def _read_events(self, data: bytes | None) -> list[Chunk]:
        if data is None:
            self.ended = True
        return self._chunks(self._decoder.close() if data is None else self._decoder.feed(data))

    def _read_document(self, pieces: list[bytes], data: bytes | None) -> list[Chunk]:
        """Collect an answer that is one JSON document, although a stream was asked for."""
        if data is not None:
            pieces.append(data)
            return []
        self.complete = self.ended = True
        body = b"".join(pieces).decode("utf-8-sig", "replace")
        return self._chunks([ServerSentEvent("message", body)])

    def _chunks(self, events: Iterable[ServerSentEvent]) -> list[Chunk]:
        chunks: list[Chunk] = []
        try:
            for event in events:
                for value in self._values(event):
                    if event.name == "error" or (error := _error_in(value)):
                        raise self._failures.broken(value if event.name == "error" else error)
                    if isinstance(value, Mapping):
                        chunks.append(value)
        except Failure as failure:
            if not chunks:
                raise
            # What came before in the same bytes is not to be lost with it.
            self._failure, self.ended = failure, False
        self._no_answer = next((chunk for chunk in chunks if not chunk.get("choices")), self._no_answer)
        return chunks

    def _values(self, event: ServerSentEvent) -> Iterator[Any]:
        """The JSON values of an event: one as a rule, one a line from servers that forget the blank line between."""
        if event.data.strip().upper() == "[DONE]":
            self.complete = self.ended = True
            return
        try:
            value = json.loads(event.data)
        except (ValueError, RecursionError) as error:
            lines = event.data.split("\n")
            if len(lines) > 1:
                for line in filter(str.strip, lines):
                    yield from self._values(ServerSentEvent(event.name, line))
            elif event.name == "error":
                yield event.data
            else:
                excerpt = shorten(event.data, _EXCERPT)
                raise self._failures.interrupted(f"it sent what is not JSON: {excerpt}") from error
        else:
            yield from value if isinstance(value, list) else [value]

    async def drain(self) -> None:
        """Read to the end of a body whose answer is complete, briefly, so that its connection can be used again."""
        with suppress(Exception):
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in self._pieces:
                    pass

    def broke_off(self) -> Failure | None:
        """The failure of an answer that has begun and said no word about its end; None where `[DONE]` is the end."""
        # Many put an error into a shape of their own, and `[DONE]` behind it.
        said = words_in(self._no_answer)
        if said or not self.complete:
            return self._failures.interrupted(said or "the connection was closed")
        return None

    def nothing_came(self) -> Failure:
        """The failure to raise when the stream has ended without a chunk that is (part of) an answer."""
        stray = self._decoder.stray
        if "\ufffd" in stray:
            return self._failures.interrupted("it sent bytes that are no text")
        return self._failures.no_answer(self._content_type, self._no_answer or stray)


def _error_in(value: object) -> object:
    """What in a chunk reports an error, if anything: OpenAI's form, that of older vLLM, and that of a single choice."""
    if not isinstance(value, Mapping):
        return None
    if _holds_words(value.get("error")) or value.get("object") == "error":
        return value
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) and _holds_words(first.get("error")) else None


def _holds_words(error: object) -> bool:
    """Whether there is an error; some servers send the field with every chunk, and nothing in it."""
    return any(error.values()) if isinstance(error, Mapping) else bool(error)
