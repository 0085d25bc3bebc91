"""Our models as mem0's: it makes these through its factories, by the names below, and calls them from its threads."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_core.embedding import EmbeddingModelBase
from agent_core.errors import ModelError, StorageError
from memory.mem0.extraction import answer_text, as_messages, extract
from memory.mem0.store_call import current_store_call
from memory.search import everyday
from memory.search.embedder import Embedder, embeddable, unit_rows

if TYPE_CHECKING:
    from memory.search.vectors import Matrix, Vector

PROVIDER = "mnemoscope"
"""The name that all three adapters are registered under."""
LLM_CLASS = "memory.mem0.adapters.ChatModelLlm"
EMBEDDER_CLASS = "memory.mem0.adapters.EmbedderAdapter"
STORE_CLASS = "memory.mem0.sqlite_store.SqliteVectorStore"

_log = logging.getLogger(__name__)


class ChatModelLlm:
    """The chat model of the call that is being served."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def generate_response(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_format: Any = None,
        tools: Any = None,
        tool_choice: str = "auto",
        **options: Any,
    ) -> str:
        """The model's answer; where JSON is asked for, JSON of exactly the form that mem0 takes.

        Raises:
            ExtractionError: the model gave no list of memories, twice.
            ModelError: the model failed.
            StorageError: there is no model.
        """
        call = current_store_call()
        if call.model is None:
            raise StorageError("There is no language model to extract memories with.")
        if response_format is None:
            return call.ask(answer_text(as_messages(messages), call.model, call))
        return call.ask(extract(messages, call.model, call))


class ModelEmbedder:
    """A configured embedding model, asked on the loop of the call that is being served. It is an `Embedder`.

    Args:
        model: gives the vectors.
        dimensions: the length of its vectors.
    """

    batch_size = 64

    def __init__(self, model: EmbeddingModelBase, dimensions: int) -> None:
        self.dimensions = dimensions
        # Without the endpoint: the same model at another address gives the same vectors.
        self.model_id = model.model
        self._model = model

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        vectors = current_store_call().ask(self._model.embed([embeddable(text) for text in texts]))
        return unit_rows(vectors, len(texts), self.dimensions)


class Yardstick:
    """How near to a question a memory must be to have to do with it: about as near as everyday talk.

    Args:
        embedder: gives the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._talk: Matrix | None = None

    def closeness_of_talk(self, question: Vector) -> float:
        """The cosine that a memory must exceed; -1 where none can be told.

        Args:
            question: its vector, of length 1.
        """
        self.make()
        return -1.0 if self._talk is None else everyday.closeness(self._talk, question)

    def make(self) -> None:
        """Embed the talk, if that has not been done; without it nothing is told apart."""
        if self._talk is None:
            try:
                self._talk = self._embedder.embed_passages(everyday.SENTENCES)
            except ModelError:
                _log.warning("everyday talk could not be embedded", exc_info=True)


class EmbedderAdapter:
    """An `Embedder` as mem0 wants it; without one every vector is empty, and only words are searched.

    Args:
        config: mem0's; `model` holds the embedder, or None.
    """

    def __init__(self, config: Any) -> None:
        self.config = config
        self._embedder: Embedder | None = config.model

    def embed(self, text: str, memory_action: str | None = "add") -> list[float]:
        """The vector of a text: of a question where it is searched for, else of a passage."""
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = "add") -> list[list[float]]:
        """The vectors of texts, in the order given.

        Raises:
            ModelError: the embedding model failed.
        """
        if self._embedder is None or not texts:
            return [[] for _ in texts]
        is_search = memory_action == "search"
        embed = self._embedder.embed_queries if is_search else self._embedder.embed_passages
        vectors: list[list[float]] = embed(texts).tolist()
        return vectors
