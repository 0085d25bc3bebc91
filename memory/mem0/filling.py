"""Making vectors for memories of the default store that have none: stored without a model, or to be embedded anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent_core.errors import StorageError
from memory.mem0 import sqlite_file
from memory.mem0.building import Recipe, embedder_for, sets
from memory.mem0.opened import Opened, with_dimensions
from memory.mem0.sqlite_store import SqliteVectorStore
from memory.mem0.store_call import StoreCall, serving_store_call
from memory.search import Embedder

Progress = Callable[[int, int], None]
"""Told how many are done, and of how many."""


def lacks_vectors(opened: Opened) -> bool:
    """Whether there is something to do, and a model to do it with."""
    built = opened.built
    return bool(built and built.store and built.embedder and built.store.count_without_vector())


async def embed_missing(opened: Opened, progress: Progress | None = None) -> int:
    """Make the vectors that are missing, a batch at a time; how many that were.

    Raises:
        StorageError: the store is not the default one, or has no embedding model.
        ModelError: the model failed; what was done before stays done.
    """
    store = opened.built.store if opened.built else None
    embedder = opened.built.embedder if opened.built else None
    if store is None or embedder is None:
        raise StorageError("Only memories in the default store can be embedded, and only where there is a model.")
    total, done = store.count_without_vector(), 0
    while True:
        with serving_store_call(StoreCall(asyncio.get_running_loop())):
            count = await opened.client.run(lambda: _embed_batch(store, embedder))
        if not count:
            return done
        done += count
        if progress is not None:
            progress(done, max(done, total))


async def drop_vectors(recipe: Recipe) -> None:
    """Drop the vectors of the default store, to be made anew by the model that the recipe names now.

    Raises:
        StorageError: there is no such store, or no model, or the file cannot be changed.
        ModelError: the model failed.
    """
    if sets(recipe.config, "vector_store") or sets(recipe.config, "embedder"):
        raise StorageError("Only memories in the default store can be embedded anew; mem0_config names another.")
    embedder, reason = await asyncio.to_thread(embedder_for, await with_dimensions(recipe))
    if embedder is None:
        raise StorageError(f"Memories cannot be embedded: {reason}")
    made = sqlite_file.MadeWith(embedder.model_id, embedder.dimensions)
    await asyncio.to_thread(sqlite_file.drop_vectors, recipe.file, made)


def _embed_batch(store: SqliteVectorStore, embedder: Embedder) -> int:
    rows = store.without_vector(embedder.batch_size)
    if rows:
        vectors = embedder.embed_passages([text for _, text in rows])
        store.set_vectors({memory_id: vector for (memory_id, _), vector in zip(rows, vectors, strict=True)})
    return len(rows)
