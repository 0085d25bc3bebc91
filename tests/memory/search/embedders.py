"""Embedders whose notion of meaning is small and known."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class Meanings:
    """Each concept is a direction; a text points to those of its words, or nowhere in particular.

    Attributes:
        passages: what was embedded as a passage, in order, but for everyday talk.
        fault: raised instead of an answer, when set.
        is_open: passages are embedded only while it is set.
    """

    model_id = "meanings"
    dimensions = 8
    batch_size = 4

    def __init__(self, concepts: Mapping[str, str]) -> None:
        self.passages: list[str] = []
        self.fault: Exception | None = None
        self.is_open = threading.Event()
        self.is_open.set()
        self._axes = {name: axis for axis, name in enumerate(dict.fromkeys(concepts.values()), 1)}
        self._concepts = concepts

    def embed_queries(self, texts: Sequence[str]) -> Any:
        if self.fault is not None:
            raise self.fault
        return np.stack([self._vector(text) for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.is_open.wait()
        if self.fault is not None:
            raise self.fault
        vectors = [self._vector(text) for text in texts]
        self.passages += [text for text, vector in zip(texts, vectors, strict=True) if not vector[0]]
        return np.stack(vectors)

    def _vector(self, text: str) -> Any:
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()):
            if word in self._concepts:
                vector[self._axes[self._concepts[word]]] += 1.0
        if not vector.any():
            vector[0] = 1.0
        return vector / np.linalg.norm(vector)
