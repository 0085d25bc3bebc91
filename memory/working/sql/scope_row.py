"""The row of one user's session, inside a transaction that is open already."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import time_ns
from typing import Any, NamedTuple

from sqlalchemy import bindparam, exists, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from memory.working.plain_text import escape, unescape
from memory.working.sql.tables import message, scope
from memory.working.store import Head, Names

OF_NAMES = (scope.c.user_id == bindparam("user"), scope.c.session_id == bindparam("session"))
"""That a row is that of the parameters `user` and `session`."""

_SCOPE_COLUMNS = (scope.c.id, scope.c.revision, scope.c.size, scope.c.summary, scope.c.next_serial)
_READ_SCOPE = select(*_SCOPE_COLUMNS).where(*OF_NAMES)
# Writing it, though nothing changes, makes every other writer wait, in SQLite and in PostgreSQL alike.
_LOCK_SCOPE = update(scope).where(*OF_NAMES).values(revision=scope.c.revision).returning(*_SCOPE_COLUMNS)
_MAKE_SCOPE = text(
    f"INSERT INTO {scope.name} (user_id, session_id, revision, size, summary, next_serial) "
    "VALUES (:user, :session, 0, 0, '', 1) ON CONFLICT DO NOTHING"
)
# However many ids there are, as one JSON text they are one parameter, and the statement is always the same.
_IDS = select(func.json_each(bindparam("ids")).table_valued("value").c.value)
_GROW_SCOPE = (
    update(scope)
    .where(*OF_NAMES, scope.c.revision > 0)
    .where(~exists().where(message.c.scope_id == scope.c.id, message.c.msg_id.in_(_IDS)))
    .values(
        revision=scope.c.revision + 1,
        size=scope.c.size + bindparam("count"),
        next_serial=scope.c.next_serial + bindparam("count"),
    )
    .returning(*_SCOPE_COLUMNS)
)
_FINISH = (
    update(scope)
    .where(scope.c.id == bindparam("scope"))
    .values({name: bindparam(f"new_{name}") for name in ("revision", "size", "summary", "next_serial")})
)


class Scope(NamedTuple):
    """The row of one user's session; `id` is 0 where there is none yet."""

    id: int
    revision: int
    size: int
    summary: str
    next_serial: int

    @property
    def head(self) -> Head:
        """What a store tells of itself."""
        return Head(self.revision, self.size, self.summary)


async def read_scope(connection: AsyncConnection, user: str, session: str) -> Scope:
    """The row as it is."""
    return _scope((await connection.execute(_READ_SCOPE, {"user": user, "session": session})).one_or_none())


async def read_names(connection: AsyncConnection) -> list[Names]:
    """Whose sessions there are, and which."""
    found = await connection.execute(select(scope.c.user_id, scope.c.session_id).order_by(scope.c.id))
    return [Names(unescape(user), unescape(session)) for user, session in found]


async def lock_scope(connection: AsyncConnection, user: str, session: str) -> Scope:
    """The row, locked until the transaction ends; made where there is none."""
    names = {"user": user, "session": session}
    row = (await connection.execute(_LOCK_SCOPE, names)).one_or_none()
    if row is None:
        await connection.execute(_MAKE_SCOPE, names)
        row = (await connection.execute(_LOCK_SCOPE, names)).one()
    return _scope(row)


async def grow_scope(
    connection: AsyncConnection, user: str, session: str, ids: Sequence[str], count: int
) -> tuple[Scope, Scope] | None:
    """Lock the row and make room for `count` messages in one step, provided that none of these ids is stored.

    Returns:
        The row before and after; None where it takes more steps to tell.
    """
    # In PostgreSQL a statement that has waited for a lock still sees what was there before.
    if connection.dialect.name != "sqlite":
        return None
    values = {"user": user, "session": session, "count": count, "ids": json.dumps([escape(id_) for id_ in ids])}
    row = (await connection.execute(_GROW_SCOPE, values)).one_or_none()
    if row is None:
        return None
    after = _scope(row)
    before = after._replace(revision=after.revision - 1, size=after.size - count, next_serial=after.next_serial - count)
    return before, after


def _scope(row: Any) -> Scope:
    return Scope(0, 0, 0, "", 0) if row is None else Scope(row[0], row[1], row[2], unescape(row[3]), row[4])


async def finish(connection: AsyncConnection, before: Scope, **changed: Any) -> Scope:
    """Write the next revision of the row, with what changed in it."""
    # Counting on from the clock, no revision of an earlier store in the same place comes again.
    revision = before.revision + 1 if before.revision else time_ns() // 1000
    after = before._replace(revision=revision, **changed)
    values = {f"new_{name}": value for name, value in after._asdict().items() if name != "id"}
    await connection.execute(_FINISH, {**values, "new_summary": escape(after.summary), "scope": after.id})
    return after
