"""What stands next to what: in a conversation, the answer often follows the line that names its subject."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)

FROM_PREVIOUS = 0.5
"""The share of its score that a passage gives to the one that follows it."""
FROM_NEXT = 0.2
"""The share of its score that a passage gives to the one before it."""


class _Place(NamedTuple):
    """Where a passage stands in its group; `number` tells apart those that claim one position."""

    position: float
    number: int


class Neighbours(Generic[K]):
    """Passages in their order, group by group. Not thread-safe."""

    def __init__(self) -> None:
        self._groups: defaultdict[Hashable, list[_Place]] = defaultdict(list)
        self._places: dict[K, tuple[Hashable, _Place]] = {}
        self._keys: dict[int, K] = {}
        self._count = 0

    def place(self, key: K, group: Hashable, position: float | None = None) -> None:
        """Put a passage into a group: at a position, or behind all that is there. It leaves where it was before."""
        self.remove(key)
        places = self._groups[group]
        if position is None:
            position = places[-1].position + 1 if places else 0.0
        self._count += 1
        place = _Place(position, self._count)
        insort(places, place)
        self._places[key] = group, place
        self._keys[place.number] = key

    def remove(self, key: K) -> None:
        """Take a passage out, if it is there."""
        if key not in self._places:
            return
        group, place = self._places.pop(key)
        places = self._groups[group]
        del places[bisect_left(places, place)]
        del self._keys[place.number]
        if not places:
            del self._groups[group]

    def share(self, scores: Mapping[K, float], givers: Collection[K]) -> dict[K, float]:
        """The scores of `givers`, and of their neighbours, with what the givers lend.

        Args:
            scores: of all passages; those that are not there have none.
            givers: the passages that lend a share of their score; none passes on what it was lent.
        """
        shared = {key: scores[key] for key in givers}
        for key in givers:
            for neighbour, part in self._around(key):
                shared[neighbour] = shared.get(neighbour, scores.get(neighbour, 0.0)) + part * scores[key]
        return shared

    def _around(self, key: K) -> Iterator[tuple[K, float]]:
        """The neighbours of a passage, each with its part of that one's score."""
        if key not in self._places:
            return
        group, place = self._places[key]
        places = self._groups[group]
        index = bisect_left(places, place)
        if index + 1 < len(places):
            yield self._keys[places[index + 1].number], FROM_PREVIOUS
        if index > 0:
            yield self._keys[places[index - 1].number], FROM_NEXT
