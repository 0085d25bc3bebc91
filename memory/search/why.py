"""Why a passage was found, in a few words for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_core.words import tokenize

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def forms(question: str) -> dict[str, str]:
    """The comparable words of a question, each with the form in which it stands there."""
    found = {word: word for word in tokenize(question)}
    for form in _WORD.findall(question):
        words = tokenize(form)
        if len(words) == 1:
            found[words[0]] = form
    return found


def reason(words: Sequence[str], cosine: float | None, *, is_neighbour: bool) -> str:
    """What led to a passage.

    Args:
        words: those of the question that it shares.
        cosine: how near it is in meaning, where that is known.
        is_neighbour: whether a passage next to it shares words.
    """
    parts = []
    if words:
        parts.append(f"shares {', '.join(words)}")
    elif is_neighbour:
        parts.append("stands next to one that shares words")
    if cosine is not None:
        parts.append(f"meaning {cosine:.2f}")
    return "; ".join(parts)
