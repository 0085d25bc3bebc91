"""`HybridSearch`: passages found by their words and by their meaning."""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from agent_core.text import first_line
from memory.search import everyday, why
from memory.search.bm25 import Bm25Index
from memory.search.embedder import Embedder, embeddable, unit_rows
from memory.search.embedding_queue import EmbeddingQueue
from memory.search.fusion import fuse
from memory.search.neighbours import Neighbours
from memory.search.vector_cache import VectorCache, digest_of
from memory.search.vectors import VectorMatrix, unit_length

if TYPE_CHECKING:
    from memory.search.vectors import Matrix, Vector

K = TypeVar("K", bound=Hashable)

CANDIDATES = 200
"""So many passages are considered for their words, and as many for their meaning."""

_log = logging.getLogger(__name__)


class Passage(NamedTuple, Generic[K]):
    """A text that can be found.

    Args:
        key: names it.
        text: what it says.
        group: the conversation, or other thing with an order, that it is part of.
        position: where it stands in its group; behind all others when None.
        vector: its embedding where it is known already, by the model that the search embeds questions with.
    """

    key: K
    text: str
    group: Hashable | None = None
    position: float | None = None
    vector: Vector | None = None


class Hit(NamedTuple, Generic[K]):
    """A passage that was found.

    Args:
        key: names it.
        score: 0 to 1; comparable within one search only.
        lexical: its BM25 score, with what its neighbours lend it; 0.0 when no word leads to it.
        semantic: the cosine of its vector and the question's; None where there is none yet.
        is_related: whether it shares a word with the question, or is nearer to it in meaning than everyday talk is. The
            others are merely the best of what is left.
        why: a few words for people.
    """

    key: K
    score: float
    lexical: float
    semantic: float | None
    is_related: bool
    why: str


class Progress(NamedTuple):
    """How many passages there are, how many of them have a vector, and why embedding rests; empty when it does not."""

    passages: int
    embedded: int
    problem: str = ""


