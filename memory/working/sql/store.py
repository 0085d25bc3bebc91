"""`SqlStore`: one user's session in SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.exc import UnboundExecutionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession

from agent_core.change import Added, Cleared, Deleted, Marked, MarksChange, StoredEntry, SummaryChanged, stored
from agent_core.marks import Entry
from agent_core.message import Msg
from memory.working.body import decode_body
from memory.working.mark_change import joined, replaced
from memory.working.plain_text import escape
from memory.working.sql import rows
from memory.working.sql.rows import Remark, Row, Written
from memory.working.sql.scope_row import Scope, finish, grow_scope, lock_scope, read_names, read_scope
from memory.working.sql.transactions import EngineTransactions, SessionTransactions, Transactions
from memory.working.store import Head, Names, Outcome, Rewrite


def transactions_on(engine_or_session: object) -> Transactions:
    """Where the transactions come from.

    Raises:
        ValueError: it is neither an engine nor a session, or of a database that is not supported.
    """
    if not isinstance(engine_or_session, AsyncEngine | AsyncSession):
        raise ValueError(f"an AsyncEngine or an AsyncSession is needed, not {engine_or_session!r}")
    try:
        bind = engine_or_session if isinstance(engine_or_session, AsyncEngine) else engine_or_session.get_bind()
    except UnboundExecutionError as error:
        raise ValueError(f"a session that is bound to an engine is needed, not {engine_or_session!r}") from error
    if bind.dialect.name not in ("sqlite", "postgresql"):
        raise ValueError(f"SQLite and PostgreSQL can hold a working memory, {bind.dialect.name} cannot")
    if isinstance(engine_or_session, AsyncEngine):
        return EngineTransactions(engine_or_session)
    return SessionTransactions(engine_or_session)


class SqlStore:
    """A `Store`. Every method is one transaction."""

    def __init__(self, transactions: Transactions, user_id: str, session_id: str) -> None:
        self._transactions = transactions
        self._names = (escape(user_id), escape(session_id))
        self.lock = transactions.lock

    async def head(self) -> Head:
        """Revision, size and summary."""
        async with self._transactions.reading() as connection:
            return (await read_scope(connection, *self._names)).head

    async def messages(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[Head, list[Msg]]:
        """The messages that pass."""
        async with self._transactions.reading() as connection:
            return await rows.read_passing(connection, *self._names, wanted, unwanted)

    async def entries(self) -> tuple[Head, list[Entry]]:
        """Everything."""
        async with self._transactions.reading() as connection:
            # The revision first: an entry that came after it only makes the next look find news again.
            scope = await read_scope(connection, *self._names)
            return scope.head, await rows.read_entries(connection, scope.id)

    async def add(self, messages: Sequence[Msg], marks: tuple[str, ...], duplicates: bool, tell: bool) -> Outcome:
        """Append messages."""
        given = rows.with_bodies(Entry(msg, marks) for msg in messages)
        new = given if duplicates else _first_of_each(given, set())
        ids = [] if duplicates else [entry.msg.id for entry, _ in new]
        async with self._transactions.begin() as connection:
            grown = await grow_scope(connection, *self._names, ids, len(new))
            if grown is None:
                return await self._add_beside_known(connection, new, ids, marks, tell)
            before, after = grown
            await rows.insert_entries(connection, after.id, before.next_serial, new)
        return Outcome(len(new), before.revision, after.head, _added(new, before.size) if tell else ())

    async def _add_beside_known(
        self, connection: AsyncConnection, given: list[Written], ids: list[str], marks: tuple[str, ...], tell: bool
    ) -> Outcome:
        scope = await lock_scope(connection, *self._names)
        known = await rows.find(connection, scope.id, ids) if ids else []
        changes = []
        if known and marks:
            known = await rows.find(connection, scope.id, ids, places=True) if tell else known
            changes = await rows.remark(connection, scope.id, known, lambda _, before: joined(before, marks))
        new = _first_of_each(given, {row.msg_id for row in known}) if ids else given
        if not new and not changes:
            return Outcome(0, scope.revision, scope.head)
        serial, size = scope.next_serial, len(new)
        await rows.insert_entries(connection, scope.id, serial, new)
        after = await finish(connection, scope, size=scope.size + size, next_serial=serial + size)
        return Outcome(size, scope.revision, after.head, (*_added(new, scope.size), *_marked(changes)))

    async def delete(self, ids: Sequence[str] | None, marks: tuple[str, ...], tell: bool) -> Outcome:
        """Delete messages."""
        async with self._transactions.begin() as connection:
            scope = await lock_scope(connection, *self._names)
            found = await rows.find(connection, scope.id, ids, marks, places=tell, bodies=tell)
            if not found:
                return Outcome(0, scope.revision, scope.head)
            gone = await _stored(connection, scope, found) if tell else ()
            await rows.delete_rows(connection, scope.id, found)
            after = await finish(connection, scope, size=scope.size - len(found))
        return Outcome(len(found), scope.revision, after.head, (Deleted(gone),))

    async def replace_mark(
        self, old: tuple[str, ...], new: tuple[str, ...], ids: Sequence[str] | None, tell: bool
    ) -> Outcome:
        """Put one mark in the place of another."""
        return await self._remark(ids, old, lambda _, marks: replaced(marks, old, new), tell)

    async def set_marks(self, marks: Mapping[str, tuple[str, ...]], tell: bool) -> Outcome:
        """Give messages exactly these marks."""
        return await self._remark(list(marks), (), lambda msg_id, _: marks[msg_id], tell)

    async def set_summary(self, summary: str) -> Outcome:
        """Replace the summary."""
        async with self._transactions.begin() as connection:
            scope = await lock_scope(connection, *self._names)
            if scope.summary == summary:
                return Outcome(0, scope.revision, scope.head)
            after = await finish(connection, scope, summary=summary)
        return Outcome(0, scope.revision, after.head, (SummaryChanged(scope.summary, summary),))

    async def clear(self, tell: bool) -> Outcome:
        """Delete everything."""
        async with self._transactions.begin() as connection:
            scope = await lock_scope(connection, *self._names)
            if not scope.size and not scope.summary:
                return Outcome(0, scope.revision, scope.head)
            gone = stored(await rows.read_entries(connection, scope.id)) if tell else ()
            await rows.delete_all(connection, scope.id)
            after = await finish(connection, scope, size=0, summary="")
        return Outcome(scope.size, scope.revision, after.head, (Cleared(gone, scope.summary),))

    async def names(self) -> list[Names]:
        """Every session in the database."""
        async with self._transactions.reading() as connection:
            return await read_names(connection)

    async def rewrite(self, rewrite: Rewrite) -> Outcome:
        """Store everything anew."""
        async with self._transactions.begin() as connection:
            scope = await lock_scope(connection, *self._names)
            new = rewrite(await rows.read_entries(connection, scope.id), scope.summary)
            if new is None:
                return Outcome(0, scope.revision, scope.head)
            size, serial = len(new.entries), scope.next_serial
            await rows.delete_all(connection, scope.id)
            await rows.insert_entries(connection, scope.id, serial, rows.with_bodies(new.entries))
            after = await finish(connection, scope, size=size, summary=new.summary, next_serial=serial + size)
        return Outcome(size, scope.revision, after.head, (new.change,))

    async def _remark(self, ids: Sequence[str] | None, marks: tuple[str, ...], change: Remark, tell: bool) -> Outcome:
        async with self._transactions.begin() as connection:
            scope = await lock_scope(connection, *self._names)
            found = await rows.find(connection, scope.id, ids, marks, places=tell)
            changes = await rows.remark(connection, scope.id, found, change)
            if not changes:
                return Outcome(0, scope.revision, scope.head)
            after = await finish(connection, scope)
        return Outcome(len(changes), scope.revision, after.head, _marked(changes))


def _first_of_each(given: list[Written], known: set[str]) -> list[Written]:
    """The entries whose ids are new, each id once."""
    firsts: dict[str, Written] = {}
    for written in given:
        if written[0].msg.id not in known:
            firsts.setdefault(written[0].msg.id, written)
    return list(firsts.values())


def _added(new: list[Written], start: int) -> tuple[Added, ...]:
    return (Added(stored([entry for entry, _ in new], start)),) if new else ()


def _marked(changes: list[MarksChange]) -> tuple[Marked, ...]:
    return (Marked(tuple(changes)),) if changes else ()


async def _stored(connection: AsyncConnection, scope: Scope, found: list[Row]) -> tuple[StoredEntry, ...]:
    marks = await rows.read_marks(connection, scope.id, found)
    return tuple(
        StoredEntry(row.place, decode_body(row.body), its_marks) for row, its_marks in zip(found, marks, strict=True)
    )
