"""The back ends that the contract runs against: each gives fresh, empty memories of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory import InMemoryMemory, MemoryBase
from memory.working.open import open_memory
from tests.databases import postgresql_url, redis_url

MakeMemory = Callable[..., Awaitable[MemoryBase]]
STORES = ["sqlite", "postgresql", "redis"]


def store_url(name: str, folder: Path) -> str:
    """Where a store of this kind is, or will be."""
    if name == "sqlite":
        return f"sqlite:///{folder / 'memory.db'}"
    return postgresql_url() if name == "postgresql" else redis_url()


@pytest.fixture(params=["in_memory", *STORES])
async def make_memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MakeMemory]:
    """A function that makes a memory of the back end under test."""
    user, sessions = uuid4().hex, count()
    async with AsyncExitStack() as opened:

        async def make(**options: Any) -> MemoryBase:
            if request.param == "in_memory":
                return InMemoryMemory(**options)
            memory = open_memory(store_url(request.param, tmp_path), f"session {next(sessions)}", user)
            return await opened.enter_async_context(memory)

        yield make


@pytest.fixture
async def memory(make_memory: MakeMemory) -> MemoryBase:
    """One empty memory."""
    return await make_memory()
