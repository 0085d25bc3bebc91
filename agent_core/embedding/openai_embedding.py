"""`OpenAIEmbeddingModel`: any endpoint that speaks OpenAI's embeddings, over the `openai` package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_core.embedding.base import EmbeddingModelBase
from agent_core.errors import ModelError
from agent_core.model.limits import RetryPolicy, TimeLimits
from agent_core.model.openai_client import OpenAIClient
from agent_core.text import well_formed


class OpenAIEmbeddingModel(EmbeddingModelBase):
    """An embedding model behind an OpenAI-compatible API.

    Args:
        model: the model's name at the endpoint.
        api_key: `OPENAI_API_KEY` when None; an endpoint that needs no key works without.
        base_url: `OPENAI_BASE_URL` when None, else OpenAI's own.
        dimensions: the wanted length of the vectors; the model's own when None, known after the first answer.
        batch_size: texts in one request; some endpoints take no more than 10.
        limits: how long the endpoint may take for a batch: `connect` and `first_token`.
        retry: how often a failed request is made again.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int | None = None,
        *,
        batch_size: int = 64,
        limits: TimeLimits | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._asked_dimensions = dimensions
        self._batch_size = batch_size
        self._client = OpenAIClient(
            model, api_key, base_url, limits or TimeLimits(first_token=60.0), retry or RetryPolicy()
        )
        self.endpoint = str(self._client.endpoint)

    def __repr__(self) -> str:
        return f"OpenAIEmbeddingModel({self.model!r}, base_url={self.endpoint!r})"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in the order given; several requests when they are more than a batch.

        Raises:
            ModelError: the endpoint failed, or its answer does not fit the texts.
        """
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            vectors += await self._embed_batch(texts[start : start + self._batch_size])
        if vectors:
            self.dimensions = len(vectors[0])
        return vectors

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    async def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        request: dict[str, Any] = {
            "model": self.model,
            # Endpoints refuse empty texts; a space stands for nothing just as well.
            "input": [well_formed(text) or " " for text in texts],
            "encoding_format": "float",
        }
        if self._asked_dimensions is not None:
            request["dimensions"] = self._asked_dimensions
        answer = await self._client.fetch(lambda sdk: sdk.embeddings.with_raw_response.create(**request))
        try:
            document = json.loads(answer.content)
            if isinstance(document, Mapping) and document.get("error"):
                raise self._client.failures.broken(document).error
            return _vectors(document, len(texts))
        except (ValueError, TypeError, KeyError) as error:
            raise ModelError(f"{self.endpoint} answered with something that is no list of vectors: {error}") from error


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """The vectors of an answer in the order of the texts.

    Raises:
        ValueError, TypeError, KeyError: they are not `count` vectors of one length.
    """
    entries: list[Mapping[str, Any]] = answer["data"]
    if len(entries) != count:
        raise ValueError(f"{len(entries)} vectors for {count} texts")
    if all("index" in entry for entry in entries):
        entries = sorted(entries, key=lambda entry: int(entry["index"]))
    vectors = [[float(number) for number in entry["embedding"]] for entry in entries]
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("vectors of different lengths")
    return vectors
