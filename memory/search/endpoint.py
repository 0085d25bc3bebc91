"""A configured embedding model as an `Embedder`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import CancelledError, wait
from typing import TYPE_CHECKING

from agent_core.embedding import EmbeddingModelBase
from agent_core.errors import ModelError
from memory.search.embedder import dimensions_of, embeddable, unit_rows

if TYPE_CHECKING:
    from memory.search.vectors import Matrix

_LOOK_AT_LOOP = 0.2
"""Seconds after which it is looked whether the event loop still runs."""
_ENDED = "the embedding model's event loop has ended"


class EndpointEmbedder:
    """Asks an embedding model on its event loop, for threads beside it; they wait for the answer.

    It is made by `open`, on that loop.
    """

    batch_size = 64

    def __init__(self, model: EmbeddingModelBase, dimensions: int, loop: asyncio.AbstractEventLoop) -> None:
        self.dimensions = dimensions
        self.model_id = f"{getattr(model, 'endpoint', '')}:{model.model}:{dimensions}"
        self._model = model
        self._loop = loop

    @classmethod
    async def open(cls, model: EmbeddingModelBase) -> EndpointEmbedder:
        """Take a model into use; one whose vectors are of unknown length is asked for one.

        Raises:
            ModelError: the model failed.
        """
        return cls(model, await dimensions_of(model), asyncio.get_running_loop())

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        if not self._loop.is_running():
            raise ModelError(_ENDED)
        embedding = self._model.embed([embeddable(text) for text in texts])
        answer = asyncio.run_coroutine_threadsafe(embedding, self._loop)
        while not wait([answer], timeout=_LOOK_AT_LOOP).done:
            # A loop that has ended never answers, and a thread that waits for it would keep the program alive.
            if not self._loop.is_running():
                raise ModelError(_ENDED)
        try:
            return unit_rows(answer.result(), len(texts), self.dimensions)
        except CancelledError:
            raise ModelError(_ENDED) from None
