"""`RedisStore`: one user's session in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agent_core.change import Added, Cleared, Deleted, Marked, MarksChange, StoredEntry, SummaryChanged, stored
from agent_core.marks import Entry
from agent_core.message import Msg
from memory.working.body import decode_body, encode_body
from memory.working.plain_text import escape, unescape
from memory.working.redis.failure import storage_errors
from memory.working.redis.scripts import Argument, Scripts
from memory.working.store import Head, Names, Outcome, Rewrite

_decode_strings = msgspec.json.Decoder(list[str]).decode


class RedisStore:
    """A `Store`. Every method is one script, which Redis runs alone; `rewrite` is a read and one script."""

    def __init__(self, scripts: Scripts, where: str) -> None:
        self._scripts = scripts
        self._where = where
        self.lock = asyncio.Lock()

    async def head(self) -> Head:
        """Revision, size and summary."""
        return _head(await self._run("head"))

    async def messages(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[Head, list[Msg]]:
        """The messages that pass."""
        some = wanted is not None
        head, bodies = await self._run("messages", some, _escaped(wanted or ()), _escaped(unwanted))
        with storage_errors(self._where):
            return _head(head), [decode_body(body) for body in bodies]

    async def entries(self) -> tuple[Head, list[Entry]]:
        """Everything."""
        head, bodies, heads = await self._run("entries")
        with storage_errors(self._where):
            return _head(head), _entries(bodies, heads)

    async def add(self, messages: Sequence[Msg], marks: tuple[str, ...], duplicates: bool, tell: bool) -> Outcome:
        """Append messages."""
        pairs = [text for msg in messages for text in (escape(msg.id), encode_body(msg))]
        found, left, new, changes = await self._run("add", duplicates, _escaped(marks), *pairs)
        added = [Entry(messages[place], marks) for place in new]
        told = [Added(stored(added, _head(found).size))] if added else []
        return _outcome(len(added), found, left, (*told, *_marked(changes)))

    async def delete(self, ids: Sequence[str] | None, marks: tuple[str, ...], tell: bool) -> Outcome:
        """Delete messages."""
        found, left, count, gone = await self._run("delete", tell, _escaped(marks), _escaped(ids or ()))
        with storage_errors(self._where):
            told = tuple(StoredEntry(place, decode_body(body), _id_and_marks(head)[1]) for place, body, head in gone)
        return _outcome(count, found, left, (Deleted(told),))

    async def replace_mark(
        self, old: tuple[str, ...], new: tuple[str, ...], ids: Sequence[str] | None, tell: bool
    ) -> Outcome:
        """Put one mark in the place of another."""
        some = ids is not None
        found, left, changes = await self._run("replace_mark", _escaped(old), _escaped(new), some, _escaped(ids or ()))
        return _outcome(len(changes), found, left, _marked(changes))

    async def set_marks(self, marks: Mapping[str, tuple[str, ...]], tell: bool) -> Outcome:
        """Give messages exactly these marks."""
        pairs = [part for msg_id, names in marks.items() for part in (escape(msg_id), _escaped(names))]
        found, left, changes = await self._run("set_marks", *pairs)
        return _outcome(len(changes), found, left, _marked(changes))

    async def set_summary(self, summary: str) -> Outcome:
        """Replace the summary."""
        found, left = await self._run("set_summary", escape(summary))
        return _outcome(0, found, left, (SummaryChanged(_head(found).summary, summary),))

    async def clear(self, tell: bool) -> Outcome:
        """Delete everything."""
        found, left, bodies, heads = await self._run("clear", tell)
        before = _head(found)
        with storage_errors(self._where):
            gone = Cleared(stored(_entries(bodies, heads)), before.summary)
        return _outcome(before.size, found, left, (gone,))

    async def names(self) -> list[Names]:
        """Every session in the database under the same prefix."""
        with storage_errors(self._where):
            return await self._scripts.names()

    async def rewrite(self, rewrite: Rewrite) -> Outcome:
        """Store everything anew; again, should someone write between reading and writing."""
        while True:
            head, entries = await self.entries()
            new = rewrite(entries, head.summary)
            if new is None:
                return Outcome(0, head.revision, head)
            parts: list[Argument] = []
            for msg, marks in new.entries:
                parts.extend((escape(msg.id), encode_body(msg), _escaped(marks)))
            found, left = await self._run("rewrite", head.revision, escape(new.summary), *parts)
            if _head(found).revision == head.revision:
                return _outcome(len(new.entries), found, left, (new.change,))

    async def _run(self, script: str, *arguments: Argument) -> Any:
        with storage_errors(self._where):
            return await self._scripts.run(script, *arguments)


def _head(reply: Sequence[Any]) -> Head:
    revision, size, summary = reply
    return Head(int(revision), int(size), unescape(_text(summary)))


def _outcome(changed: int, found: Sequence[Any], left: Sequence[Any], changes: tuple[Any, ...]) -> Outcome:
    return Outcome(changed, int(found[0]), _head(left), changes)


def _entries(bodies: Sequence[str | bytes], heads: Sequence[str | bytes]) -> list[Entry]:
    pairs = zip(bodies, heads, strict=True)
    return [Entry(decode_body(body), _id_and_marks(head)[1]) for body, head in pairs]


def _marked(changes: Sequence[Any]) -> tuple[Marked, ...]:
    told = []
    for place, before, after in changes:
        msg_id, marks = _id_and_marks(before)
        told.append(MarksChange(place, msg_id, marks, _id_and_marks(after)[1]))
    return (Marked(tuple(told)),) if told else ()


def _id_and_marks(head: str | bytes) -> tuple[str, tuple[str, ...]]:
    msg_id, *marks = _decode_strings(head)
    return unescape(msg_id), tuple(unescape(mark) for mark in marks)


def _escaped(texts: Sequence[str]) -> list[str]:
    return [escape(text) for text in texts]


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
