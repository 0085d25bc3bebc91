"""The trace: everything that has happened, in order."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from agent_core.event import BlockDelta, BlockEnded, Event

E = TypeVar("E", bound=Event)
Listener = Callable[[Event], None]

_log = logging.getLogger(__name__)


class Trace:
    """An append-only list of events with listeners.

    Appending is synchronous and numbers the event; listeners hear of it before `append` returns. The deltas of a block
    are forgotten once the block has ended, since the stored message holds the text; everything else stays.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._events: list[Event] = []
        self._listeners: list[Listener] = []
        self._first_delta: dict[str, int] = {}
        self._next_seq = 0

    def append(self, event: E) -> E:
        """Append one event and return it as stored, with `seq` and `at` set."""
        appended = msgspec.structs.replace(event, seq=self._next_seq, at=self._clock())
        self._keep(appended)
        for listener in tuple(self._listeners):
            try:
                listener(appended)
            except Exception:
                # One broken view must not stop what is being recorded, nor the other views.
                _log.exception("a listener of the trace failed on %s", type(appended).__name__)
        return appended

    def restore(self, events: Sequence[Event]) -> None:
        """Put events of an earlier run in front, keeping their numbers; nobody is told.

        Raises:
            ValueError: something has been appended already.
        """
        if self._events:
            raise ValueError("only an empty trace can be restored")
        for event in events:
            self._keep(event)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with every event from now on; call what is returned to stop that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._events))

    def __len__(self) -> int:
        return len(self._events)

    def of(self, kind: type[E]) -> list[E]:
        """All events of one type, oldest first."""
        return [event for event in self._events if isinstance(event, kind)]

    def _keep(self, event: Event) -> None:
        self._next_seq = max(self._next_seq, event.seq + 1)
        if isinstance(event, BlockDelta):
            self._first_delta.setdefault(event.block_id, len(self._events))
        self._events.append(event)
        if isinstance(event, BlockEnded):
            self._forget_deltas(event.block_id)

    def _forget_deltas(self, block_id: str) -> None:
        first = self._first_delta.pop(block_id, None)
        if first is None:
            return
        tail = self._events[first:]
        kept = [event for event in tail if not (isinstance(event, BlockDelta) and event.block_id == block_id)]
        self._events[first:] = kept
        # Positions of other open blocks behind `first` have moved; recount them from the kept tail.
        for other in self._first_delta:
            self._first_delta[other] = next(
                (i for i, e in enumerate(kept, first) if isinstance(e, BlockDelta) and e.block_id == other),
                len(self._events),
            )
