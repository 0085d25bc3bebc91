"""Vectors by key, in one matrix, compared with all at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = Sequence[float] | npt.NDArray[np.float32]
    Matrix = npt.NDArray[np.float32]

K = TypeVar("K", bound=Hashable)

_FIRST_ROWS = 64


class VectorMatrix(Generic[K]):
    """Vectors of one kind, scaled to length 1. Not thread-safe.

    Args:
        dimensions: how many numbers each has; as many as the first one when None.
    """

    def __init__(self, dimensions: int | None = None) -> None:
        self._dimensions = dimensions
        self._rows: dict[K, int] = {}
        self._keys: list[K] = []
        self._matrix: Matrix | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: K) -> bool:
        return key in self._rows

    def put(self, key: K, vector: Vector) -> None:
        """Take in a vector; an earlier one of the same key is replaced.

        Raises:
            ValueError: it has more or fewer numbers than the others.
        """
        unit = unit_length(vector)
        self._require_dimensions(unit)
        row = self._rows.setdefault(key, len(self._keys))
        if row == len(self._keys):
            self._keys.append(key)
        self._with_room(unit)[row] = unit

    def remove(self, key: K) -> None:
        """Forget a vector, if it is there."""
        row = self._rows.pop(key, None)
        if row is None or self._matrix is None:
            return
        last = self._keys.pop()
        if last != key:
            # The last one moves into the gap.
            self._matrix[row] = self._matrix[len(self._keys)]
            self._keys[row] = last
            self._rows[last] = row

    def nearest(
        self,
        vector: Vector,
        count: int,
        also: Iterable[K] = (),
        only: Callable[[K], bool] | None = None,
    ) -> dict[K, float]:
        """The cosines, -1 to 1, of the `count` nearest vectors, and of those of the keys in `also`.

        Args:
            vector: what they are compared with.
            count: how many are wanted.
            also: keys whose cosines are wanted however far they are.
            only: whether a key is wanted at all.

        Raises:
            ValueError: `vector` has more or fewer numbers than those.
        """
        import numpy as np

        if self._matrix is None or not self._keys:
            return {}
        unit = unit_length(vector)
        self._require_dimensions(unit)
        # Not `@`: for a product as small as this, the threads of a BLAS library cost more than they do.
        cosines = np.einsum("ij,j->i", self._matrix[: len(self._keys)], unit)
        rows = np.arange(len(self._keys))
        if only is not None:
            rows = rows[[only(key) for key in self._keys]]
        if count < len(rows):
            rows = rows[np.argpartition(-cosines[rows], count)[:count]]
        wanted = {int(row) for row in rows}
        wanted.update(self._rows[key] for key in also if key in self._rows and (only is None or only(key)))
        return {self._keys[row]: float(cosines[row]) for row in sorted(wanted)}

    def _with_room(self, unit: Matrix) -> Matrix:
        import numpy as np

        if self._matrix is None:
            self._matrix = np.zeros((_FIRST_ROWS, len(unit)), dtype=np.float32)
        if len(self._keys) > len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        return self._matrix

    def _require_dimensions(self, vector: Matrix) -> None:
        if self._dimensions is None:
            self._dimensions = len(vector)
        if len(vector) != self._dimensions:
            raise ValueError(f"a vector of {len(vector)} numbers among vectors of {self._dimensions}")


def unit_length(vector: Vector) -> Matrix:
    """A vector scaled to length 1; one of zeros stays as it is."""
    import numpy as np

    array = np.asarray(vector, dtype=np.float32)
    norm = float(np.linalg.norm(array))
    return array / norm if norm else array
