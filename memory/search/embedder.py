"""`Embedder`: what turns texts into vectors for local search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from agent_core.errors import ModelError
from agent_core.text import shorten, well_formed
from agent_core.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy.typing as npt

    from agent_core.embedding import EmbeddingModelBase
    from memory.search.vectors import Matrix

MAX_TOKENS = 200
"""So many tokens of a text are embedded, at most: the time grows with them, and one vector does not hold more."""


class Embedder(Protocol):
    """A model that gives texts vectors. Its methods block, and may be called from several threads at once.

    Questions and passages are told apart, because many models want it.

    Attributes:
        model_id: names the model, its place and its version; vectors of different ones must never meet.
        dimensions: how many numbers a vector has.
        batch_size: how many passages are best given at once.
    """

    model_id: str
    dimensions: int
    batch_size: int

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A row of float32, of length 1, for each question.

        Raises:
            ModelError: the model failed.
        """

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """A row of float32, of length 1, for each passage.

        Raises:
            ModelError: the model failed.
        """


def embeddable(text: str) -> str:
    """The part of a text that is embedded: its start, in one line, without characters that models trip over."""
    line = " ".join(well_formed(text[: MAX_TOKENS * 8]).replace("\0", " ").split())
    tokens = estimate_tokens(line)
    return shorten(line, len(line) * MAX_TOKENS // tokens) if tokens > MAX_TOKENS else line


async def dimensions_of(model: EmbeddingModelBase) -> int:
    """The length of a model's vectors; one that does not know it is asked for one.

    Raises:
        ModelError: the model failed.
    """
    if model.dimensions:
        return model.dimensions
    vectors = await model.embed(["dimensions"])
    try:
        length = len(vectors[0])
    except (TypeError, LookupError):
        length = 0
    if not length:
        raise ModelError(f"the embedding model {model.model} gave no vector")
    return length


def unit_rows(vectors: npt.ArrayLike, count: int, dimensions: int) -> Matrix:
    """What a model gave, as rows of float32 of length 1.

    Raises:
        ModelError: these are not `count` vectors of `dimensions` finite numbers.
    """
    import numpy as np

    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError("the embedding model gave something that is no list of vectors") from error
    if rows.shape != (count, dimensions):
        raise ModelError(f"the embedding model gave {rows.shape} numbers instead of {(count, dimensions)}")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise ModelError("the embedding model gave numbers that are no vector")
    units: Matrix = rows / norms
    return units
