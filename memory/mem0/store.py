"""`Mem0Store`: what we ask of mem0, in our types and our errors, whatever client is behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_core.errors import MnemoscopeError, StorageError
from agent_core.text import shorten, well_formed
from memory.mem0.answers import Fact, facts_in
from memory.mem0.building import Built, Recipe
from memory.mem0.client import Request
from memory.mem0.errors import explain
from memory.mem0.filling import Progress, embed_missing, lacks_vectors
from memory.mem0.opened import Opened, open_client, open_recipe
from memory.mem0.scope import Scope
from memory.mem0.store_call import StoreCall, serving_store_call

SECONDS = 30.0
"""How long reading, and writing without a model, may take."""
QUERY_LENGTH = 4_000
"""Characters of a question that are searched for."""

_log = logging.getLogger(__name__)

_EVERYTHING = 1_000_000
_PAGE = 200


class Mem0Store:
    """One memory, opened when it is first needed.

    Args:
        client: a ready mem0 client.
        recipe: what to build one from, when there is none.

    Attributes:
        name: tells this memory from others on this machine.
    """

    def __init__(self, client: Any = None, recipe: Recipe | None = None) -> None:
        self._ready = client
        self._recipe = recipe
        self._opened: Opened | None = None
        self._opening: asyncio.Task[Opened] | None = None
        self._filling: asyncio.Task[None] | None = None
        self.name = _name(client, recipe)

    @property
    def built(self) -> Built | None:
        """What was built; None before, and where the client was made by somebody else."""
        return self._opened.built if self._opened else None

    @property
    def recipe(self) -> Recipe | None:
        """What it is built from; None where the client was made by somebody else."""
        return self._recipe

    @property
    def client(self) -> Any:
        """mem0's client; None before it is opened."""
        return self._opened.client.client if self._opened else None

    @property
    def extracts_with_our_model(self) -> bool:
        """Whether memories are extracted by the caller's chat model, and not by the client itself."""
        return self._recipe is not None and (self.built is None or self.built.uses_our_llm)

    async def open(self) -> Opened:
        """Open it, if it is not open yet; after a failure the next call tries again.

        Raises:
            MnemoscopeError: it cannot be opened.
        """
        if self._opened is None:
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open(), name="opening mem0")
            self._opened = await asyncio.shield(self._opening)
        return self._opened

    async def search(
        self,
        question: str,
        scope: Scope,
        top_k: int,
        threshold: float | None = None,
    ) -> list[Fact]:
        """The memories that fit a question best, the best first; none for a blank one.

        Raises:
            MnemoscopeError: the search failed.
        """
        question = shorten(well_formed(question).strip(), QUERY_LENGTH)
        if not question or top_k <= 0:
            return []
        options: dict[str, Any] = {"filters": scope.filters, "top_k": top_k}
        opened = await self.open()
        if threshold is not None:
            options["threshold"] = threshold
        elif opened.built is not None and opened.built.store is not None:
            # Our own scores compare within one search; mem0's usual limit would cut off good ones.
            options["threshold"] = 0.0
        if getattr(opened.client.client, "reranker", None):
            options["rerank"] = True
        # Not every client knows the option.
        return facts_in(await self._read("search", "search the memories", question, **options))[:top_k]

    async def all(self, scope: Scope) -> list[Fact]:
        """Every memory in the scope.

        Raises:
            MnemoscopeError: they could not be listed.
        """
        opened = await self.open()
        options: dict[str, Any] = {"filters": scope.filters}
        if not opened.client.is_hosted:
            return facts_in(await self._read("get_all", "list the memories", **options, top_k=_EVERYTHING))
        facts: list[Fact] = []
        for page in range(1, _EVERYTHING):
            answer = await self._read("get_all", "list the memories", **options, page=page, page_size=_PAGE)
            facts += facts_in(answer)
            if not (isinstance(answer, Mapping) and answer.get("next")):
                break
        return facts

    async def get(self, memory_id: str) -> Fact | None:
        """One memory, or None.

        Raises:
            MnemoscopeError: it could not be read.
        """
        answer = await self._read("get", "read a memory", memory_id)
        return next(iter(facts_in(answer)), None) if answer else None

    async def update(self, memory_id: str, *, text: str | None = None, metadata: dict[str, Any] | None = None) -> None:
        """Change a memory's text, or add to what is kept with it.

        Raises:
            MnemoscopeError: there is no such memory, or it could not be changed.
        """
        await self._write("update", "change a memory", memory_id, text=text, metadata=metadata)

    async def delete(self, memory_id: str) -> None:
        """Delete a memory.

        Raises:
            MnemoscopeError: there is no such memory, or it could not be deleted.
        """
        await self._write("delete", "delete a memory", memory_id)

    async def delete_all(self, user: str, known: Iterable[str]) -> None:
        """Delete every memory of a user, of all agents; `known` are the ids of those that were found.

        Raises:
            MnemoscopeError: it failed.
        """
        opened = await self.open()
        if not opened.client.is_hosted:
            # mem0 would delete them in many threads at once, of which the file of an embedded Qdrant misses some.
            with suppress(MnemoscopeError):
                for memory_id in known:
                    await self.delete(memory_id)
        await self._write("delete_all", "delete the memories", user_id=user)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What has happened to a memory, oldest first, as mem0 tells it.

        Raises:
            MnemoscopeError: it could not be read.
        """
        answer = await self._read("history", "read a memory's history", memory_id)
        return [dict(row) for row in answer if isinstance(row, Mapping)] if isinstance(answer, list) else []

    async def request(self, request: Request, call: StoreCall | None = None, seconds: float | None = None) -> Any:
        """What mem0 answers to any request, as it is; `SECONDS` are given to it unless told otherwise.

        Raises:
            MnemoscopeError: it failed, or took too long.
        """
        opened = await self.open()
        call = call or StoreCall(asyncio.get_running_loop())
        return await opened.client.call(request, call, SECONDS if seconds is None else seconds)

    async def run(self, function: Callable[[], Any]) -> Any:
        """Run blocking work on the store beside the event loop.

        Raises:
            MnemoscopeError: it cannot be opened.
        """
        return await (await self.open()).client.run(function)

    async def load(self, user: str) -> None:
        """Have a user's memories ready to be searched, where that takes time.

        Raises:
            MnemoscopeError: they cannot be read.
        """
        opened = await self.open()
        store = opened.built.store if opened.built else None
        if store is None:
            return
        try:
            with serving_store_call(StoreCall(asyncio.get_running_loop())):
                await opened.client.run(lambda: store.load(user))
        except Exception as error:
            raise explain(error, "read the memories") from error

    async def embed_missing(self, progress: Progress | None = None) -> int:
        """Make the vectors that are missing, here and now; see `filling.embed_missing`."""
        opened = await self.open()
        await _stop(self._filling)
        return await embed_missing(opened, progress)

    async def aclose(self) -> None:
        """Let go of files and connections; using it again opens it again."""
        await _stop(self._opening)
        await _stop(self._filling)
        opened, self._opened = self._opened, None
        self._opening = self._filling = None
        if opened is not None:
            await opened.close()

    async def _open(self) -> Opened:
        if self._ready is not None:
            return open_client(self._ready)
        if self._recipe is None:
            raise StorageError("There is neither a mem0 client nor anything to make one from.")
        opened = await open_recipe(self._recipe)
        if lacks_vectors(opened):
            self._filling = asyncio.create_task(_fill(opened), name="embedding memories")
        return opened

    async def _read(self, method: str, doing: str, *arguments: Any, **options: Any) -> Any:
        return await self.request(Request(method, doing, arguments, options, reads=True))

    async def _write(self, method: str, doing: str, *arguments: Any, **options: Any) -> Any:
        return await self.request(Request(method, doing, arguments, options))


async def _stop(task: asyncio.Task[Any] | None) -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _fill(opened: Opened) -> None:
    """Embed what was stored while there was no model. Nobody waits for it, and it can be done another time."""
    try:
        await embed_missing(opened)
    except MnemoscopeError:
        _log.warning("memories could not be embedded", exc_info=True)


def _name(client: Any, recipe: Recipe | None) -> str:
    if recipe is not None:
        return f"folder:{Path(recipe.folder).absolute()}"
    return f"client:{type(client).__name__}:{getattr(client, 'host', '')}"
