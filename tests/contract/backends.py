"""The back ends that the contract runs against: each gives fresh, empty memories of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memory import InMemoryMemory, MemoryBase

MakeMemory = Callable[..., Awaitable[MemoryBase]]


@pytest.fixture(params=["in_memory"])
def make_memory(request: pytest.FixtureRequest) -> MakeMemory:
    """A function that makes a memory of the back end under test."""

    async def make(**options: Any) -> MemoryBase:
        return InMemoryMemory(**options)

    return make


@pytest.fixture
async def memory(make_memory: MakeMemory) -> MemoryBase:
    """One empty memory."""
    return await make_memory()
