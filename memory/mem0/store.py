"""`Mem0Store`: what we ask of mem0, in our types and our errors, whatever client is behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agent_core.errors import MnemoscopeError, StorageError
from agent_core.event import FactChange, FactsFinish, Usage
from agent_core.model.base import ChatModelBase
from agent_core.model.offline.memory_text import canonical
from agent_core.text import shorten, well_formed
from memory.mem0.answers import SUPERSEDED_AT, SUPERSEDED_BY, Fact, Written, facts_in, written_in
from memory.mem0.building import Built, Recipe
from memory.mem0.client import Mem0Client, Request
from memory.mem0.extraction import house_rules
from memory.mem0.filling import Progress, embed_missing, lacks_vectors
from memory.mem0.opened import Opened, open_recipe
from memory.mem0.outbox import Message
from memory.mem0.scope import Scope
from memory.mem0.store_call import Replacement, StoreCall
from memory.mem0.superseding import replaced_by

SECONDS = 30.0
"""How long reading, and writing without a model, may take."""
EXTRACTION_SECONDS = 180.0
"""How long a write may take whose memories a model extracts."""
QUERY_LENGTH = 4_000
"""Characters of a question that are searched for."""
MESSAGE_LENGTH = 8_000
"""Characters of a message that memories are taken from."""

_log = logging.getLogger(__name__)

_EVERYTHING = 1_000_000
_PAGE = 200
_NEIGHBOURS = 10
_BEST_FIRST: tuple[FactsFinish, ...] = ("stored", "accepted", "unknown", "nothing")


class Result(NamedTuple):
    """What a write gave, and what the model has cost."""

    written: Written
    usage: Usage | None = None


class Mem0Store:
    """One memory, opened when it is first needed.

    Args:
        client: a ready mem0 client.
        recipe: what to build one from, when there is none.

    Attributes:
        name: tells this memory from others on this machine.
    """

    def __init__(self, client: Any = None, recipe: Recipe | None = None) -> None:
        self._ready = None if client is None else Mem0Client(client)
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
        return facts_in(await self._read("search", "search the memories", question, **options))

    async def add(self, messages: Sequence[Message], scope: Scope, model: ChatModelBase | None = None) -> Result:
        """Have memories extracted from messages and stored, and mark those that they replace.

        Args:
            messages: what was said.
            scope: whose memories they become.
            model: extracts them, where the client does not do that by itself.

        Raises:
            MnemoscopeError: it failed; nothing was stored then, as far as can be told.
        """
        opened = await self.open()
        options: dict[str, Any] = dict(scope.ids)
        if opened.built is not None and opened.built.uses_our_llm:
            options["prompt"] = house_rules(opened.built.instructions)
        request = Request("add", "store memories", (_trimmed(messages),), options)
        call = StoreCall(asyncio.get_running_loop(), model)
        written = written_in(await opened.client.call(request, call, EXTRACTION_SECONDS))
        superseded = await self._apply(call.replacements, written, scope)
        return Result(written._replace(changes=(*written.changes, *superseded)), call.usage)

    async def add_as_given(self, texts: Iterable[str], scope: Scope) -> Written:
        """Store texts as they are, but for those that are there already, and mark those that they replace.

        Raises:
            MnemoscopeError: it failed; texts before the one that failed are stored.
        """
        results = [await self._add_one(text, scope) for text in map(_cleaned, texts) if text]
        # One stored text is a success, whatever was known already.
        finish = min((one.finish for one in results), key=_BEST_FIRST.index, default=_BEST_FIRST[-1])
        changes = tuple(change for one in results for change in one.changes)
        return Written(finish, changes, next((one.detail for one in results if one.detail), ""))

    async def _add_one(self, text: str, scope: Scope) -> Written:
        near = await self.search(text, scope, _NEIGHBOURS)
        known = next((one for one in near if canonical(one.text) == canonical(text) and not one.superseded_by), None)
        if known is not None:
            return Written("nothing", (FactChange(known.id, known.text, "known"),))
        message = {"role": "user", "content": text}
        written = written_in(await self._write("add", "store a memory", [message], infer=False, **scope.ids))
        if self._recipe is None or not written.changes:
            return written
        superseded = await self._supersede(replaced_by(text, near), written.changes[0].memory_id)
        return written._replace(changes=(*written.changes, *superseded))

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

    async def delete_all(self, user: str) -> None:
        """Delete every memory of a user, of all agents.

        Raises:
            MnemoscopeError: it failed.
        """
        await self._write("delete_all", "delete the memories", user_id=user)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What has happened to a memory, oldest first, as mem0 tells it.

        Raises:
            MnemoscopeError: it could not be read.
        """
        answer = await self._read("history", "read a memory's history", memory_id)
        return [dict(row) for row in answer if isinstance(row, Mapping)] if isinstance(answer, list) else []

    async def run(self, function: Callable[[], Any]) -> Any:
        """Run blocking work on the store beside the event loop.

        Raises:
            MnemoscopeError: it cannot be opened.
        """
        return await (await self.open()).client.run(function)

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
            return Opened(self._ready)
        if self._recipe is None:
            raise StorageError("There is neither a mem0 client nor anything to make one from.")
        opened = await open_recipe(self._recipe)
        if lacks_vectors(opened):
            self._filling = asyncio.create_task(_fill(opened), name="embedding memories")
        return opened

    async def _read(self, method: str, doing: str, *arguments: Any, **options: Any) -> Any:
        return await self._make(Request(method, doing, arguments, options, reads=True))

    async def _write(self, method: str, doing: str, *arguments: Any, **options: Any) -> Any:
        return await self._make(Request(method, doing, arguments, options))

    async def _make(self, request: Request) -> Any:
        opened = await self.open()
        return await opened.client.call(request, StoreCall(asyncio.get_running_loop()), SECONDS)

    async def _apply(self, replacements: Iterable[Replacement], written: Written, scope: Scope) -> list[FactChange]:
        """Mark what a model says is replaced. It knows memories by their text, so they are looked for by that."""
        new_ids = {_one_line(change.text): change.memory_id for change in written.changes}
        changes = []
        for new, old in replacements:
            if new_id := new_ids.get(_one_line(new)):
                near = await self.search(old, scope, _NEIGHBOURS)
                changes += await self._supersede((one for one in near if _one_line(one.text) == _one_line(old)), new_id)
        return changes

    async def _supersede(self, older: Iterable[Fact], new_id: str) -> list[FactChange]:
        """Note on older memories that a new one has replaced them; none is deleted."""
        changes = []
        for fact in older:
            if fact.id and fact.id != new_id and not fact.superseded_by:
                metadata = {SUPERSEDED_BY: new_id, SUPERSEDED_AT: datetime.now(UTC).isoformat()}
                await self.update(fact.id, metadata=metadata)
                changes.append(FactChange(fact.id, fact.text, "superseded", new_id))
        return changes


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


def _trimmed(messages: Sequence[Message]) -> list[Message]:
    return [{**one, "content": shorten(well_formed(one["content"]), MESSAGE_LENGTH)} for one in messages]


def _cleaned(text: str) -> str:
    return well_formed(text).strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(client: Any, recipe: Recipe | None) -> str:
    if recipe is not None:
        return f"folder:{Path(recipe.folder).absolute()}"
    return f"client:{type(client).__name__}:{getattr(client, 'host', '')}"