class HybridSearch(Generic[K]):
    """Passages, found by BM25 and by vectors; by BM25 alone where there is no embedder.

    New passages are found by their words at once, and by their meaning as soon as a thread in the background has
    embedded them, for which nobody waits. May be used by several threads, not on an event loop: `add` takes as long
    as counting words, `search` as embedding the question.

    Args:
        embedder: gives the vectors.
        cache: keeps them between runs.
    """

    def __init__(self, embedder: Embedder | None = None, cache: VectorCache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._digests: dict[K, bytes] = {}
        self._lock = threading.Lock()
        self._words: Bm25Index[K] = Bm25Index()
        self._neighbours: Neighbours[K] = Neighbours()
        self._vectors: VectorMatrix[K] = VectorMatrix(embedder.dimensions if embedder is not None else None)
        self._queue: EmbeddingQueue[K] | None = None
        if embedder is not None:
            self._queue = EmbeddingQueue(embedder, cache, self._lock, self._vectors.put)
        self._talk: Matrix | None = None
        self._problem = ""

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, key: K) -> bool:
        return key in self._words

    def add(self, passages: Iterable[Passage[K]]) -> None:
        """Take in passages; one whose key is known replaces what was there.

        Raises:
            ValueError: a vector has not the length of the embedder's, or of the others.
        """
        passages = list(passages)
        texts = [embeddable(passage.text) if passage.vector is None else "" for passage in passages]
        kept = self._queue.kept(list(filter(None, texts))) if self._queue is not None else {}
        dropped: list[bytes] = []
        for passage, text in zip(passages, texts, strict=True):
            vector = kept.get(text) if passage.vector is None else passage.vector
            with self._lock:
                self._put_vector(passage.key, text, vector)
                self._words.add(passage.key, passage.text)
                self._neighbours.remove(passage.key)
                if passage.group is not None:
                    self._neighbours.place(passage.key, passage.group, passage.position)
                dropped += self._note_digest(passage.key, digest_of(text) if text else None)
        self._discard(dropped)

    def remove(self, keys: Iterable[K]) -> None:
        """Forget passages, and what the cache keeps of them; keys that are not known are no error."""
        dropped: list[bytes] = []
        for key in keys:
            with self._lock:
                self._words.remove(key)
                self._neighbours.remove(key)
                self._vectors.remove(key)
                if self._queue is not None:
                    self._queue.discard(key)
                dropped += self._note_digest(key, None)
        self._discard(dropped)

    def sweep(self) -> None:
        """Have the cache keep only what belongs to the passages that are here now."""
        if self._cache is not None:
            with self._lock:
                digests = list(self._digests.values())
            self._cache.keep_only(digests)

    def search(
        self,
        question: str,
        limit: int,
        *,
        vector: Vector | None = None,
        only: Callable[[K], bool] | None = None,
    ) -> list[Hit[K]]:
        """The passages that fit a question best, the best first; never waits for the vectors of new passages.

        Args:
            question: what is looked for.
            limit: hits, at most.
            vector: the question's embedding where it is known already.
            only: whether a passage may be a hit; called with the lock held.
        """
        vector = self._embed(question) if vector is None else unit_length(vector)
        talk = self._closeness_of_talk(vector)
        with self._lock:
            lexical = self._lexical_candidates(question, only)
            semantic = self._vectors.nearest(vector, CANDIDATES, lexical, only) if vector is not None else {}
            best = heapq.nlargest(limit, fuse(lexical, semantic).items(), key=lambda item: item[1])
            shared = self._words.shared_words(question, [key for key, _ in best])
        forms = why.forms(question)
        hits = []
        for key, score in best:
            words, cosine = [forms[word] for word in shared[key]], semantic.get(key)
            is_related = key in lexical or (cosine is not None and cosine > talk)
            reason = why.reason(words, cosine, is_neighbour=key in lexical)
            hits.append(Hit(key, score, lexical.get(key, 0.0), cosine, is_related, reason))
        return hits

    def progress(self) -> Progress:
        """How far the embedding is."""
        with self._lock:
            problem = self._problem or (self._queue.problem if self._queue is not None else "")
            return Progress(len(self._words), len(self._vectors), problem)

    def wait_embedded(self, timeout: float | None = None) -> bool:
        """Wait until every passage is embedded or embedding has failed; False if `timeout` seconds were not enough."""
        return self._queue is None or self._queue.wait(timeout)

    def close(self) -> None:
        """Embed no more; what is there can still be searched."""
        if self._queue is not None:
            self._queue.close()

    def _put_vector(self, key: K, text: str, vector: Vector | None) -> None:
        if self._queue is not None:
            self._queue.discard(key)
        if vector is not None:
            self._vectors.put(key, vector)
            return
        self._vectors.remove(key)
        if self._queue is not None and text:
            self._queue.put(key, text)

    def _note_digest(self, key: K, digest: bytes | None) -> list[bytes]:
        """Keep in mind what the cache may hold of a passage; returns what it need not hold any longer."""
        if self._cache is None:
            return []
        before = self._digests.pop(key, None)
        if digest is not None:
            self._digests[key] = digest
        return [before] if before is not None and before != digest else []

    def _discard(self, digests: list[bytes]) -> None:
        if self._cache is not None:
            self._cache.discard(digests)

    def _embed(self, question: str) -> Vector | None:
        """The question's vector; None when there is nothing to compare it with, or the embedder fails."""
        if self._embedder is None or not embeddable(question):
            return None
        with self._lock:
            if self._queue is not None:
                self._queue.work()
            if not len(self._vectors):
                return None
        try:
            (vector,) = unit_rows(self._embedder.embed_queries([question]), 1, self._embedder.dimensions)
        except Exception as error:
            self._note(error)
            return None
        self._problem = ""
        return cast("Vector", vector)

    def _lexical_candidates(self, question: str, only: Callable[[K], bool] | None) -> dict[K, float]:
        """The passages that words lead to, and those next to them, with their scores."""
        scores = self._words.scores(question)
        if only is not None:
            scores = {key: score for key, score in scores.items() if only(key)}
        shared = self._neighbours.share(scores, heapq.nlargest(CANDIDATES, scores, key=scores.__getitem__))
        return shared if only is None else {key: score for key, score in shared.items() if only(key)}

    def _closeness_of_talk(self, question: Vector | None) -> float:
        """The cosine that a passage must exceed to be related; without an embedder, there is nothing to go by."""
        if question is None or self._embedder is None:
            return -1.0
        if self._talk is None:
            try:
                self._talk = self._embedder.embed_passages(everyday.SENTENCES)
            except Exception as error:
                self._note(error)
                return 1.0
        return everyday.closeness(self._talk, question)

    def _note(self, error: Exception) -> None:
        _log.warning("a question could not be embedded", exc_info=error)
        self._problem = first_line(str(error)) or type(error).__name__
