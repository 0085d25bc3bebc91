"""`Writer`: takes exchanges and facts into the memory, in the background, and loses none that it could not write."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from agent_core.errors import MnemoscopeError, ModelError
from agent_core.event import Event, FactsSource, FactsWriteStarted, FactsWritten, Usage
from agent_core.model.base import ChatModelBase
from agent_core.text import first_line
from memory.mem0.adding import add_as_given, add_extracted
from memory.mem0.answers import Written
from memory.mem0.errors import ExtractionError
from memory.mem0.outbox import Message, Outbox
from memory.mem0.scope import Scope
from memory.mem0.store import Mem0Store

Append = Callable[[Event], object]
"""Puts an event into a trace."""
Progress = Callable[[int, int], None]
"""Told how many writes are over, and of how many."""

NO_MODEL = "there is no language model to extract memories with, and nothing was asked to be remembered"
_KEPT = "It is kept, and tried again when the program starts next."

_log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """What a write gave, where its texts come from, and what the model has cost."""

    written: Written
    how: FactsSource
    usage: Usage | None = None


class Writer:
    """Writes to one memory.

    Args:
        store: the memory.
        scope: whose it is.
        outbox: keeps what could not be written.
    """

    def __init__(self, store: Mem0Store, scope: Scope, outbox: Outbox) -> None:
        self._store = store
        self._scope = scope
        self._outbox = outbox
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(
        self, messages: Sequence[Message], model: ChatModelBase | None, append: Append, reply_id: str | None
    ) -> asyncio.Task[None]:
        """Write an exchange in the background. How that ended is told in the trace."""
        write = _Write(self._scope.source, append, reply_id)
        return self._in_background(self._write(list(messages), model, write))

    def begin_retry(self, model: ChatModelBase | None, append: Append) -> asyncio.Task[None]:
        """Try again, in the background, what an earlier run of the program could not write."""
        return self._in_background(self._retry(model, append))

    async def keep(
        self, texts: Sequence[str], model: ChatModelBase | None, append: Append, reply_id: str | None
    ) -> FactsWritten:
        """Take in what a model asks to be kept: extracted, or as it is where extraction gives nothing.

        Raises:
            MnemoscopeError: it could not be written.
        """
        write = _Write(self._scope.source, append, reply_id)
        try:
            return write.end(await self._keep(texts, model))
        except BaseException as error:
            write.fail(error)
            raise

    async def drain(self, seconds: float | None = None, progress: Progress | None = None) -> int:
        """Wait for what is being written, `seconds` at most; the rest is kept for the next start. Returns how many."""
        # A task that is cancelled before its first step does nothing at all, and what it was to write would be lost.
        await asyncio.sleep(0)
        tasks = set(self._tasks)
        total = len(tasks)
        deadline = None if seconds is None else time.monotonic() + seconds
        while tasks:
            _tell(progress, total - len(tasks), total)
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done, tasks = await asyncio.wait(tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _tell(progress, total, total)
        return len(tasks)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="writing to mem0")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _write(self, messages: list[Message], model: ChatModelBase | None, write: _Write) -> None:
        # Before anything else, and in a thread, which goes on when this is cancelled.
        beginning = asyncio.ensure_future(asyncio.to_thread(self._begin, messages, model))
        try:
            number = await asyncio.shield(beginning)
            outcome = await self._take_in(messages, model)
        except BaseException as error:
            # Also when the program ends: what was said must not be lost with it.
            write.fail(error, self._kept(messages, error, await beginning))
            if not isinstance(error, Exception):
                raise
        else:
            write.end(outcome)
            if number:
                await asyncio.to_thread(self._settle, number)

    def _begin(self, messages: list[Message], model: ChatModelBase | None) -> int:
        """Keep an exchange while a model looks at it, which takes long; its number in the outbox, 0 where it is not."""
        if self._store.extracts_with_our_model and (model is None or not model.is_language_model):
            return 0
        try:
            return self._outbox.begin(messages, self._scope.agent)
        except MnemoscopeError:
            # It is tried again, and told, when the writing fails as well.
            return 0

    def _settle(self, number: int) -> None:
        try:
            self._outbox.settle(number)
        except MnemoscopeError:
            _log.warning("what was written stays in the outbox", exc_info=True)

    def _kept(self, messages: list[Message], error: BaseException, number: int) -> str:
        try:
            if number:
                self._outbox.settle(number, _in_words(error))
            else:
                self._outbox.put(messages, self._scope.agent, _in_words(error))
        except MnemoscopeError as problem:
            return str(problem)
        return _KEPT

    async def _retry(self, model: ChatModelBase | None, append: Append) -> None:
        waiting = deque(await asyncio.to_thread(self._outbox.take))
        try:
            while waiting:
                self._outbox.settle(waiting[0].number, await self._try_again(waiting[0].messages, model, append))
                waiting.popleft()
        finally:
            self._outbox.release(one.number for one in waiting)

    async def _try_again(self, messages: list[Message], model: ChatModelBase | None, append: Append) -> str:
        """Why it has failed again; empty when it is written."""
        write = _Write(self._scope.source, append, None)
        try:
            write.end(await self._take_in(messages, model))
        except BaseException as error:
            write.fail(error, _KEPT)
            if not isinstance(error, Exception):
                raise
            return _in_words(error)
        return ""

    async def _take_in(self, messages: list[Message], model: ChatModelBase | None) -> Outcome:
        """Extract what is worth keeping of an exchange; without a language model, what was asked to be kept."""
        await self._store.open()
        if self._store.extracts_with_our_model and (model is None or not model.is_language_model):
            said = "\n".join(one["content"] for one in messages if one["role"] == "user")
            wishes = wishes_in(said)
            if not wishes:
                return Outcome(Written("skipped", detail=NO_MODEL), "by_rules")
            return Outcome(await add_as_given(self._store, wishes, self._scope), "by_rules")
        written, usage = await add_extracted(self._store, messages, self._scope, model)
        return Outcome(written, "extracted", usage)

    async def _keep(self, texts: Sequence[str], model: ChatModelBase | None) -> Outcome:
        await self._store.open()
        problem, usage = "", None
        if not self._store.extracts_with_our_model or (model is not None and model.is_language_model):
            message = {"role": "user", "content": "\n".join(texts)}
            try:
                written, usage = await add_extracted(self._store, [message], self._scope, model)
            except (ExtractionError, ModelError) as error:
                problem = str(error)
            else:
                if written.finish != "nothing":
                    return Outcome(written, "extracted", usage)
        written = await add_as_given(self._store, texts, self._scope)
        return Outcome(written._replace(detail=problem or written.detail), "as_given", usage)


def wishes_in(said: str) -> list[str]:
    """What somebody asks to have remembered, cut into facts, by the rules of the offline model."""
    from agent_core.model.offline.facts import facts_of
    from agent_core.model.offline.intent import Remember, intent_of

    match intent_of(said):
        case Remember(fact) if fact:
            return [one.text for one in facts_of(fact)]
    return []


class _Write:
    """One write in the trace: when it began, and how it ended."""

    def __init__(self, source: str, append: Append, reply_id: str | None) -> None:
        self._append = append
        self._started = time.perf_counter()
        self._written = FactsWritten(
            write_id=uuid.uuid4().hex, source=source, finish="nothing", how="extracted", reply_id=reply_id
        )
        append(FactsWriteStarted(write_id=self._written.write_id, source=source, reply_id=reply_id))

    def end(self, outcome: Outcome) -> FactsWritten:
        """It is over."""
        finish, changes, detail = outcome.written
        return self._tell(finish=finish, how=outcome.how, changes=changes, detail=detail, usage=outcome.usage)

    def fail(self, error: BaseException, then: str = "") -> None:
        """It has failed; `then` says what becomes of what was to be written."""
        if isinstance(error, Exception) and not isinstance(error, MnemoscopeError):
            _log.warning("a write to mem0 failed", exc_info=error)
        words = _in_words(error)
        self._tell(finish="failed", detail=f"{words.removesuffix('.')}. {then}" if then else words)

    def _tell(self, **facts: Any) -> FactsWritten:
        event = replace(self._written, seconds=time.perf_counter() - self._started, **facts)
        self._append(event)
        return event


def _in_words(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "It was interrupted."
    return first_line(str(error)) or type(error).__name__


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None and total:
        progress(done, total)
