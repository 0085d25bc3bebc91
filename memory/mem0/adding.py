"""Taking new memories in: extracted from what was said, or as they are given; and marking those that they replace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from agent_core.event import FactChange, FactsFinish, Usage
from agent_core.model.base import ChatModelBase
from agent_core.model.offline.memory_text import canonical
from agent_core.text import shorten, well_formed
from memory.mem0.answers import SUPERSEDED_AT, SUPERSEDED_BY, Fact, Written, written_in
from memory.mem0.client import Request
from memory.mem0.errors import explain
from memory.mem0.extraction import house_rules
from memory.mem0.outbox import Message
from memory.mem0.scope import Scope
from memory.mem0.store import Mem0Store
from memory.mem0.store_call import Replacement, StoreCall
from memory.mem0.superseding import replaced_by

EXTRACTION_SECONDS = 180.0
"""How long a write may take whose memories a model extracts."""
MESSAGE_LENGTH = 8_000
"""Characters of a message that memories are taken from."""

_NEIGHBOURS = 10
_BEST_FIRST: tuple[FactsFinish, ...] = ("stored", "accepted", "unknown", "nothing")


class Result(NamedTuple):
    """What a write gave, and what the model has cost."""

    written: Written
    usage: Usage | None = None


async def add_extracted(
    store: Mem0Store, messages: Sequence[Message], scope: Scope, model: ChatModelBase | None = None
) -> Result:
    """Have memories extracted from messages and stored, and mark those that they replace.

    Args:
        store: where they go.
        messages: what was said.
        scope: whose memories they become.
        model: extracts them, where the client does not do that by itself.

    Raises:
        MnemoscopeError: it failed; nothing was stored then, as far as can be told.
    """
    built = (await store.open()).built
    options: dict[str, Any] = dict(scope.ids)
    if built is not None and built.uses_our_llm:
        options["prompt"] = house_rules(built.instructions)
    call = StoreCall(asyncio.get_running_loop(), model)
    request = Request("add", "store memories", (_trimmed(messages),), options)
    written = written_in(await store.request(request, call, EXTRACTION_SECONDS))
    if call.problem is not None:
        written = written._replace(detail=str(explain(call.problem, "store all of them")))
    superseded = await _apply(store, call.replacements, written, scope)
    return Result(written._replace(changes=(*written.changes, *superseded)), call.usage)


async def add_as_given(store: Mem0Store, texts: Iterable[str], scope: Scope) -> Written:
    """Store texts as they are, but for those that are there already, and mark those that they replace.

    Raises:
        MnemoscopeError: it failed; texts before the one that failed are stored.
    """
    results = [await _add_one(store, text, scope) for text in (well_formed(one).strip() for one in texts) if text]
    # One stored text is a success, whatever was known already.
    finish = min((one.finish for one in results), key=_BEST_FIRST.index, default=_BEST_FIRST[-1])
    changes = tuple(change for one in results for change in one.changes)
    return Written(finish, changes, next((one.detail for one in results if one.detail), ""))


async def _add_one(store: Mem0Store, text: str, scope: Scope) -> Written:
    near = await store.search(text, scope, _NEIGHBOURS)
    known = next((one for one in near if canonical(one.text) == canonical(text) and not one.superseded_by), None)
    if known is not None:
        return Written("nothing", (FactChange(known.id, known.text, "known"),))
    message = {"role": "user", "content": text}
    request = Request("add", "store a memory", ([message],), {"infer": False, **scope.ids})
    written = written_in(await store.request(request))
    if store.recipe is None or not written.changes:
        # What a client of somebody else's makes of contradictions is its own affair.
        return written
    superseded = await _supersede(store, replaced_by(text, near), written.changes[0].memory_id)
    return written._replace(changes=(*written.changes, *superseded))


async def _apply(
    store: Mem0Store, replacements: Iterable[Replacement], written: Written, scope: Scope
) -> list[FactChange]:
    """Mark what a model says is replaced. It knows memories by their text, so they are looked for by that."""
    new_ids = {_one_line(change.text): change.memory_id for change in written.changes}
    changes = []
    for new, old in replacements:
        if new_id := new_ids.get(_one_line(new)):
            near = await store.search(old, scope, _NEIGHBOURS)
            changes += await _supersede(store, (one for one in near if _one_line(one.text) == _one_line(old)), new_id)
    return changes


async def _supersede(store: Mem0Store, older: Iterable[Fact], new_id: str) -> list[FactChange]:
    """Note on older memories that a new one has replaced them; none is deleted."""
    changes = []
    for fact in older:
        if fact.id and fact.id != new_id and not fact.superseded_by:
            metadata = {SUPERSEDED_BY: new_id, SUPERSEDED_AT: datetime.now(UTC).isoformat()}
            await store.update(fact.id, metadata=metadata)
            changes.append(FactChange(fact.id, fact.text, "superseded", new_id))
    return changes


def _trimmed(messages: Sequence[Message]) -> list[Message]:
    return [{**one, "content": shorten(well_formed(one["content"]), MESSAGE_LENGTH)} for one in messages]


def _one_line(text: str) -> str:
    return " ".join(text.split())
