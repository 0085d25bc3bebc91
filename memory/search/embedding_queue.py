"""`EmbeddingQueue`: texts that wait for their vectors, embedded in the background, a few at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from agent_core.text import first_line
from memory.search.embedder import Embedder, unit_rows

if TYPE_CHECKING:
    from memory.search.vector_cache import VectorCache
    from memory.search.vectors import Matrix, Vector

K = TypeVar("K", bound=Hashable)

_log = logging.getLogger(__name__)


class EmbeddingQueue(Generic[K]):
    """One thread embeds batch after batch. The end of the program waits for the batch that is in work, no longer.

    Args:
        embedder: gives the vectors.
        cache: keeps them.
        lock: guards all that the queue and its owner share. Whoever calls `put`, `discard` or `work` holds it.
        deliver: takes the vector of a key; called with the lock held.

    Attributes:
        problem: why the last batch failed, one line for people; empty when it did not.
    """

    def __init__(
        self,
        embedder: Embedder,
        cache: VectorCache | None,
        lock: threading.Lock,
        deliver: Callable[[K, Vector], None],
    ) -> None:
        self.problem = ""
        self._embedder = embedder
        self._cache = cache
        self._deliver = deliver
        self._texts: dict[K, str] = {}
        self._rests = threading.Condition(lock)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._batch_size = embedder.batch_size
        self._is_working = False
        self._is_closed = False

    def kept(self, texts: Collection[str]) -> Mapping[str, Vector]:
        """The vectors of texts that were embedded in an earlier run."""
        if self._cache is None or not texts:
            return {}
        found = self._cache.get(self._embedder.model_id, texts)
        return {text: vector for text, vector in found.items() if len(vector) == self._embedder.dimensions}

    def put(self, key: K, text: str) -> None:
        """Let a text wait, in place of an earlier one of the same key."""
        self._texts[key] = text
        self.work()

    def discard(self, key: K) -> None:
        """Take a text back, if it still waits."""
        self._texts.pop(key, None)

    def work(self) -> None:
        """Go on, also after a failure."""
        if self._texts and not self._is_working and not self._is_closed:
            self._is_working = self._schedule()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all is embedded or embedding has failed; False when that takes more than `timeout` seconds.

        The lock must not be held.
        """
        with self._rests:
            return self._rests.wait_for(lambda: self._is_closed or not self._is_working, timeout)

    def close(self) -> None:
        """Embed no more. The lock must not be held."""
        with self._rests:
            self._is_closed = True
            self._rests.notify_all()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _schedule(self) -> bool:
        try:
            self._worker.submit(self._embed_batch)
        except RuntimeError:
            # The program is ending, and takes no new work.
            return False
        return True

    def _embed_batch(self) -> None:
        with self._rests:
            batch = dict(islice(self._texts.items(), self._batch_size))
        try:
            vectors = self._embed(list(batch.values())) if batch else None
        except Exception as error:
            _log.warning("embedding failed", exc_info=True)
            self._end_batch(batch, None, first_line(str(error)) or type(error).__name__)
        else:
            self._end_batch(batch, vectors, "")

    def _embed(self, texts: list[str]) -> Matrix:
        vectors = unit_rows(self._embedder.embed_passages(texts), len(texts), self._embedder.dimensions)
        if self._cache is not None:
            self._cache.put(self._embedder.model_id, dict(zip(texts, vectors, strict=True)))
        return vectors

    def _end_batch(self, batch: Mapping[K, str], vectors: Matrix | None, problem: str) -> None:
        """Deliver what is still wanted; after a failure, put the batch behind the others and rest.

        The next one is smaller then, so that a text that cannot be embedded does not hold others up for ever.
        """
        with self._rests:
            self.problem = problem
            self._batch_size = max(1, self._batch_size // 2) if problem else self._embedder.batch_size
            wanted = [(row, key) for row, (key, text) in enumerate(batch.items()) if self._texts.get(key) == text]
            for row, key in wanted:
                text = self._texts.pop(key)
                if vectors is None:
                    self._texts[key] = text
                else:
                    self._deliver(key, vectors[row])
            self._is_working = not problem and bool(self._texts) and not self._is_closed and self._schedule()
            if not self._is_working:
                self._rests.notify_all()
