"""Undo and redo of what a person does to a working memory: mark changes and deletions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

from agent_core.change import Cleared, Deleted, Marked, MarksChange, MemoryChange, SummaryChanged
from agent_core.errors import MnemoscopeError
from agent_core.text import first_line
from memory.working.base import MemoryBase
from memory.working.redo import redo, swap_marks


class Step(NamedTuple):
    """What one action of a person did: words for it, and the changes in order."""

    label: str
    changes: tuple[MemoryChange, ...]


class UndoHistory:
    """Records the changes made inside `recording`, and takes them back.

    Only marks and deletions can be taken back; what the agent stores meanwhile is left alone: undoing works on message
    ids, not on the state as it was.

    Args:
        memory: one that publishes its changes and can `set_marks` and `restore`.
        limit: how many steps are kept.
    """

    def __init__(self, memory: MemoryBase, limit: int = 100) -> None:
        self._memory = memory
        self._limit = limit
        self._undone: list[Step] = []
        self._done: list[Step] = []

    @asynccontextmanager
    async def recording(self, label: str) -> AsyncIterator[None]:
        """Make what happens inside one step that can be undone."""
        with self._own_changes() as changes:
            try:
                yield
            finally:
                undoable = tuple(one for one in changes if isinstance(one, Marked | Deleted | Cleared | SummaryChanged))
                if undoable:
                    self._done = [*self._done, Step(first_line(label), undoable)][-self._limit :]
                    self._undone.clear()

    async def undo(self) -> str | None:
        """Take the last step back; its label, or None when there is nothing to undo.

        Raises:
            MnemoscopeError: the step changed a summary that has been made anew since, or others have changed all that
                it did; the step is forgotten.
            NotImplementedError: this memory cannot do it.
        """
        if not self._done:
            return None
        step = self._done[-1]
        self._refuse_stale_summary(self._done, "undone", [change.after for change in _summary_changes(step)][-1:])
        with self._own_changes() as changes:
            for change in reversed(step.changes):
                await self._revert(change)
        self._refuse_idle(self._done, "undone", changes)
        self._undone.append(self._done.pop())
        return step.label

    async def redo(self) -> str | None:
        """Do the step that was undone last again; its label, or None. Raises what `undo` raises."""
        if not self._undone:
            return None
        step = self._undone[-1]
        self._refuse_stale_summary(self._undone, "done again", [change.before for change in _summary_changes(step)][:1])
        with self._own_changes() as changes:
            for change in step.changes:
                await redo(change, self._memory)
        self._refuse_idle(self._undone, "done again", changes)
        self._done.append(self._undone.pop())
        return step.label

    @contextmanager
    def _own_changes(self) -> Iterator[list[MemoryChange]]:
        """Collect what is changed meanwhile, without what is told of others."""
        changes: list[MemoryChange] = []

        def collect(change: MemoryChange) -> None:
            if not self._memory.tells_of_others:
                changes.append(change)

        leave = self._memory.subscribe(collect)
        try:
            yield changes
        finally:
            leave()

    def _refuse_idle(self, steps: list[Step], verb: str, changes: Sequence[MemoryChange]) -> None:
        """Saying that a step was undone that changed nothing any more would not be true."""
        if not changes:
            label = steps.pop().label
            raise MnemoscopeError(f"Nothing is left of this that could be {verb}: {label}.")

    def _refuse_stale_summary(self, steps: list[Step], verb: str, expected: Sequence[str]) -> None:
        """Putting an older text in the place of a newer summary would lose what only the newer one covers."""
        if expected and expected[0] != self._memory._compressed_summary:
            label = steps.pop().label
            raise MnemoscopeError(f"This cannot be {verb} any more, the summary has been made anew since: {label}.")

    async def _revert(self, change: MemoryChange) -> None:
        match change:
            case Marked(changes):
                back = [MarksChange(one.position, one.msg_id, one.after, one.before) for one in changes]
                await swap_marks(back, self._memory)
            case Deleted(entries):
                await self._memory.restore(entries)
            case Cleared(entries, summary):
                await self._memory.restore(entries)
                both = "\n\n".join(filter(None, (summary, self._memory._compressed_summary)))
                await self._memory.update_compressed_summary(both)
            case SummaryChanged(before=before):
                await self._memory.update_compressed_summary(before)


def _summary_changes(step: Step) -> list[SummaryChanged]:
    return [change for change in step.changes if isinstance(change, SummaryChanged)]
