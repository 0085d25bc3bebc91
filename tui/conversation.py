"""What is said to an agent, one thing after the other; what is typed meanwhile waits its turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from agent_core.agent import Agent
from agent_core.change import Added, Snapshot
from agent_core.errors import MnemoscopeError
from agent_core.event import Event, MemoryChanged
from agent_core.message import Msg, UserMsg


class Draft(NamedTuple):
    """A text that is to be said, with the marks that it gets."""

    text: str
    marks: tuple[str, ...] = ()


class Conversation:
    """The queue before an agent.

    Args:
        agent: who is spoken to.
        on_change: called when the queue has changed.
    """

    def __init__(self, agent: Agent, on_change: Callable[[], None]) -> None:
        self._agent = agent
        self._queue: deque[Draft] = deque()
        self._in_hand: Draft | None = None
        self._on_change = on_change

    @property
    def queued(self) -> tuple[Draft, ...]:
        """What waits, the next first."""
        return tuple(self._queue)

    @property
    def unsent(self) -> tuple[Draft, ...]:
        """What waits, behind what is being said and is not stored yet: of this nothing is anywhere else."""
        return (*([self._in_hand] if self._in_hand else []), *self._queue)

    def add(self, draft: Draft) -> None:
        """Let a text wait its turn."""
        self._queue.append(draft)
        self._on_change()

    def take_back_last(self) -> Draft | None:
        """Take back what was queued last; None when nothing waits."""
        if not self._queue:
            return None
        draft = self._queue.pop()
        self._on_change()
        return draft

    def take_back_all(self) -> list[Draft]:
        """Take back everything that waits."""
        drafts = list(self._queue)
        self._queue.clear()
        if drafts:
            self._on_change()
        return drafts

    async def work(self) -> bool:
        """Say what waits until nothing does. False when a reply failed: what waits then was meant for what it had said.

        The trace tells about the failure. What could not even be stored waits again.
        """
        while self._queue:
            if not await self._say(self._queue.popleft()):
                return False
        return True

    async def retry(self) -> bool:
        """Go on from what is stored, then say what waits; False as in `work`."""
        return await self._reply(None) and await self.work()

    async def compact(self, instructions: str) -> bool:
        """Summarise the older part of the conversation; whether there was something old enough.

        Raises:
            MnemoscopeError: it failed, which the trace tells as well; nothing was changed.
        """
        return await self._agent.compress_context(instructions=instructions)

    async def _say(self, draft: Draft) -> bool:
        msg = UserMsg("user", draft.text)

        def notice(event: Event) -> None:
            if self._in_hand is not None and _stores(event, msg):
                self._in_hand = None
                self._on_change()

        self._in_hand = draft
        self._on_change()
        unsubscribe = self._agent.trace.subscribe(notice)
        try:
            is_done = await self._reply(msg, draft.marks)
            if self._in_hand is not None and not is_done:
                self._queue.appendleft(draft)
        finally:
            unsubscribe()
            self._in_hand = None
        return is_done

    async def _reply(self, msg: Msg | None, marks: tuple[str, ...] = ()) -> bool:
        try:
            await self._agent.reply(msg, marks=marks)
        except MnemoscopeError:
            return False
        return True


def _stores(event: Event, msg: Msg) -> bool:
    if not isinstance(event, MemoryChanged) or not isinstance(event.change, Added | Snapshot):
        return False
    return any(entry.msg.id == msg.id for entry in event.change.entries)
