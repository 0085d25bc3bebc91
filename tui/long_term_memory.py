"""The facts that mem0 keeps about a user, in the program: made from the settings, switched on, changed and let go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.errors import MnemoscopeError
from agent_core.event import Event
from agent_core.tool import Toolkit
from tui.config import Settings
from tui.config_file import ConfigError

if TYPE_CHECKING:
    from agent_core.embedding import EmbeddingModelBase
    from memory.mem0 import Mem0Middleware, Mode

OFF = "off"

Remaining = Callable[[int], None]
"""Told how many memories are still being written."""


def make_facts(settings: Settings, mode: Mode = "both") -> Mem0Middleware:
    """The memory of the settings' user. Nothing is opened, and mem0 is not imported yet.

    Raises:
        ConfigError: such a user or such a config cannot be, or there is no folder to keep things in.
    """
    from memory.mem0 import Mem0Middleware

    if settings.data_dir is None:
        raise ConfigError("mem0 is off: no home folder is known. Name a folder with --data-dir to keep facts.")
    _checked(settings.user)
    try:
        return Mem0Middleware(
            settings.user,
            mode=mode,
            await_write=False,
            embedding_model=_embedding_model(settings),
            mem0_config=settings.mem0_config or None,
            data_dir=settings.data_dir,
        )
    except (ValueError, TypeError) as error:
        raise ConfigError(f"mem0 is off: {error}.") from error


async def close_facts(facts: Mem0Middleware, seconds: float, progress: Callable[[int, int], None] | None = None) -> int:
    """Let go of a memory that `make_facts` made, and of its embedding model; how many writes are kept for next time."""
    kept = await facts.aclose(seconds, progress)
    recipe = facts.store.recipe
    if recipe is not None and recipe.embedding_model is not None:
        await recipe.embedding_model.aclose()
    return kept


class LongTermMemory:
    """What is used of mem0, by one agent after the other.

    Args:
        settings: the mode and the user to begin with, and where things lie.
        append: puts an event into the trace of the current session.

    Attributes:
        settings: the same, with the mode and the user that are in use now.
        middleware: the memory in use; None while it is off.
    """

    def __init__(self, settings: Settings, append: Callable[[Event], object]) -> None:
        self.settings = settings
        self.middleware: Mem0Middleware | None = None
        self._append = append
        self._tools: set[str] = set()
        self._made: list[Mem0Middleware] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def change(self, agent: Agent, mode: str | None = None, user: str | None = None) -> None:
        """Use it in another mode or for another user from the agent's next reply on; None leaves things as they are.

        Raises:
            ConfigError: such a user cannot be; nothing was changed then.
        """
        user = _checked(user) if user else self.settings.user
        wanted = replace(self.settings, mem0=mode or self.settings.mem0, user=user)
        found = self._found(wanted)
        self.settings, self.middleware = wanted, found
        await self.equip(agent)
        self.start(agent)

    async def equip(self, agent: Agent) -> None:
        """Put the memory in use into an agent, outermost so that the index of files stays last, and its tools too.

        Raises:
            ConfigError: the settings' user cannot be; the agent works without then.
        """
        if self.middleware is None:
            self.middleware = self._found(self.settings)
        current = self.middleware
        others = [one for one in agent.middlewares if one not in self._made]
        agent.middlewares = [*([current] if current else []), *others]
        tools = await current.list_tools() if current else []
        kept = [agent.toolkit.get(name) for name in agent.toolkit.names if name not in self._tools]
        agent.toolkit = Toolkit([*filter(None, kept), *tools])
        self._tools = {tool.name for tool in tools}

    def start(self, agent: Agent) -> None:
        """Open the memory in use in the background; what goes wrong is told in the trace."""
        if self.middleware is not None:
            task = asyncio.create_task(self._open(self.middleware, agent))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator[Mem0Middleware]:
        """The memory of the user, also while it is off; then it is let go of afterwards.

        Raises:
            ConfigError: such a user cannot be.
        """
        made = None if self.middleware is not None else make_facts(self.settings)
        try:
            yield self.middleware or cast("Mem0Middleware", made)
        finally:
            if made is not None:
                await close_facts(made, 0)

    async def finish(self, seconds: float, remaining: Remaining | None = None) -> int:
        """Wait for what is being written, and let go of everything; using it again opens it again.

        Cancelling it gives up: what is not written then is kept for the next start.

        Returns: how many writes were not over and are kept.
        """
        left: dict[Mem0Middleware, int] = {}

        async def one(middleware: Mem0Middleware) -> int:
            def tell(done: int, total: int) -> None:
                left[middleware] = total - done
                if remaining is not None:
                    remaining(sum(left.values()))

            return await close_facts(middleware, seconds, tell)

        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            return sum(await asyncio.gather(*map(one, self._made)))
        except asyncio.CancelledError:
            for middleware in self._made:
                await middleware.aclose(0)
            raise

    def _found(self, settings: Settings) -> Mem0Middleware | None:
        """The memory of a user in a mode: the one that was made already, or a new one."""
        if settings.mem0 == OFF:
            return None
        mode = cast("Mode", settings.mem0)
        middleware = next((one for one in self._made if one.scope.user == _checked(settings.user)), None)
        if middleware is None:
            middleware = make_facts(settings, mode)
            self._made.append(middleware)
        middleware.mode = mode
        return middleware

    async def _open(self, middleware: Mem0Middleware, agent: Agent) -> None:
        try:
            await middleware.start(self._append, agent.model)
        except MnemoscopeError:
            # The trace has told it; the next use tries again.
            pass


def _checked(user: str) -> str:
    """A user's id without blanks around it."""
    from memory.mem0 import Scope

    try:
        return Scope(user).checked().user
    except ValueError as error:
        text = str(error).replace("user_id must", "the id of a user must")
        raise ConfigError(f"mem0 cannot be used: {text}. Choose another one with --user, or /user.") from error


def _embedding_model(settings: Settings) -> EmbeddingModelBase | None:
    """The configured model, or None for the bundled one. A key is sent only to the endpoint that it was set for."""
    if not settings.embedding_model:
        return None
    from agent_core.embedding import OpenAIEmbeddingModel

    key = settings.embedding_api_key.reveal()
    if not key and settings.embedding_base_url in (None, settings.base_url):
        key = settings.api_key.reveal()
    return OpenAIEmbeddingModel(settings.embedding_model, key, settings.embedding_base_url or settings.base_url)
