"""`JournalEntry`: one change of one memory file, and the lines of JSON that tell of it."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from agent_core.event import Origin

Action = Literal[
    "create", "edit", "header", "rename", "delete", "pin", "unpin", "disable", "enable", "undo", "import", "mend"
]  # fmt: skip


class Author(Struct, frozen=True, kw_only=True):
    """Who changes something, and what made them do it; ids are empty where there is none.

    Args:
        origin: `user`, `model`, `tool` (the model, with what a tool gave before it) or `outside`.
        session_id: the session in which it happens.
        reply_id: the reply.
        call_id: the tool call.
        msg_id: the message of the user that the reply answers.
    """

    origin: Origin = "user"
    session_id: str = ""
    reply_id: str = ""
    call_id: str = ""
    msg_id: str = ""


USER = Author()


class JournalEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of one file.

    Args:
        id: names the entry.
        at: seconds since the epoch.
        path: the file, from the memory folder, `/` between folders; after a rename its new name.
        action: what was done.
        origin: who did it; see `Author`, also for the four ids.
        before: SHA-256 of the file's bytes before, in hexadecimal; None when there was no file.
        after: of the bytes afterwards; None when there is no file any more.
        before_size: bytes before.
        after_size: bytes afterwards.
        from_path: what a renamed file was called.
        group: the entry that this one goes with, such as that of the memory whose line in the index was changed.
        undoes: the entry that was undone by this one.
        folders: from the memory folder, those that were made for it and for what goes with it, the outer ones first.
        is_pending: the change was about to be made; what came of it is not known.
        is_void: the change was not made after all.
    """

    id: str
    at: float
    path: str
    action: Action
    origin: Origin
    before: str | None = None
    after: str | None = None
    before_size: int = 0
    after_size: int = 0
    from_path: str = ""
    group: str = ""
    undoes: str = ""
    folders: tuple[str, ...] = ()
    session_id: str = ""
    reply_id: str = ""
    call_id: str = ""
    msg_id: str = ""
    is_pending: bool = False
    is_void: bool = False

    @property
    def author(self) -> Author:
        """Who made the change."""
        return Author(
            origin=self.origin,
            session_id=self.session_id,
            reply_id=self.reply_id,
            call_id=self.call_id,
            msg_id=self.msg_id,
        )

    @property
    def digests(self) -> set[str]:
        """The contents that the entry refers to."""
        return {digest for digest in (self.before, self.after) if digest is not None}


class Fold(NamedTuple):
    """What the lines of a journal say.

    Args:
        entries: all entries, oldest first, those that are pending or void included.
        damaged: how many lines could not be read.
    """

    entries: tuple[JournalEntry, ...] = ()
    damaged: int = 0


def new_entry(
    path: str,
    action: Action,
    author: Author,
    at: float,
    *,
    before: bytes | None = None,
    after: bytes | None = None,
    **more: Any,
) -> JournalEntry:
    """An entry for a change from `before` to `after`; `more` are other fields of it."""
    return JournalEntry(
        id=uuid.uuid4().hex,
        at=at,
        path=path,
        action=action,
        **contents(before=before, after=after),
        **msgspec.structs.asdict(author),
        **more,
    )


def contents(**states: bytes | None) -> dict[str, Any]:
    """The fields of an entry that tell of contents, by `before` and `after`."""
    fields: dict[str, Any] = {}
    for name, data in states.items():
        fields[name] = None if data is None else digest_of(data)
        fields[f"{name}_size"] = len(data or b"")
    return fields


def digest_of(data: bytes) -> str:
    """What contents are told apart by."""
    return hashlib.sha256(data).hexdigest()


def encode_line(fields: dict[str, Any]) -> bytes:
    """One line, its end included. A name that is not UTF-8 comes back as it was."""
    try:
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields).encode() + b"\n"


def entry_line(entry: JournalEntry) -> bytes:
    """A whole entry as one line."""
    return encode_line(msgspec.to_builtins(entry))


def fold_lines(lines: Iterable[bytes]) -> Fold:
    """Read lines, oldest first. One that names an entry of an earlier line amends it; what is damaged is left out."""
    found: dict[str, dict[str, Any]] = {}
    damaged = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            found.setdefault(fields["id"], {}).update(fields)
        except (ValueError, TypeError, KeyError, RecursionError):
            damaged += 1
    entries: list[JournalEntry] = []
    for fields in found.values():
        try:
            entries.append(msgspec.convert(fields, JournalEntry))
        except msgspec.ValidationError:
            damaged += 1
    return Fold(tuple(entries), damaged)
