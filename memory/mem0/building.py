"""Making mem0's `AsyncMemory` from our models, a folder, and as much of a config as somebody gives."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_core.embedding import EmbeddingModelBase
from agent_core.errors import StorageError
from memory.mem0.adapters import EMBEDDER_CLASS, LLM_CLASS, PROVIDER, STORE_CLASS, ModelEmbedder, Yardstick
from memory.mem0.library import import_mem0
from memory.mem0.qdrant_later import qdrant_left_for_later
from memory.mem0.sqlite_file import MadeWith, set_aside_if_damaged
from memory.mem0.sqlite_store import SqliteStoreConfig, SqliteVectorStore
from memory.search import Embedder, Loaded, load_bundled_embedder

MEMORY_FILE = "memory.db"
HISTORY_FILE = "history.db"
CONNECT_SECONDS = 5


@dataclass(frozen=True)
class Recipe:
    """What an `AsyncMemory` is to be made of.

    Args:
        folder: for all files that the config does not place elsewhere.
        replaces_llm: our chat model extracts, whatever the config says.
        embedding_model: gives the vectors; None leaves it to the config, else to the bundled embedder.
        dimensions: of its vectors.
        config: mem0's, or the same as a mapping; not changed.
    """

    folder: Path
    replaces_llm: bool = False
    embedding_model: EmbeddingModelBase | None = None
    dimensions: int = 0
    config: Any = None

    @property
    def file(self) -> Path:
        """Where the default store lies."""
        return self.folder / MEMORY_FILE


@dataclass(frozen=True)
class Built:
    """An `AsyncMemory` and what must be known of it.

    Args:
        memory: mem0's object.
        store: our own vector store behind it; None when the config names another.
        embedder: ours; None when the config has its own, or when only words are searched.
        uses_our_llm: whether our chat model extracts.
        history: mem0's history file.
        instructions: what the config adds to mem0's instructions.
        notices: what a person should know, a line each.
    """

    memory: Any
    store: SqliteVectorStore | None
    embedder: Embedder | None
    uses_our_llm: bool
    history: Path
    instructions: str = ""
    notices: tuple[str, ...] = ()


def sets(config: Any, field: str) -> bool:
    """Whether somebody has set a field of a config."""
    return field in (config or {}) if isinstance(config, Mapping | None) else field in config.model_fields_set


def embedder_for(recipe: Recipe) -> Loaded:
    """The embedding model of a recipe, or the bundled one; None with the reason where there is neither. Blocks."""
    if recipe.embedding_model is None:
        return load_bundled_embedder()
    return Loaded(ModelEmbedder(recipe.embedding_model, recipe.dimensions))


def build(recipe: Recipe) -> Built:
    """Make it. Blocks, the first time for seconds.

    Raises:
        StorageError: something does not fit, or cannot be opened; nothing was changed then.
        Exception: whatever else mem0 brings forth.
    """
    return _Builder(recipe).build()


class _Builder:
    """Fills the slots of a config one by one: what it says is kept, what it leaves open is ours."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._notices = [import_mem0(recipe.folder)]
        _register_adapters()
        self._config = _copied(recipe.config)
        self._uses_our_llm = recipe.replaces_llm or not sets(recipe.config, "llm")
        self._embedder: Embedder | None = None
        self._why_none = ""
        self._made = MadeWith()

    def build(self) -> Built:
        from mem0 import AsyncMemory

        if self._uses_our_llm:
            self._config.llm = _slot("LlmConfig", {})
        self._choose_embedder()
        self._choose_history()
        self._choose_store()
        memory = AsyncMemory(self._config)
        store = memory.vector_store if isinstance(memory.vector_store, SqliteVectorStore) else None
        if store is not None and self._embedder is not None:
            store.yardstick = Yardstick(self._embedder)
        try:
            _require_connection(memory.vector_store)
            _require_dimensions(_qdrant_dimensions(memory.vector_store), self._made)
        except Exception:
            close_memory(memory)
            raise
        return Built(
            memory,
            store,
            self._embedder,
            self._uses_our_llm,
            Path(self._config.history_db_path),
            self._config.custom_instructions or "",
            tuple(filter(None, self._notices)),
        )

    def _choose_embedder(self) -> None:
        if self._recipe.embedding_model is None and sets(self._recipe.config, "embedder"):
            self._made = _probed(self._config.embedder)
            return
        self._embedder, self._why_none = embedder_for(self._recipe)
        if self._embedder is None:
            self._notices.append(f"Memories are searched by words only: {self._why_none}")
        else:
            self._made = MadeWith(self._embedder.model_id, self._embedder.dimensions)
        self._config.embedder = _slot("EmbedderConfig", {"model": self._embedder})

    def _choose_history(self) -> None:
        if not sets(self._recipe.config, "history_db_path"):
            path = self._recipe.folder / HISTORY_FILE
            self._notices.append(set_aside_if_damaged(path))
            self._config.history_db_path = str(path)
        self._config.history_db_path = os.path.expanduser(self._config.history_db_path)
        _require_usable(Path(self._config.history_db_path))

    def _choose_store(self) -> None:
        if sets(self._recipe.config, "vector_store"):
            self._fit_store()
            return
        path = self._recipe.file
        self._notices.append(set_aside_if_damaged(path))
        settings = SqliteStoreConfig(str(path), model=self._made.model, embedding_model_dims=self._made.dimensions)
        self._config.vector_store = _slot("VectorStoreConfig", settings)

    def _fit_store(self) -> None:
        """Where the config names a store and says nothing of dimensions, they are the embedding model's."""
        if not self._made.dimensions:
            raise StorageError(f"The vector store in mem0_config needs an embedding model: {self._why_none}")
        store = self._config.vector_store.model_copy()
        settings = store.config
        if isinstance(path := getattr(settings, "path", None), str):
            # mem0 would make a folder called ~ wherever the program happens to be started.
            settings = store.config = settings.model_copy(update={"path": os.path.expanduser(path)})
        if hasattr(settings, "embedding_model_dims"):
            if "embedding_model_dims" in settings.model_fields_set:
                _require_dimensions(settings.embedding_model_dims, self._made)
            else:
                store.config = settings.model_copy(update={"embedding_model_dims": self._made.dimensions})
        self._config.vector_store = store


