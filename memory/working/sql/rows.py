"""Reading and writing the messages and marks of one session, inside a transaction that is open already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    CompoundSelect,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal,
    not_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import ColumnElement

from agent_core.change import MarksChange
from agent_core.marks import Entry
from agent_core.message import Msg
from memory.working.body import decode_body, encode_body
from memory.working.plain_text import escape, unescape
from memory.working.sql.scope_row import OF_NAMES
from memory.working.sql.tables import mark, message, scope
from memory.working.store import Head

_IDS_AT_ONCE = 10_000
"""Both databases take some 32,000 parameters in one statement."""
_BODY = -1
"""The `ordinal` of a message's body where bodies and marks are read together."""
_HEAD = -1
"""The `serial` of what a store tells of itself where that and bodies are read together."""

_DELETE_ROWS = [
    delete(table).where(table.c.scope_id == bindparam("scope"), table.c.serial == bindparam("of_serial"))
    for table in (mark, message)
]
_ENTRIES = union_all(
    select(message.c.serial, literal(_BODY).label("ordinal"), message.c.body.label("text")).where(
        message.c.scope_id == bindparam("scope")
    ),
    select(mark.c.serial, mark.c.ordinal, mark.c.mark).where(mark.c.scope_id == bindparam("scope")),
).order_by("serial", "ordinal")
_MARKS = (
    select(mark.c.serial, mark.c.mark)
    .where(mark.c.scope_id == bindparam("scope"), mark.c.serial.between(bindparam("first"), bindparam("last")))
    .order_by(mark.c.serial, mark.c.ordinal)
)


class Row(NamedTuple):
    """A stored message; place and body are worked out on request only."""

    serial: int
    msg_id: str
    place: int
    body: str


Written = tuple[Entry, str]
"""An entry with the body of its message."""

Remark = Callable[[str, tuple[str, ...]], tuple[str, ...]]
"""From a message's id and marks to its new marks."""


def _having(of_scope: ColumnElement[int], names: BindParameter[Any]) -> ColumnElement[bool]:
    """That a message has one of these marks."""
    return message.c.serial.in_(select(mark.c.serial).where(mark.c.scope_id == of_scope, mark.c.mark.in_(names)))


@cache
def _passing(has_wanted: bool, has_unwanted: bool) -> CompoundSelect[Any]:
    """Revision, size and summary in the first row, in each further one the body of a message that passes.

    One statement, since each costs more than what it finds when that is little, and they are of one moment then.
    """
    its_scope = select(scope.c.id).where(*OF_NAMES).scalar_subquery()
    bodies = select(message.c.serial, literal(0), literal(0), message.c.body).where(message.c.scope_id == its_scope)
    if has_wanted:
        bodies = bodies.where(_having(its_scope, bindparam("wanted", expanding=True)))
    if has_unwanted:
        bodies = bodies.where(not_(_having(its_scope, bindparam("unwanted", expanding=True))))
    head = select(literal(_HEAD).label("serial"), scope.c.revision, scope.c.size, scope.c.summary).where(*OF_NAMES)
    return union_all(head, bodies).order_by("serial")


async def read_passing(
    connection: AsyncConnection, user: str, session: str, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]
) -> tuple[Head, list[Msg]]:
    """The head, and the messages with any of the marks `wanted` (None for all) and none of `unwanted`."""
    values: dict[str, Any] = {"user": user, "session": session}
    if wanted is not None:
        values["wanted"] = [escape(name) for name in wanted]
    if unwanted:
        values["unwanted"] = [escape(name) for name in unwanted]
    found = iter((await connection.execute(_passing(wanted is not None, bool(unwanted)), values)).all())
    _, revision, size, summary = next(found, (0, 0, 0, ""))
    return Head(revision, size, unescape(summary)), [decode_body(row[3]) for row in found]


async def read_entries(connection: AsyncConnection, scope_id: int) -> list[Entry]:
    """All messages with their marks, in order, as they are at one moment."""
    rows = (await connection.execute(_ENTRIES, {"scope": scope_id})).all()
    # A message comes first, its marks after it.
    entries = []
    for _, group in groupby(rows, key=lambda row: row[0]):
        (_, _, body), *marks = group
        entries.append(Entry(decode_body(body), tuple(unescape(row[2]) for row in marks)))
    return entries


