"""`StoreCall`: what the adapters that mem0 calls from its threads need to know of the call that they serve."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from agent_core.errors import StorageError
from agent_core.event import Usage
from agent_core.model.base import ChatModelBase

T = TypeVar("T")

_current: ContextVar[StoreCall | None] = ContextVar("store_call", default=None)
_LOOK_AT_LOOP = 0.2
"""Seconds after which it is looked whether the event loop still runs."""
_ENDED = "The event loop of the call to mem0 has ended."


class Replacement(NamedTuple):
    """A new memory that a model says replaces an older one, each by its text."""

    new: str
    old: str


class StoreCall:
    """One call to mem0, made on `loop`; its threads come back to that loop for our models, which belong to it.

    Attributes:
        model: extracts memories; None where there is none.
        usage: what the model has cost so far.
        replacements: what the model said replaces what.
        problem: what our own store could not do, where mem0 keeps the reason to itself.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, model: ChatModelBase | None = None) -> None:
        self.model = model
        self.usage: Usage | None = None
        self.replacements: list[Replacement] = []
        self.problem: Exception | None = None
        self._loop = loop
        self._waiting: set[Future[Any]] = set()
        self._over = threading.Event()
        self._lock = threading.Lock()

    def ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the caller's loop and wait for it, from another thread.

        Raises:
            StorageError: the loop, or the call, is over already.
            concurrent.futures.CancelledError: the call was given up.
        """
        if self._over.is_set() or not self._loop.is_running():
            coroutine.close()
            raise StorageError(_ENDED)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        with self._lock:
            self._waiting.add(future)
        if self._over.is_set():
            future.cancel()
        try:
            while not wait([future], timeout=_LOOK_AT_LOOP).done:
                # A loop that has ended never answers, and a thread that waits for it would keep the program alive.
                if not self._loop.is_running():
                    raise StorageError(_ENDED)
            return future.result()
        finally:
            with self._lock:
                self._waiting.discard(future)

    def end(self) -> None:
        """Nobody waits for the call any longer: stop what its threads wait for."""
        self._over.set()
        with self._lock:
            waiting = list(self._waiting)
        for future in waiting:
            future.cancel()

    def add_usage(self, usage: Usage | None) -> None:
        """Count what one request to the model has cost."""
        if usage is not None:
            self.usage = (self.usage or Usage()) + usage


def note_problem(error: Exception) -> None:
    """Note on the call that is being served why it is going to fail."""
    call = _current.get()
    if call is not None:
        call.problem = error


def current_store_call() -> StoreCall:
    """The call that is being served.

    Raises:
        StorageError: mem0 was called past us, so nobody said which loop our models belong to.
    """
    call = _current.get()
    if call is None:
        raise StorageError("A mem0 client that Mem0Middleware has made can only be used through it.")
    return call


@contextmanager
def serving_store_call(call: StoreCall) -> Iterator[StoreCall]:
    """Make `call` the current one; what is started inside, on whatever loop or thread, sees it."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)
        call.end()