def close_memory(memory: Any) -> None:
    """Let go of the files and connections of an `AsyncMemory`, of which its own `close` closes one."""
    # It looks at no lock, and a thread may be writing still.
    with getattr(memory.db, "_lock", nullcontext()):
        memory.close()
    for store in (memory.vector_store, getattr(memory, "_entity_store", None)):
        for holder in (store, getattr(store, "client", None), getattr(store, "connection_pool", None)):
            if close := getattr(holder, "close", None):
                # The two stores may share a client, and have closed it already.
                with suppress(Exception):
                    close()


def _register_adapters() -> None:
    from mem0.configs.llms.base import BaseLlmConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory, VectorStoreFactory
    from mem0.vector_stores.base import VectorStoreBase

    LlmFactory.register_provider(PROVIDER, LLM_CLASS, BaseLlmConfig)
    EmbedderFactory.provider_to_class[PROVIDER] = EMBEDDER_CLASS
    VectorStoreFactory.provider_to_class[PROVIDER] = STORE_CLASS
    VectorStoreBase.register(SqliteVectorStore)


def _require_usable(path: Path) -> None:
    """Look whether mem0 can open its history, for when it cannot it prints its troubles on the screen."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version")
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"mem0's history cannot be kept in {path}: {error}") from error


def _copied(given: Any) -> Any:
    """A `MemoryConfig` that is ours to change."""
    from mem0.configs.base import MemoryConfig
    from pydantic import ValidationError

    known = MemoryConfig.model_fields
    if isinstance(given, Mapping) and (unknown := [str(name) for name in given if name not in known]):
        # mem0 would pass over them in silence, and keep things elsewhere than somebody thinks.
        raise StorageError(f"mem0_config has nothing called {', '.join(unknown)}; there are {', '.join(known)}.")
    if given is not None and not isinstance(given, Mapping):
        return given.model_copy()
    try:
        # Where it names no store ours takes the place of the default.
        with nullcontext() if sets(given, "vector_store") else qdrant_left_for_later():
            return MemoryConfig(**(given or {}))
    except ValidationError as error:
        # Its own text repeats what was given, keys and passwords among it.
        faults = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
        raise StorageError(f"mem0_config cannot be used: {'; '.join(faults)}") from None


def _slot(name: str, config: Any) -> Any:
    """One of mem0's slots with our adapter in it. Its own constructor takes a fixed list of providers only."""
    from mem0.embeddings.configs import EmbedderConfig
    from mem0.llms.configs import LlmConfig
    from mem0.vector_stores.configs import VectorStoreConfig

    slots = {"LlmConfig": LlmConfig, "EmbedderConfig": EmbedderConfig, "VectorStoreConfig": VectorStoreConfig}
    return slots[name].model_construct(provider=PROVIDER, config=config)


def _probed(slot: Any) -> MadeWith:
    """What an embedding model of mem0's own gives."""
    from mem0.utils.factory import EmbedderFactory

    vector = EmbedderFactory.create(slot.provider, slot.config, None).embed("dimensions", "search")
    return MadeWith(str((slot.config or {}).get("model") or slot.provider), len(vector))


def _require_dimensions(expected: int | None, made: MadeWith) -> None:
    if expected not in (None, made.dimensions):
        raise StorageError(
            f"The vector store in mem0_config holds vectors of {expected} numbers, and {made.model} gives"
            f" {made.dimensions}. Use the embedding model that it was made with, or a new collection with"
            f" embedding_model_dims={made.dimensions}. Nothing was changed."
        )


def _require_connection(store: Any) -> None:
    """Connect to PostgreSQL once: mem0's pool tries on and on, and does not tell why it fails."""
    pool = getattr(store, "connection_pool", None)
    if type(store).__name__ == "PGVector" and (address := getattr(pool, "conninfo", "")):
        import psycopg

        psycopg.connect(address, connect_timeout=CONNECT_SECONDS).close()


def _qdrant_dimensions(store: Any) -> int | None:
    """The length of the vectors that a Qdrant collection holds, which mem0 does not look at; None for other stores."""
    if type(store).__name__ != "Qdrant":
        return None
    vectors = store.client.get_collection(store.collection_name).config.params.vectors
    return getattr(vectors, "size", None)
