"""`CheckedMemory`: what all memories of this package check before they touch what they hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from agent_core.marks import Marks, normalize_marks
from agent_core.message import Msg
from agent_core.prompt import summary_message
from memory.working.base import MemoryBase
from memory.working.checks import check_ids, check_mark, check_marks_by_id, check_messages


class CheckedMemory(MemoryBase):
    """Checks arguments and hands them on as plain tuples; what changes nothing is not handed on.

    A subclass fills in the methods that begin with an underscore. Their arguments are right, and ids stand there once.
    """

    async def add(
        self,
        memories: Msg | Sequence[Msg] | None,
        marks: Marks = None,
        allow_duplicates: bool = False,
        **kwargs: Any,
    ) -> None:
        """Append messages; one whose id is stored already only gets the marks, unless `allow_duplicates`."""
        wanted = normalize_marks(marks)
        messages = check_messages(memories)
        if messages:
            await self._add(messages, wanted, allow_duplicates)

    async def delete(self, msg_ids: Sequence[str], **kwargs: Any) -> int:
        """Delete messages by id; how many there were."""
        ids = _each_once(msg_ids)
        return await self._delete(ids, ()) if ids else 0

    async def delete_by_mark(self, mark: Marks, **kwargs: Any) -> int:
        """Delete messages that have this mark, or any of these; how many there were."""
        marks = normalize_marks(mark, "mark")
        return await self._delete(None, marks) if marks else 0

    async def get_memory(
        self,
        mark: Marks = None,
        exclude_mark: Marks = None,
        prepend_summary: bool = True,
        **kwargs: Any,
    ) -> list[Msg]:
        """The messages that pass a filter, in insertion order."""
        wanted = None if mark is None else normalize_marks(mark, "mark")
        unwanted = normalize_marks(exclude_mark, "exclude_mark")
        summary, messages = await self._read(wanted, unwanted)
        return [summary_message(summary), *messages] if prepend_summary and summary else messages

    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        """Set, replace or remove a mark; the number of messages really changed."""
        new = check_mark(new_mark, "new_mark")
        old = check_mark(old_mark, "old_mark")
        ids = None if msg_ids is None else _each_once(msg_ids)
        return 0 if new == old or ids == () else await self._replace_mark(old, new, ids)

    async def set_marks(self, marks: Mapping[str, Sequence[str]]) -> int:
        """Give messages exactly these marks; the number of messages really changed."""
        wanted = check_marks_by_id(marks)
        return await self._set_marks(wanted) if wanted else 0

    @abstractmethod
    async def _add(self, messages: tuple[Msg, ...], marks: tuple[str, ...], duplicates: bool) -> None:
        """Append messages; of those whose ids are known only the marks count, unless `duplicates`."""

    @abstractmethod
    async def _delete(self, ids: tuple[str, ...] | None, marks: tuple[str, ...]) -> int:
        """Delete messages with these ids, or with None those that have any of these marks."""

    @abstractmethod
    async def _read(self, wanted: tuple[str, ...] | None, unwanted: tuple[str, ...]) -> tuple[str, list[Msg]]:
        """The summary, and the messages with any of the marks `wanted` (None for all) and none of `unwanted`."""

    @abstractmethod
    async def _replace_mark(self, old: tuple[str, ...], new: tuple[str, ...], ids: tuple[str, ...] | None) -> int:
        """Put `new` in the place of `old`; either may be empty, not both."""

    @abstractmethod
    async def _set_marks(self, marks: Mapping[str, tuple[str, ...]]) -> int:
        """Give messages exactly these marks, by id."""


def _each_once(msg_ids: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check_ids(msg_ids)))
