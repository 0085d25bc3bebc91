"""`Retrieval`: one search of long-term memory in the background of a reply, with its events and its one outcome."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable

from agent_core.errors import MnemoscopeError
from agent_core.event import (
    Event,
    Outcome,
    RecalledMemory,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalFinish,
    RetrievalSettled,
    RetrievalStage,
    RetrievalStarted,
)
from agent_core.text import first_line
from memory.agentic.recall import StageListener

Find = Callable[[str, StageListener], Awaitable[tuple[RecalledMemory, ...]]]
"""Finds the memories for a question, telling of each stage."""

_log = logging.getLogger(__name__)


class Retrieval:
    """A question that is being looked up, from `start` to `settle`.

    It settles itself when it finds nothing or fails; what it finds is for its owner to place. Every event carries the
    id of the reply that asked, however late it comes.

    Args:
        source: where it looks, for the events: the memory folder.
        question: what is looked up.
        reply_id: the reply that asked.
        append: appends to the trace of the agent.
        retrieval_id: made up when absent.
        ended: what an earlier run of the program has found already.
        patience: seconds that the first model call waits for it at most, for the events; None: as long as it takes.
    """

    def __init__(
        self,
        source: str,
        question: str,
        reply_id: str | None,
        append: Callable[[Event], Event],
        *,
        retrieval_id: str = "",
        ended: RetrievalEnded | None = None,
        patience: float | None = 0.0,
    ) -> None:
        self.source = source
        self.question = question
        self.retrieval_id = retrieval_id or uuid.uuid4().hex
        self.ended = ended
        self.is_settled = False
        self.is_carried_over = False
        self._reply_id = reply_id
        self._patience = patience
        self._append = append
        self._task: asyncio.Task[None] | None = None

    @property
    def is_found(self) -> bool:
        """Whether it has found memories that wait to be placed."""
        return self.ended is not None and self.ended.finish == "found" and not self.is_settled

    @property
    def memories(self) -> tuple[RecalledMemory, ...]:
        """What it has found so far."""
        return self.ended.memories if self.ended else ()

    def start(self, find: Find) -> None:
        """Begin in the background."""
        self._append(
            RetrievalStarted(
                retrieval_id=self.retrieval_id,
                source=self.source,
                question=self.question,
                patience=self._patience,
                reply_id=self._reply_id,
            )
        )
        self.resume(find)

    def resume(self, find: Find) -> None:
        """Go on: begin again what the end of a program, or of its event loop, has stopped half-way."""
        if self.ended is None and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(find), name=f"retrieval {self.retrieval_id}")

    async def stop(self) -> None:
        """End the background work without a word in the trace, so that it can be resumed."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def cancel(self, outcome: Outcome = "cancelled") -> None:
        """End the background work, if it goes on still, and settle."""
        try:
            await self.stop()
        finally:
            if self.ended is None:
                self._end("cancelled")
            self.settle(outcome)

    def carry_over(self) -> None:
        """Note that the reply has ended and the next one of the same agent gets it."""
        self.is_carried_over = True
        self._append(RetrievalCarriedOver(retrieval_id=self.retrieval_id, reply_id=self._reply_id))

    def settle(self, outcome: Outcome, *, round: int = 0, msg_ids: tuple[str, ...] = (), detail: str = "") -> None:
        """Say what became of it. Only the first word counts."""
        if self.is_settled:
            return
        self.is_settled = True
        self._append(
            RetrievalSettled(
                retrieval_id=self.retrieval_id,
                outcome=outcome,
                round=round,
                carried_over=self.is_carried_over,
                msg_ids=msg_ids,
                detail=detail,
                reply_id=self._reply_id,
            )
        )

    async def _run(self, find: Find) -> None:
        started = time.perf_counter()
        try:
            memories = await find(self.question, self._tell_stage)
        except Exception as error:
            if not isinstance(error, MnemoscopeError):
                _log.warning("a retrieval failed", exc_info=True)
            text = first_line(str(error)) or type(error).__name__
            self._end("failed", seconds=time.perf_counter() - started, error=text)
            self.settle("failed", detail=text)
        else:
            self._end("found" if memories else "nothing", memories, time.perf_counter() - started)
            if not memories:
                self.settle("nothing")

    def _tell_stage(self, stage: str, seconds: float, detail: str) -> None:
        self._append(
            RetrievalStage(
                retrieval_id=self.retrieval_id, stage=stage, seconds=seconds, detail=detail, reply_id=self._reply_id
            )
        )

    def _end(
        self,
        finish: RetrievalFinish,
        memories: tuple[RecalledMemory, ...] = (),
        seconds: float = 0.0,
        error: str = "",
    ) -> None:
        self.ended = RetrievalEnded(
            retrieval_id=self.retrieval_id,
            finish=finish,
            memories=memories,
            seconds=seconds,
            error=error,
            reply_id=self._reply_id,
        )
        self._append(self.ended)


async def wait_for(retrievals: Iterable[Retrieval], seconds: float | None) -> None:
    """Wait until all of them have ended, `seconds` at most; None for as long as it takes."""
    tasks = [one._task for one in retrievals if one._task is not None and not one._task.done()]
    if tasks and seconds != 0:
        await asyncio.wait(tasks, timeout=seconds)


def take_up(source: str, events: Iterable[Event], append: Callable[[Event], Event]) -> list[Retrieval]:
    """The retrievals that an earlier run of the program has carried over and not placed.

    Those that it left in the middle of a reply are settled as cancelled.

    Args:
        source: only those that looked there.
        events: the trace.
        append: appends to it.
    """
    opened: dict[str, Retrieval] = {}
    for event in events:
        match event:
            case RetrievalStarted(retrieval_id=key) if event.source == source:
                opened[key] = Retrieval(source, event.question, event.reply_id, append, retrieval_id=key)
            case RetrievalEnded(retrieval_id=key) if key in opened and event.finish == "found":
                opened[key].ended = event
            case RetrievalCarriedOver(retrieval_id=key) if key in opened:
                opened[key].is_carried_over = True
            case RetrievalSettled(retrieval_id=key):
                opened.pop(key, None)
    for retrieval in opened.values():
        if not retrieval.is_carried_over:
            retrieval.settle("cancelled", detail="the program ended first")
    return [retrieval for retrieval in opened.values() if retrieval.is_carried_over]
