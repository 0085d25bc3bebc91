"""Vectors for `/v1/embeddings`: deterministic, and closer for texts that share words."""

from __future__ import annotations

import hashlib
import math
import re

DIMENSIONS = 64


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length 1: every word, and every CJK character, counts in one place."""
    counts = [0.0] * dimensions
    for word in re.findall(r"[^\W\u3040-\u9fff]+|[\u3040-\u9fff]", text.lower()):
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4], "big") % dimensions] += 1.0
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts] if length else [1.0] + [0.0] * (dimensions - 1)
