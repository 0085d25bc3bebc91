"""The app around a real agent, small enough for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from textual.events import Paste
from textual.pilot import Pilot

from agent_core.agent import Agent
from agent_core.message import Msg
from agent_core.model.base import ChatModelBase
from agent_core.model.scripted_model import ScriptedChatModel, Turn
from agent_core.tool.base import ToolBase, Toolkit
from memory import AgenticMemoryMiddleware
from memory.mem0 import Mem0Middleware, Purged
from tui.app import MnemoscopeApp
from tui.config import Settings
from tui.forgetting import Forgotten
from tui.prompt_history import PromptHistory
from tui.screens.main import MainScreen
from tui.unsent import UnsentFile
from tui.widgets.prompt_input import PromptInput

_BETWEEN_LOOKS = 0.02
"""Seconds."""


@dataclass
class Session:
    id: str
    problem: str = ""


class SmallRuntime:
    """A runtime without files, but for the ones that a test asks for."""

    def __init__(self, *turns: Turn, folder: Path, tools: list[ToolBase] | None = None, **options: Any) -> None:
        self.model: ChatModelBase = options.pop("model", None) or ScriptedChatModel(turns)
        self._make = lambda: Agent("assistant", "You help.", self.model, Toolkit(tools or []), **options)
        self.agent = self._make()
        self.memory = next((one for one in self.agent.middlewares if isinstance(one, AgenticMemoryMiddleware)), None)
        self.session = Session("1")
        self.unsent = UnsentFile()
        self.settings = Settings()
        self.facts: Mem0Middleware | None = None
        self.history_path: Path | None = folder / "history.jsonl"
        self.log_path = folder / "mnemoscope.log"
        self.started = asyncio.Event()

    async def start(self) -> None:
        await self.agent.start()
        self.started.set()

    async def new_session(self) -> None:
        self.agent = self._make()
        self.session = Session(f"{int(self.session.id) + 1}")
        await self.agent.start()

    def set_model(self, model: str, base_url: str | None = None) -> None:
        self.model = self.agent.model = ScriptedChatModel(["Another model speaks."], model=model)
        self.model.endpoint = base_url or "this machine"

    async def use_facts(self, mode: str | None = None, user: str | None = None) -> None:
        self.settings = replace(self.settings, mem0=mode or self.settings.mem0, user=user or self.settings.user)

    async def forget(self, history: PromptHistory) -> Forgotten:
        await self.new_session()
        return Forgotten(user=self.settings.user, facts=Purged(memories=3))

    async def finish_writing(self, seconds: float, remaining: Callable[[int], None] | None = None) -> int:
        return 0

    async def aclose(self) -> None:
        pass


class Driver:
    """Types, presses keys and reads what is on the screen."""

    def __init__(self, app: MnemoscopeApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> MainScreen:
        return self.app.main

    @property
    def agent(self) -> Agent:
        return self.main.agent

    @property
    def prompt(self) -> PromptInput:
        return self.main.chat.prompt.input

    @property
    def screen(self) -> str:
        """What is on the screen, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def say(self, text: str) -> None:
        """Put a text into the prompt and press Enter."""
        self.prompt.focus()
        await self.paste(text)
        await self.press("enter")

    async def paste(self, text: str) -> None:
        """Paste, as a terminal does."""
        self.app.post_message(Paste(text))
        await self.pilot.pause()

    async def pause(self) -> None:
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Let the app run until something is so."""
        async with asyncio.timeout(seconds):
            while not condition():
                await self.pilot.pause(_BETWEEN_LOOKS)

    async def see(self, *texts: str) -> str:
        """Wait until all of `texts` are on the screen, and return what is there."""
        try:
            await self.until(lambda: all(text in self.screen for text in texts))
        except TimeoutError:
            missing = [text for text in texts if text not in self.screen]
            raise AssertionError(f"{missing} did not come up:\n{self.screen}") from None
        return self.screen

    async def told(self, text: str) -> None:
        """Wait until a message with this text is shown for a while."""
        await self.until(lambda: any(text in notification.message for notification in self.app._notifications))

    async def rest(self) -> None:
        """Wait until nothing runs and all is drawn."""
        await self.until(lambda: not self.main.chat.is_working and not self.main.views.dirty)
        await self.pilot.pause()

    async def messages(self) -> list[Msg]:
        return [msg for msg, _ in await self.agent.memory.entries()]


@asynccontextmanager
async def driving(runtime: SmallRuntime, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Driver]:
    """The app on a screen of that size, started."""
    app = MnemoscopeApp(runtime)
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.until(runtime.started.is_set)
        await driver.pause()
        yield driver
