"""`MemoryBase`: the contract of working memory, after AgentScope 1.x, completed where that leaves cases open."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_core.change import MemoryChange, StoredEntry, SummaryChanged
from agent_core.marks import Entry, Marks
from agent_core.message import Msg
from agent_core.module import StateModule
from memory.working.checks import check_summary

_log = logging.getLogger(__name__)


class MemoryBase(StateModule, ABC):
    """Messages with marks, in insertion order, and a summary of what they cover.

    A subclass needs the five abstract methods. What it does not override of the rest raises `NotImplementedError` or
    has a default. One that calls `_publish` after each committed mutation sets `publishes_changes`, and is then
    followed as it happens; any other is compared after each reply.
    """

    publishes_changes = False
    tells_of_others = False
    """Whether the change that is being published was made by others, and not by a call of ours."""

    def __init__(self) -> None:
        super().__init__()
        self._listeners: list[Callable[[MemoryChange], None]] = []
        self._compressed_summary: str = ""
        self.register_state("_compressed_summary", custom_from_json=check_summary)

    @abstractmethod
    async def add(self, memories: Msg | Sequence[Msg] | None, marks: Marks = None, **kwargs: Any) -> None:
        """Append messages, all with the same marks.

        Args:
            memories: one message, several, or None for nothing.
            marks: a mark, several, or None.

        Raises:
            TypeError: a value is of another type; it is named, and nothing is stored.
            ValueError: a mark is empty; nothing is stored.
        """

    @abstractmethod
    async def delete(self, msg_ids: Sequence[str], **kwargs: Any) -> int:
        """Delete messages by id; how many there were."""

    @abstractmethod
    async def size(self) -> int:
        """The number of stored messages."""

    @abstractmethod
    async def clear(self) -> None:
        """Delete everything, the summary too."""

    @abstractmethod
    async def get_memory(
        self,
        mark: Marks = None,
        exclude_mark: Marks = None,
        prepend_summary: bool = True,
        **kwargs: Any,
    ) -> list[Msg]:
        """The messages that pass a filter, in insertion order.

        Args:
            mark: only those with this mark, or with any of these; None for all.
            exclude_mark: not those with this mark, or with any of these.
            prepend_summary: put the summary first, when there is one.
        """

    async def delete_by_mark(self, mark: Marks, **kwargs: Any) -> int:
        """Delete messages that have this mark, or any of these; how many there were.

        Raises:
            NotImplementedError: this memory cannot do it.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot delete by mark")

    async def update_messages_mark(
        self, new_mark: str | None, old_mark: str | None = None, msg_ids: Sequence[str] | None = None
    ) -> int:
        """Set, replace or remove a mark.

        Args:
            new_mark: the mark to set; None to remove `old_mark` only.
            old_mark: only messages that have it, and it goes; None for all messages.
            msg_ids: only these messages; None for all.

        Returns:
            The number of messages really changed.

        Raises:
            NotImplementedError: this memory cannot do it.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot change marks")

    async def set_marks(self, marks: Mapping[str, Sequence[str]]) -> int:
        """Give messages exactly these marks.

        Args:
            marks: message id to all of its marks from now on; unknown ids are passed over.

        Returns:
            The number of messages really changed.

        Raises:
            NotImplementedError: this memory cannot do it.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot change marks")

    async def restore(self, entries: Sequence[StoredEntry]) -> None:
        """Put deleted messages back to where they were.

        Args:
            entries: `position` is the place of each afterwards, ascending; places behind the end mean the end. An id
                that is stored already is passed over.

        Raises:
            NotImplementedError: this memory cannot do it.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot put messages back")

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary; an empty one means that there is none.

        Raises:
            TypeError: it is not a str.
        """
        before, self._compressed_summary = self._compressed_summary, check_summary(summary)
        if before != summary:
            self._publish(SummaryChanged(before, self._compressed_summary))

    @property
    def tells_marks(self) -> bool:
        """Whether `entries` gives the marks of messages, which takes an `entries` of the subclass's own."""
        return type(self).entries is not MemoryBase.entries

    async def entries(self) -> list[Entry]:
        """All messages, and as long as a subclass does not override this, without their marks."""
        return [Entry(msg, ()) for msg in await self.get_memory(prepend_summary=False)]

    def subscribe(self, listener: Callable[[MemoryChange], None]) -> Callable[[], None]:
        """Have `listener` called after every committed mutation; call what is returned to stop that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def _publish(self, change: MemoryChange) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(change)
            except Exception:
                # The mutation is committed; a failing listener must not make it look as if it were not.
                _log.exception("a listener of %s failed", type(self).__name__)
