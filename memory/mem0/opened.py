"""A mem0 client in use, ready-made or built from a recipe, and shared by all that use the same store through it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory.mem0.building import Built, Recipe, build, close_memory
from memory.mem0.client import Mem0Client
from memory.mem0.errors import explain
from memory.mem0.loop_thread import LoopThread
from memory.mem0.store_call import StoreCall, serving_store_call
from memory.search.embedder import dimensions_of


@dataclass
class Opened:
    """A client, and what was built behind it; None where somebody else has made it."""

    client: Mem0Client
    built: Built | None = None
    users: int = 1
    key: Hashable = None

    async def close(self) -> None:
        """Let go of it; the last one to do so closes what was built."""
        self.users -= 1
        if self.users > 0:
            return
        _shared.pop(self.key, None)
        built = self.built
        if built is not None:
            await self.client.give_up()
            await self.client.run(lambda: close_memory(built.memory))
        self.client.stop()


_shared: dict[Hashable, Opened] = {}
"""What others in this process can use as well: ready clients, whose calls take turns whoever makes them, and folders of
an embedded Qdrant, which take one client only."""


def open_client(client: Any) -> Opened:
    """Take a ready client into use."""
    key = ("client", id(client))
    return _joined(key) or _offered(key, Opened(Mem0Client(client)))


async def open_recipe(recipe: Recipe) -> Opened:
    """Build a client beside the event loop.

    Raises:
        MnemoscopeError: it cannot be built; nothing was changed then.
    """
    recipe = await with_dimensions(recipe)
    place = _embedded_qdrant(recipe.config)
    key = ("qdrant", place) if place else None
    if shared := _joined(key):
        return shared
    thread = LoopThread("mem0")
    try:
        with serving_store_call(StoreCall(asyncio.get_running_loop())):
            built = await thread.run(_build(recipe))
    except Exception as error:
        thread.stop()
        raise explain(error, "open the memory") from error
    client = Mem0Client(built.memory, reads_in_turn=built.store is None, thread=thread)
    return _offered(key, Opened(client, built))


def _joined(key: Hashable) -> Opened | None:
    """What is shared under a key, with one user more."""
    shared = _shared.get(key)
    if shared is not None:
        shared.users += 1
    return shared


def _offered(key: Hashable, opened: Opened) -> Opened:
    """Share it under a key; None means with nobody."""
    opened.key = key
    if key is not None:
        _shared[key] = opened
    return opened


async def with_dimensions(recipe: Recipe) -> Recipe:
    """The recipe with the length of its embedding model's vectors; where the model does not know, it is asked for one.

    Raises:
        ModelError: the model failed.
    """
    model = recipe.embedding_model
    if model is None or recipe.dimensions:
        return recipe
    return replace(recipe, dimensions=await dimensions_of(model))


async def _build(recipe: Recipe) -> Built:
    # On the thread's own loop, not in a worker: the end of the program waits for workers, and importing takes seconds.
    return build(recipe)


def _embedded_qdrant(config: Any) -> str:
    """The folder of the embedded Qdrant that a config names; empty when it names none."""
    store = _get(config, "vector_store")
    settings = _get(store, "config")
    path = _get(settings, "path")
    is_served = any(_get(settings, name) for name in ("url", "host", "client"))
    if _get(store, "provider") != "qdrant" or not path or is_served:
        return ""
    return str(Path(path).expanduser().resolve())


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