async def find(
    connection: AsyncConnection,
    scope_id: int,
    ids: Sequence[str] | None,
    marks: tuple[str, ...] = (),
    *,
    places: bool = False,
    bodies: bool = False,
) -> list[Row]:
    """The messages with these ids (None for any) and any of these marks (none for any), in order."""
    rows: list[Row] = []
    finding = _finding(ids is not None, bool(marks), places, bodies)
    names = [escape(name) for name in marks]
    for some in [()] if ids is None else _chunks(ids):
        values = {"scope": scope_id, "marks": names, "ids": [escape(id_) for id_ in some]}
        found = (await connection.execute(finding, values)).all()
        rows.extend(Row(serial, unescape(msg_id), place, body) for serial, msg_id, place, body in found)
    return sorted(rows)


@cache
def _finding(has_ids: bool, has_marks: bool, places: bool, bodies: bool) -> Select[Any]:
    body = message.c.body if bodies else literal("")
    its_scope: BindParameter[int] = bindparam("scope")
    if places:
        numbered = (
            select(message.c.serial, (func.row_number().over(order_by=message.c.serial) - 1).label("place"))
            .where(message.c.scope_id == its_scope)
            .subquery()
        )
        query = select(message.c.serial, message.c.msg_id, numbered.c.place, body)
        query = query.join(numbered, numbered.c.serial == message.c.serial)
    else:
        query = select(message.c.serial, message.c.msg_id, literal(0), body)
    query = query.where(message.c.scope_id == its_scope)
    if has_marks:
        query = query.where(_having(its_scope, bindparam("marks", expanding=True)))
    if has_ids:
        query = query.where(message.c.msg_id.in_(bindparam("ids", expanding=True)))
    return query


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _IDS_AT_ONCE] for start in range(0, len(ids), _IDS_AT_ONCE))


async def read_marks(connection: AsyncConnection, scope_id: int, rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The marks of each of these messages, which are in order."""
    if not rows:
        return []
    values = {"scope": scope_id, "first": rows[0].serial, "last": rows[-1].serial}
    marks: dict[int, list[str]] = {}
    for serial, name in (await connection.execute(_MARKS, values)).all():
        marks.setdefault(serial, []).append(unescape(name))
    return [tuple(marks.get(row.serial, ())) for row in rows]


def with_bodies(entries: Iterable[Entry]) -> list[Written]:
    """Entries made ready to be stored.

    Raises:
        TypeError: a message cannot be written as JSON.
    """
    return [(entry, encode_body(entry.msg)) for entry in entries]


async def insert_entries(
    connection: AsyncConnection, scope_id: int, first_serial: int, entries: Sequence[Written]
) -> None:
    """Append messages, numbered from `first_serial` on."""
    if entries:
        rows = [
            (scope_id, serial, escape(entry.msg.id), body) for serial, (entry, body) in enumerate(entries, first_serial)
        ]
        await _insert(connection, message, rows)
        marked = ((serial, entry.marks) for serial, (entry, _) in enumerate(entries, first_serial) if entry.marks)
        await _insert_marks(connection, scope_id, marked)


async def _insert_marks(
    connection: AsyncConnection, scope_id: int, marks: Iterable[tuple[int, tuple[str, ...]]]
) -> None:
    rows = [(scope_id, serial, ordinal, escape(name)) for serial, names in marks for ordinal, name in enumerate(names)]
    if rows:
        await _insert(connection, mark, rows)


async def _insert(connection: AsyncConnection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, each with a value for every column of the table."""
    names = table.columns.keys()
    if connection.dialect.name == "sqlite":
        # What SQLAlchemy does with each row takes longer than what SQLite does with it.
        places = ", ".join("?" * len(names))
        await connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({places})", rows)
    else:
        await connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])


async def remark(connection: AsyncConnection, scope_id: int, rows: Sequence[Row], change: Remark) -> list[MarksChange]:
    """Give messages the marks that `change` makes of theirs; only those that really changed."""
    changed: dict[int, MarksChange] = {}
    for row, before in zip(rows, await read_marks(connection, scope_id, rows), strict=True):
        after = change(row.msg_id, before)
        if after != before:
            changed[row.serial] = MarksChange(row.place, row.msg_id, before, after)
    had_some = [{"scope": scope_id, "of_serial": serial} for serial, one in changed.items() if one.before]
    if had_some:
        await connection.execute(_DELETE_ROWS[0], had_some)
    await _insert_marks(connection, scope_id, ((serial, one.after) for serial, one in changed.items()))
    return list(changed.values())


async def delete_rows(connection: AsyncConnection, scope_id: int, rows: Sequence[Row]) -> None:
    """Delete messages and their marks."""
    for statement in _DELETE_ROWS:
        await connection.execute(statement, [{"scope": scope_id, "of_serial": row.serial} for row in rows])


async def delete_all(connection: AsyncConnection, scope_id: int) -> None:
    """Delete all messages of the session and their marks."""
    for table in (mark, message):
        await connection.execute(delete(table).where(table.c.scope_id == scope_id))
