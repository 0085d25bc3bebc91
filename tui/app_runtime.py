"""What the app asks of the runtime that it shows; `tui.runtime.Runtime` fulfils it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent_core.agent import Agent
from tui.config import Settings

if TYPE_CHECKING:
    from memory.agentic.middleware import AgenticMemoryMiddleware
    from memory.mem0 import Mem0Middleware
    from tui.for_good import ForGood, Gone
    from tui.forgetting import Forgotten
    from tui.prompt_history import PromptHistory
    from tui.unsent import UnsentFile


class SessionInfo(Protocol):
    """The session that is being written."""

    @property
    def id(self) -> str:
        """What `--resume` takes."""

    @property
    def problem(self) -> str:
        """Why it is not being saved; empty when it is."""


class AppRuntime(Protocol):
    """One agent, its session, and how to change them.

    The app is built, and painted, before `start` is called: what is slow to import or to reach belongs there. What
    a person should know goes into the agent's trace as `Noticed`.
    """

    @property
    def agent(self) -> Agent:
        """The agent of the current session. Another one after `new_session`."""

    @property
    def memory(self) -> AgenticMemoryMiddleware | None:
        """The long-term memory in files, the same for all sessions; None where there is none."""

    @property
    def session(self) -> SessionInfo:
        """The current session."""

    @property
    def unsent(self) -> UnsentFile:
        """Keeps what is typed in the current session and not sent."""

    @property
    def settings(self) -> Settings:
        """What is in effect now."""

    @property
    def facts(self) -> Mem0Middleware | None:
        """The long-term memory of facts in use; None while it is off. It may become another one at any time."""

    @property
    def history_path(self) -> Path | None:
        """Where typed prompts are kept, one JSON string a line; None keeps them in this process only."""

    @property
    def log_path(self) -> Path:
        """Where an internal error is written down."""

    async def start(self) -> None:
        """Do what need not be done before the first paint."""

    async def new_session(self) -> None:
        """End the session and begin an empty one, with the same settings."""

    def set_model(self, model: str, base_url: str | None = None) -> None:
        """Have the agent use another model from the next call on; `base_url` None keeps the endpoint.

        Raises:
            MnemoscopeError: such a model cannot be made.
        """

    async def use_facts(self, mode: str | None = None, user: str | None = None) -> None:
        """Use mem0 in another mode, or for another user, from the next reply on; None leaves things as they are.

        Raises:
            MnemoscopeError: such a user cannot be.
        """

    async def finish_writing(self, seconds: float, remaining: Callable[[int], None] | None = None) -> int:
        """Wait for the facts that are being written, so many seconds at most; `remaining` is told how many those are.

        Cancelling it gives up. What is not written then is kept for the next start.
        """

    async def forget(self, history: PromptHistory) -> Forgotten:
        """Forget everything about the user, in every place; a new session begins, also when it fails.

        Raises:
            MnemoscopeError: the facts could not be deleted; nothing else was then.
        """

    def deleting_memory(self, path: str) -> AbstractAsyncContextManager[ForGood]:
        """Get ready to delete a memory for good, by its path from the memory folder.

        Raises:
            MnemoscopeError: it cannot be done, as when another program has a session open that tells of it.
        """

    async def delete_memory(self, deletion: ForGood, history: PromptHistory) -> Gone:
        """Delete it for good; when the session tells of it a new one begins, also when it fails.

        Raises:
            MnemoscopeError: something could not be deleted.
        """

    async def aclose(self) -> None:
        """Write everything down and let go of connections."""
