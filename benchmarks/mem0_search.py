"""Searching mem0: the CPU of a search over 10,000 memories in the default store and in mem0's own embedded Qdrant, in
one run; and the evidence recall of both over the dialogue turns of LoCoMo.

    python -m benchmarks.mem0_search [--memories N] [--locomo FILE [--cache DIR]]

Both go the whole way, through `AsyncMemory.search`, with the same vectors, which are made beforehand: what is measured
is mem0 and the store. Target: at least 10 times less CPU. For the data of LoCoMo, see `benchmarks.recall`. mem0's own
formula with BM25 finds .599 @10 in all ten conversations; Qdrant here is without its BM25, which takes a download.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from platformdirs import user_cache_path

from agent_core.embedding import EmbeddingModelBase
from benchmarks.recall import CUTS, Conversation, Vectors, read
from memory.mem0 import Mem0Middleware
from memory.search import VectorCache, load_bundled_embedder

DIMENSIONS = 384
WORDS = [f"word{number}" for number in range(2_000)]
SEARCHES = 30
BATCH = 500
TARGET = 10.0


class KnownVectors(EmbeddingModelBase):
    """Gives vectors that were made before."""

    model = "known"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.vectors: dict[str, Sequence[float]] = {}

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:  # type: ignore[override]
        return [self.vectors[text] if text in self.vectors else _some_vector(len(text)) for text in texts]


class Figures(NamedTuple):
    """Of one store, in seconds."""

    storing: float
    opening: float
    first_search: float
    cpu: float
    wall: float


def qdrant(folder: Path) -> dict[str, Any]:
    """What mem0 uses when it is told nothing."""
    settings = {"path": str(folder / "qdrant"), "collection_name": "memories", "embedding_model_dims": DIMENSIONS}
    return {"vector_store": {"provider": "qdrant", "config": settings}}


def stores(folder: Path) -> dict[str, Any]:
    """The configs that are compared."""
    return {"default": None, "embedded Qdrant": qdrant(folder)}


async def measure(folder: Path, config: Any, model: KnownVectors, texts: Sequence[str]) -> Figures:
    """Store the texts, open the store again, search it."""
    options: dict[str, Any] = {"embedding_model": model, "mem0_config": config, "data_dir": folder}
    middleware = Mem0Middleware("bench", **options)
    await middleware.start()
    started = time.perf_counter()
    await store(middleware, texts, [model.vectors[text] for text in texts], "bench")
    storing = time.perf_counter() - started
    await middleware.aclose()
    middleware = Mem0Middleware("bench", **options)
    started = time.perf_counter()
    await middleware.start()
    opened = time.perf_counter()
    await middleware.search(texts[0])
    first = time.perf_counter()
    cpu = time.process_time()
    for text in texts[1 : 1 + SEARCHES]:
        (best, *_) = await middleware.search(text)
        assert best.text == text
    figures = Figures(
        storing,
        opened - started,
        first - opened,
        (time.process_time() - cpu) / SEARCHES,
        (time.perf_counter() - first) / SEARCHES,
    )
    await middleware.aclose()
    return figures


async def store(middleware: Mem0Middleware, texts: Sequence[str], vectors: Sequence[Any], user: str) -> None:
    """Put memories straight into the vector store, in the form in which mem0 does it one by one."""
    vector_store = middleware.store.client.vector_store
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        payloads = [{"data": text, "user_id": user, "created_at": "2026-01-01T00:00:00+00:00"} for text in part]
        ids = [_id(user, start + number) for number in range(len(part))]
        numbers = [[*map(float, vector)] for vector in vectors[start : start + BATCH]]
        await asyncio.to_thread(vector_store.insert, numbers, payloads, ids)


def _id(user: str, number: int) -> str:
    import uuid

    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{user}/{number}"))


def _some_vector(seed: int) -> Sequence[float]:
    return [*map(float, np.random.default_rng(seed).standard_normal(DIMENSIONS))]


def compare(count: int) -> None:
    """Print the figures of both stores, and whether the target is reached."""
    random = np.random.default_rng(1)
    model = KnownVectors()
    texts = [" ".join(random.choice(WORDS, 12)) for _ in range(count)]
    model.vectors = {text: random.standard_normal(DIMENSIONS).tolist() for text in texts}
    found: dict[str, Figures] = {}
    print(f"{count:,} memories of 12 words, {DIMENSIONS} dimensions, {SEARCHES} searches")
    print(f"{'store':<18}{'storing':>10}{'opening':>10}{'1st search':>12}{'CPU/search':>12}{'wall':>10}")
    for name in stores(Path()):
        with tempfile.TemporaryDirectory() as folder:
            figures = asyncio.run(measure(Path(folder), stores(Path(folder))[name], model, texts))
        found[name] = figures
        print(
            f"{name:<18}{figures.storing:>8.2f} s{figures.opening:>8.2f} s{figures.first_search:>10.3f} s"
            f"{figures.cpu * 1000:>9.1f} ms{figures.wall * 1000:>7.1f} ms",
            flush=True,
        )
    ratio = found["embedded Qdrant"].cpu / found["default"].cpu
    print(f"{ratio:.1f} times less CPU ({'reached' if ratio >= TARGET else 'MISSED'}: {TARGET:.0f})")


async def recall(conversations: Sequence[Conversation], vectors: Vectors, config_of: str) -> list[list[float]]:
    """The share of the evidence among the first `CUTS` found, turns stored raw, each conversation a user."""
    shares: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        model = KnownVectors()
        config = stores(Path(folder))[config_of]
        for conversation in conversations:
            user = conversation.name.replace(" ", "-")
            middleware = Mem0Middleware(
                user, embedding_model=model, mem0_config=config, data_dir=folder, top_k=CUTS[-1], threshold=0.0
            )
            await middleware.start()
            texts = [turn.text for turn in conversation.turns]
            await store(middleware, texts, vectors.of_passages(texts), user)
            questions = [question.text for question in conversation.questions]
            model.vectors = dict(zip(questions, vectors.of_questions(questions), strict=True))
            ids = {_id(user, number): turn.id for number, turn in enumerate(conversation.turns)}
            for question in conversation.questions:
                found = [ids[fact.id] for fact in await middleware.search(question.text)]
                evidence = question.evidence
                shares.append([len(evidence.intersection(found[:cut])) / len(evidence) for cut in CUTS])
            await middleware.aclose()
    return shares


def show_recall(data: Path, cache_folder: Path) -> None:
    """Print the recall of both stores."""
    embedder, reason = load_bundled_embedder()
    if embedder is None:
        raise SystemExit(reason)
    cache = VectorCache(cache_folder / "benchmark-vectors.db")
    conversations, vectors = read(data), Vectors(embedder, cache)
    print(f"\nLoCoMo, {sum(len(one.questions) for one in conversations)} questions: recall@5, recall@10")
    for name in stores(Path()):
        shares = asyncio.run(recall(conversations, vectors, name))
        cells = [f"{sum(column) / len(column):.3f}".lstrip("0") for column in zip(*shares, strict=True)]
        print(f"{name:<18}{' / '.join(cells)}", flush=True)
    cache.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file, for example locomo10.json")
    parser.add_argument("--cache", type=Path, help="folder for vectors (default: the platform's cache folder)")
    options = parser.parse_args()
    compare(options.memories)
    if options.locomo:
        show_recall(options.locomo, options.cache or user_cache_path("mnemoscope"))


if __name__ == "__main__":
    main()
