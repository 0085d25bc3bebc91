"""The default store: mem0's vector-store interface over one SQLite file, for several threads and programs at once."""

from __future__ import annotations

import heapq
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_core.errors import StorageError
from memory.mem0.owned import Owners
from memory.mem0.payload_filter import Filters, matches
from memory.mem0.sqlite_file import MadeWith, connect, made_with, note_made_with, writing
from memory.mem0.sqlite_rows import MATCH, Rows
from memory.mem0.store_call import note_problem
from memory.search.vectors import unit_length

if TYPE_CHECKING:
    from memory.mem0.adapters import Yardstick
    from memory.search.hybrid import Hit
    from memory.search.vectors import Vector


SLACK = 0.03
"""How much farther than everyday talk a memory may be and still count as related: many an answer is no nearer."""


@dataclass
class SqliteStoreConfig:
    """The store's settings in the form that mem0 hands about: see `SqliteVectorStore`."""

    path: str
    collection_name: str = "mem0"
    model: str = ""
    embedding_model_dims: int = 0

    def model_dump(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class StoredMemory:
    """A row as mem0 takes it. `score` is 0 to 1, comparable within one search; None where nothing was searched."""

    id: str
    payload: dict[str, Any]
    score: float | None = None


class SqliteVectorStore:
    """Memories with their vectors, ranked by words and by meaning together.

    mem0 ranks by meaning first and counts words only for what that has found; here `search` does both, and
    `keyword_search` adds nothing. Methods block, and may be called from several threads. Reading does not wait for
    writing.

    Args:
        path: the file; made when it is not there.
        collection_name: keeps rows of several uses apart.
        model: names the embedding model; empty for a search by words alone, which takes any vector and keeps none.
        embedding_model_dims: the length of its vectors.

    Attributes:
        yardstick: tells memories that have to do with a question from others; without it all have.

    Raises:
        StorageError: the file cannot be used, or its vectors are another model's.
    """

    def __init__(self, path: str, collection_name: str, model: str = "", embedding_model_dims: int = 0) -> None:
        self.path = Path(path)
        self.collection_name = collection_name
        self.yardstick: Yardstick | None = None
        self._made = MadeWith(model, embedding_model_dims)
        self._rows = Rows(collection_name)
        self._owners = Owners(self._rows, with_vectors=bool(embedding_model_dims), check=self._check_model)
        self._writer = connect(self.path)
        self._reader = connect(self.path)
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._is_closed = False
        try:
            self._claim()
        except BaseException:
            self.close()
            raise

    # --- mem0's interface

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Store rows, all or none; one whose id is known is replaced.

        Raises:
            ValueError: a vector has another length than those in the file, or is none.
        """
        rows = [
            (str(ids[i]) if ids else str(i), payloads[i] if payloads else {}, self._blob(vector))
            for i, vector in enumerate(vectors)
        ]
        with self._writing() as connection:
            self._rows.put(connection, rows)

    def search(
        self, query: str, vectors: Sequence[float], top_k: int = 5, filters: Filters | None = None
    ) -> list[StoredMemory]:
        """The memories that fit best by words and meaning; by words alone when `vectors` is empty."""
        vector = [*vectors] if self._made.dimensions and len(vectors) else None
        owner, rest = _split(filters)
        with self._reading() as connection:
            hits = [
                hit
                for memories in self._owners.memories(connection, owner)
                for hit in memories.search(query, vector, top_k, memories.passing(connection, self._rows, rest))
            ]
            best = heapq.nlargest(top_k, hits, key=lambda hit: hit.score)
            rows = {row.number: row for row in self._rows.fetch(connection, [hit.key for hit in best])}
        # Outside the lock: a yardstick may have to be made first, by the embedding model.
        talk = self.yardstick.closeness_of_talk(unit_length(vector)) if vector and self.yardstick else -1.0
        found = [(rows[hit.key], hit) for hit in best if hit.key in rows]
        return [
            StoredMemory(row.id, {**json.loads(row.payload), MATCH: _match(hit, talk)}, hit.score) for row, hit in found
        ]

    def keyword_search(self, query: str, top_k: int = 5, filters: Filters | None = None) -> list[StoredMemory]:
        """Nothing: `search` has counted the words already, and mem0 would count them twice."""
        return []

    def search_batch(
        self,
        queries: Sequence[str],
        vectors_list: Sequence[Sequence[float]],
        top_k: int = 1,
        filters: Filters | None = None,
    ) -> list[list[StoredMemory]]:
        """Several searches."""
        return [self.search(query, vector, top_k, filters) for query, vector in zip(queries, vectors_list, strict=True)]

    def get(self, vector_id: str) -> StoredMemory | None:
        """One row, or None."""
        with self._reading() as connection:
            row = self._rows.find(connection, str(vector_id))
        return StoredMemory(row.id, json.loads(row.payload)) if row else None

    def update(
        self, vector_id: str, vector: Sequence[float] | None = None, payload: dict[str, Any] | None = None
    ) -> None:
        """Replace vector, payload or both of a row.

        Raises:
            ValueError: there is no such row any more.
        """
        with self._writing() as connection:
            row = self._rows.find(connection, str(vector_id))
            if row is None:
                raise ValueError(f"there is no memory of the id {vector_id}")
            blob = row.vector if vector is None else self._blob(vector)
            self._rows.put(connection, [(row.id, json.loads(row.payload) if payload is None else payload, blob)])

    def delete(self, vector_id: str) -> None:
        """Delete a row, if it is there."""
        with self._writing() as connection:
            self._rows.delete(connection, str(vector_id))

    def list(self, filters: Filters | None = None, top_k: int | None = None) -> tuple[Sequence[StoredMemory]]:
        """The rows that pass, the newest first, as the only element of a tuple: so mem0 wants it."""
        owner, rest = _split(filters)
        with self._reading() as connection:
            passing = (
                StoredMemory(memory_id, payload)
                for memory_id, payload in self._rows.payloads(connection, owner)
                if matches(payload, rest)
            )
            return ([*islice(passing, top_k)],)

    def create_col(self, name: str, vector_size: int, distance: str = "cosine") -> None:
        """Nothing to do: a collection is there as soon as a row is."""

    def list_cols(self) -> Sequence[str]:
        """The names of the collections that hold anything."""
        with self._reading() as connection:
            return [name for (name,) in connection.execute("SELECT DISTINCT collection FROM memories")]

    def delete_col(self) -> None:
        """Delete every row of this collection."""
        with self._writing() as connection:
            self._rows.clear(connection)

    def reset(self) -> None:
        """The same: nothing else belongs to a collection."""
        self.delete_col()

    def col_info(self) -> dict[str, Any]:
        """Name, number of rows, and what the vectors were made with."""
        with self._reading() as connection:
            made, count = made_with(connection), self._rows.count(connection)
        return {"name": self.collection_name, "count": count, "model": made.model, "dimensions": made.dimensions}

    # --- beyond it

    def load(self, owner: str) -> None:
        """Have a user's memories in RAM before they are searched: thousands take a second."""
        with self._reading() as connection:
            for _ in self._owners.memories(connection, owner):
                pass
        if self.yardstick is not None:
            self.yardstick.make()

    def count_without_vector(self) -> int:
        """How many memories wait for a vector."""
        with self._reading() as connection:
            return self._rows.count(connection, only_without_vector=True)

    def without_vector(self, limit: int) -> Sequence[tuple[str, str]]:
        """Id and text of memories that wait for a vector, `limit` at most."""
        with self._reading() as connection:
            return self._rows.without_vector(connection, limit)

    def set_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Give memories their vectors; those that are gone are passed over."""
        with self._writing() as connection:
            rows = ((self._rows.find(connection, memory_id), vector) for memory_id, vector in vectors.items())
            self._rows.put(
                connection, [(row.id, json.loads(row.payload), self._blob(vector)) for row, vector in rows if row]
            )

    def forget(self, owner: str) -> None:
        """Let go of a user's memories in RAM."""
        with self._reading():
            self._owners.forget(owner)

    def close(self) -> None:
        """Let go of the file: at once, or where a call is still at work in another thread, when that is over."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        # A connection that is closed while another thread uses it takes the whole process down.
        for lock, connection in ((self._read_lock, self._reader), (self._write_lock, self._writer)):
            if lock.acquire(blocking=False):
                try:
                    connection.close()
                finally:
                    lock.release()

    def _claim(self) -> None:
        """See to it that the vectors in the file and those to come are of one model."""
        if not self._made.dimensions or made_with(self._reader) == self._made:
            return
        with self._writing() as connection:
            held = made_with(connection)
            if connection.execute("SELECT 1 FROM memories WHERE vector IS NOT NULL LIMIT 1").fetchone():
                raise StorageError(_other_model(self.path, held, self._made))
            note_made_with(connection, self._made)

    def _check_model(self, connection: sqlite3.Connection) -> None:
        held = made_with(connection)
        if self._made.dimensions and held != self._made:
            raise StorageError(_other_model(self.path, held, self._made))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._alone(self._write_lock), writing(self._writer):
                yield self._writer
        except sqlite3.Error as error:
            note_problem(error)
            raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._alone(self._read_lock):
            yield self._reader

    @contextmanager
    def _alone(self, lock: threading.Lock) -> Iterator[None]:
        """Hold a lock, and close afterwards what could not be closed meanwhile."""
        try:
            with lock:
                yield
        finally:
            if self._is_closed:
                self._close_idle()

    def _blob(self, vector: Vector) -> bytes | None:
        import numpy as np

        if not self._made.dimensions or not len(vector):
            return None
        numbers = np.asarray(vector, dtype="<f4")
        if numbers.shape != (self._made.dimensions,):
            raise ValueError(f"a vector of {len(vector)} numbers in a store of {self._made.dimensions} dimensions")
        if not np.isfinite(numbers).all() or not numbers.any():
            raise ValueError("the numbers of a vector must be finite, and not all zero")
        return numbers.tobytes()


def _match(hit: Hit[int], talk: float) -> dict[str, Any]:
    """What is told of a hit."""
    by_meaning = hit.semantic is not None and hit.semantic > talk - SLACK
    return {"why": hit.why, "cosine": hit.semantic, "is_related": hit.lexical > 0 or by_meaning}


def _other_model(path: Path, held: MadeWith, wanted: MadeWith) -> str:
    return (
        f"The memories in {path} were embedded by {held}, and now it is {wanted}. Go back to that model, have them"
        " embedded anew (mnemoscope facts reindex), or name another data folder. Nothing was changed."
    )


def _split(filters: Filters | None) -> tuple[str | None, dict[str, Any]]:
    """The user whose memories alone are wanted, or None, and the other filters."""
    rest = dict(filters or {})
    owner = rest.get("user_id")
    if not isinstance(owner, str) or owner == "*":
        return None, rest
    del rest["user_id"]
    return owner, rest
