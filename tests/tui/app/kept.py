"""The app around the real runtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memory.working.open import open_memory
from tests.tui.app.harness import Driver, driving
from tui.config import load_settings
from tui.runtime import Runtime


class StartedRuntime(Runtime):
    """Says when it has been started."""

    started: asyncio.Event

    async def start(self) -> None:
        await super().start()
        self.started.set()


@asynccontextmanager
async def keeping(
    url: str | None, resume: str | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Driver]:
    """The app on a session that is kept in the store at `url`, if in any; closed as the program closes it."""
    runtime = StartedRuntime(load_settings({"memory": url}), resume=resume)
    runtime.started = asyncio.Event()
    try:
        await runtime.find_session()
        async with driving(runtime, size) as driver:  # type: ignore[arg-type]
            yield driver
    finally:
        await runtime.aclose()


async def held(url: str, session_id: str, user: str = "default_user") -> list[str]:
    """The texts, with their marks, that the store holds of a session."""
    async with open_memory(url, session_id, user) as store:
        return [" ".join(((msg.get_text_content() or "")[:30], *marks)) for msg, marks in await store.entries()]
