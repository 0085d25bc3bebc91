"""What every embedding model offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class EmbeddingModelBase(ABC):
    """A model that turns texts into vectors.

    Attributes:
        model: the model's name, for people and for the endpoint.
        dimensions: the length of its vectors, or None when that is not known before the first answer.
    """

    model: str
    dimensions: int | None = None

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in the order given.

        Raises:
            ModelError: the endpoint or the model failed.
        """

    async def aclose(self) -> None:  # noqa: B027 - most models have nothing to let go of
        """Let go of connections."""
