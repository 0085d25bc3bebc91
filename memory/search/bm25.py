"""BM25 over small documents: how well each fits the words of a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_core.words import tokenize

SATURATION = 1.2
"""How soon repeating a word stops helping; k1 in the literature."""
LENGTH_PENALTY = 0.75
"""How much a long document must repeat itself to count as much as a short one; b in the literature, 0 to 1."""


class Document(NamedTuple):
    """A text as counts of its words, and how many words it has."""

    counts: Mapping[str, int]
    length: int


def document(text: str) -> Document:
    """Count the words of a text; worth keeping, for it costs far more than ranking."""
    counts = Counter(tokenize(text))
    return Document(counts, counts.total())


def rank(query: str, documents: Sequence[Document]) -> list[tuple[int, float]]:
    """The documents that share a word with `query`: pairs of position and score, best first; ties keep their order."""
    words = dict.fromkeys(tokenize(query))
    holding = {word: [number for number, one in enumerate(documents) if word in one.counts] for word in words}
    average = _mean(one.length for one in documents)
    scores: dict[int, float] = {}
    for word, numbers in holding.items():
        rarity = math.log(1 + (len(documents) - len(numbers) + 0.5) / (len(numbers) + 0.5))
        for number in numbers:
            counts, length = documents[number]
            damping = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * length / average)
            share = counts[word] * (SATURATION + 1) / (counts[word] + damping)
            scores[number] = scores.get(number, 0.0) + rarity * share
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _mean(lengths: Iterable[int]) -> float:
    values = list(lengths)
    return sum(values) / len(values) if values else 0.0
