"""BM25 over small texts: how well each fits the words of a question."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from typing import Generic, TypeVar

from agent_core.words import tokenize

K = TypeVar("K", bound=Hashable)

SATURATION = 0.9
"""How soon repeating a word stops helping; k1 in the literature."""
LENGTH_PENALTY = 0.4
"""How much a long text must repeat itself to count as much as a short one, 0 to 1; b in the literature."""

_COUNT_BITS = 16
_COUNT_MASK = (1 << _COUNT_BITS) - 1
_GONE = -1
_SLACK = 1000
_NONE: array[int] = array("Q")


class Bm25Index(Generic[K]):
    """Texts by their words. A question costs as much as its words occur; changing a text costs as much as the text.

    Texts are counted, not kept. Not thread-safe.
    """

    def __init__(self) -> None:
        # Every version of a text has a slot of its own. A word's occurrences are numbers, slot and count in one, in the
        # order of slots: millions of them fit into memory.
        self._occurrences: dict[str, array[int]] = {}
        self._keys: list[K] = []
        self._lengths: list[int] = []
        self._slots: dict[K, int] = {}
        self._total_length = 0

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, key: K) -> bool:
        return key in self._slots

    def add(self, key: K, text: str) -> None:
        """Take in a text; an earlier one of the same key is replaced."""
        self.remove(key)
        counts = Counter(tokenize(text))
        slot = len(self._keys)
        for word, count in counts.items():
            occurrence = slot << _COUNT_BITS | min(count, _COUNT_MASK)
            self._occurrences.setdefault(word, array("Q")).append(occurrence)
        self._keys.append(key)
        self._lengths.append(counts.total())
        self._slots[key] = slot
        self._total_length += counts.total()

    def remove(self, key: K) -> None:
        """Forget a text, if it is there."""
        slot = self._slots.pop(key, None)
        if slot is None:
            return
        self._total_length -= self._lengths[slot]
        self._lengths[slot] = _GONE
        if len(self._keys) > 2 * len(self._slots) + _SLACK:
            self._drop_empty_slots()

    def scores(self, question: str) -> dict[K, float]:
        """The texts that share a word with the question; the more and the rarer the words, the higher the score."""
        average = self._total_length / len(self._slots) if self._total_length else 1.0
        flat, slope = SATURATION * (1 - LENGTH_PENALTY), SATURATION * LENGTH_PENALTY / average
        lengths = self._lengths
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(tokenize(question)):
            found = self._find(word)
            rarity = math.log(1 + (len(self._slots) - len(found) + 0.5) / (len(found) + 0.5)) * (SATURATION + 1)
            for occurrence in found:
                slot, count = occurrence >> _COUNT_BITS, occurrence & _COUNT_MASK
                scores[slot] += rarity * count / (count + flat + slope * lengths[slot])
        return {self._keys[slot]: score for slot, score in scores.items()}

    def shared_words(self, question: str, keys: Collection[K]) -> dict[K, list[str]]:
        """Which words of the question each of these texts holds, in the order of the question."""
        slots = {key: self._slots[key] for key in keys if key in self._slots}
        shared: dict[K, list[str]] = {key: [] for key in keys}
        for word in dict.fromkeys(tokenize(question)):
            occurrences = self._occurrences.get(word, _NONE)
            for key, slot in slots.items():
                place = bisect_left(occurrences, slot << _COUNT_BITS)
                if place < len(occurrences) and occurrences[place] >> _COUNT_BITS == slot:
                    shared[key].append(word)
        return shared

    def _find(self, word: str) -> Sequence[int]:
        """The occurrences of a word in texts that are still there."""
        occurrences = self._occurrences.get(word, _NONE)
        if len(self._keys) == len(self._slots):
            return occurrences
        lengths = self._lengths
        return [one for one in occurrences if lengths[one >> _COUNT_BITS] != _GONE]

    def _drop_empty_slots(self) -> None:
        moved = {old: new for new, old in enumerate(sorted(self._slots.values()))}
        for word in list(self._occurrences):
            kept = [moved[one >> _COUNT_BITS] << _COUNT_BITS | one & _COUNT_MASK for one in self._find(word)]
            if kept:
                self._occurrences[word] = array("Q", kept)
            else:
                del self._occurrences[word]
        self._keys = [self._keys[slot] for slot in moved]
        self._lengths = [self._lengths[slot] for slot in moved]
        self._slots = {key: slot for slot, key in enumerate(self._keys)}
