"""One OpenAI-compatible endpoint: the key, the connections to it, and the SDK's exceptions turned into failures.

The `openai` package is imported at the first call, in a thread: it takes about a second of CPU, and a screen that waits
for it would be a screen that stands still.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from agent_core.model.endpoint import OPENAI_BASE_URL, Endpoint
from agent_core.model.failure import Failure, FailureReader, causes
from agent_core.model.limits import RetryPolicy, TimeLimits
from agent_core.secret import Secret

if TYPE_CHECKING:
    from openai import APIConnectionError, AsyncOpenAI

T = TypeVar("T")

_NO_KEY = "none"
"""Sent where no key is set: the SDK wants one, and servers that need none ignore it."""


class OpenAIClient:
    """Calls to one endpoint.

    Args:
        model: the model's name, for messages to people.
        api_key: `OPENAI_API_KEY` when None; endpoints that need none get none.
        base_url: `OPENAI_BASE_URL` when None, else OpenAI's own address.
        limits: how long the endpoint may take.
        retry: how often a failed call is made again.
    """

    def __init__(
        self, model: str, api_key: str | None, base_url: str | None, limits: TimeLimits, retry: RetryPolicy
    ) -> None:
        key = (api_key if api_key is not None else os.environ.get("OPENAI_API_KEY", "")).strip()
        self.endpoint = Endpoint((base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL).strip())
        self.limits = limits
        self.retry = retry
        self._key = Secret(key)
        self._key_is_sendable = key.isascii() and key.isprintable() and " " not in key
        self.failures = FailureReader(self.endpoint, model, self._key)
        self._sdk: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def prepare(self) -> None:
        """Import the SDK and make its client if need be, outside of the time that the endpoint is given.

        Raises:
            ModelError: the key or the address cannot be used.
        """
        try:
            with self.reading_failures():
                await self._get_sdk()
        except Failure as failure:
            raise failure.error from failure.__cause__

    async def _get_sdk(self) -> AsyncOpenAI:
        """The SDK's client, made at the first call in each event loop (its connections belong to one)."""
        if not self._key_is_sendable:
            raise self.failures.bad_key()
        loop = asyncio.get_running_loop()
        if self._sdk is None or self._loop is not loop:
            made = await asyncio.to_thread(self._make)
            if self._sdk is None or self._loop is not loop:
                # Of two first calls at the same time only one keeps what it made; the other's has no connections yet.
                self._sdk, self._loop = made, loop
        return self._sdk

    def _make(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        timeout = Timeout(None, connect=self.limits.connect)
        return AsyncOpenAI(
            api_key=self._key.reveal() or _NO_KEY,
            base_url=self.endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            # A proxy of the environment leads away from this machine, not to a server on it.
            http_client=DefaultAsyncHttpxClient(trust_env=False, timeout=timeout) if self.endpoint.is_local else None,
        )

    @asynccontextmanager
    async def open_stream(self, request: dict[str, Any]) -> AsyncIterator[Any]:
        """Post a chat completion and give the SDK's response as soon as its headers are there.

        Raises:
            Failure: while opening it.
        """
        with self.reading_failures():
            sdk = await self._get_sdk()
            # As `extra_body` the request goes out as it is; the SDK would look at every field of every message before.
            manager = sdk.chat.completions.with_streaming_response.create(
                model=request["model"], messages=[], stream=True, extra_body=request
            )
            response = await manager.__aenter__()
        try:
            yield response
        finally:
            await manager.__aexit__(None, None, None)

    async def fetch(self, call: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        """Make a call that does not stream, with retries and the time limit of a first token.

        Raises:
            ModelError: it failed.
        """
        await self.prepare()
        attempt = 0
        try:
            async with asyncio.timeout(self.limits.first_token):
                while True:
                    try:
                        with self.reading_failures():
                            return await call(await self._get_sdk())
                    except Failure as failure:
                        attempt += 1
                        delay = self.retry.delay(attempt, failure)
                        if delay is None:
                            raise failure.error from failure.__cause__
                        await asyncio.sleep(delay)
        except TimeoutError:
            raise self.failures.silent(self.limits.first_token or 0, answering=False).error from None

    @contextmanager
    def reading_failures(self) -> Iterator[None]:
        """Turn what the SDK raises inside into a `Failure` whose cause can be shown without showing the key."""
        try:
            yield
        except Failure:
            raise
        except Exception as error:
            raise self._failure(error) from self.shown_safely(error)

    def _failure(self, error: Exception) -> Failure:
        from openai import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            reader = self.reader_for(error.response)
            return reader.refused(error.status_code, error.body or error.response.text, error.response.headers)
        if isinstance(error, APIConnectionError):
            url = _redirected_to(error)
            return (self.failures.at(url) if url else self.failures).unreachable(error)
        return self.failures.unexpected(error)

    def reader_for(self, response: Any) -> FailureReader:
        """The reader for where a response comes from, which is another place after a redirect."""
        return self.failures.at(str(response.url)) if response.history else self.failures

    def shown_safely(self, error: Exception) -> Exception | None:
        """The error without the SDK's frames, whose locals hold the key; None when its own text holds it."""
        for inner in causes(error):
            if self._key.occurs_in(str(inner)):
                return None
            inner.__traceback__ = None
        return error

    async def aclose(self) -> None:
        """Close the connections."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None and self._loop is asyncio.get_running_loop():
            await sdk.close()


def _redirected_to(error: APIConnectionError) -> str:
    """Where the connection that failed was to lead, if the endpoint had redirected there; else empty."""
    for inner in causes(error):
        # By its look: the SDK has one of several HTTP clients under it.
        url = str(getattr(vars(inner).get("_request"), "url", ""))
        if url and (url != str(error.request.url) or type(inner).__name__ == "TooManyRedirects"):
            return url
    return ""
