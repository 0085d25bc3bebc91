"""Two rankings made one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

LEXICAL_SHARE = 0.5
"""How much the words count beside the meaning, 0 to 1."""


def fuse(lexical: Mapping[K, float], semantic: Mapping[K, float]) -> dict[K, float]:
    """Bring both scores to 0..1 between the worst and the best candidate, and join them.

    A candidate without a lexical score shares no word with the question, which is a score of 0. One without a semantic
    score has no vector yet: what the words say stands for both.
    """
    words = _spread(lexical, low=0.0)
    meaning = _spread(semantic, low=min(semantic.values(), default=0.0))
    fused = {}
    for key in words | meaning:
        by_words = words.get(key, 0.0)
        fused[key] = LEXICAL_SHARE * by_words + (1 - LEXICAL_SHARE) * meaning.get(key, by_words)
    return fused


def _spread(scores: Mapping[K, float], low: float) -> dict[K, float]:
    """The scores between 0 for `low` and 1 for the highest."""
    width = max(scores.values(), default=low) - low
    return {key: (score - low) / width if width else 1.0 for key, score in scores.items()}
