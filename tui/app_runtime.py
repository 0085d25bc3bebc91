"""What the app asks of the runtime that it shows; `tui.runtime.Runtime` fulfils it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from agent_core.agent import Agent


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
    def session(self) -> SessionInfo:
        """The current session."""

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

    async def aclose(self) -> None:
        """Write everything down and let go of connections."""
