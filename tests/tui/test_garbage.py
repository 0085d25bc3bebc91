"""When garbage is collected."""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from tui import garbage
from tui.garbage import GarbageCollection


class Ring:
    """Garbage, once nothing else refers to it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def _short_times(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(garbage, "_WARM_UP_SECONDS", 0.0)
    monkeypatch.setattr(garbage, "_SECONDS", 0.001)
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


async def old_garbage() -> "weakref.ref[Ring]":
    """Garbage that Python, left to itself, would look for late."""
    while gc.get_threshold()[2] < 1_000:
        await asyncio.sleep(0.001)
    ring = Ring()
    gc.collect(1)
    return weakref.ref(ring)


async def test_old_garbage_goes_while_nothing_is_going_on():
    GarbageCollection(lambda: False).start()
    ring = await old_garbage()

    async with asyncio.timeout(60):
        while ring() is not None:
            await asyncio.sleep(0.001)


async def test_while_something_goes_on_it_stays_for_some_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "_MOST_POSTPONED", 200)
    asked = 0

    def is_busy() -> bool:
        nonlocal asked
        asked += 1
        return True

    GarbageCollection(is_busy).start()
    ring = await old_garbage()
    begun = asked

    async with asyncio.timeout(60):
        while ring() is not None:
            await asyncio.sleep(0.001)

    assert asked - begun > 100
