"""The app around a real agent, small enough for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agent_core.agent import Agent
from agent_core.model.base import ChatModelBase
from agent_core.model.scripted_model import ScriptedChatModel, Turn
from agent_core.tool.base import ToolBase, Toolkit
from tui.app import MnemoscopeApp


@dataclass
class Session:
    id: str


class SmallRuntime:
    """A runtime without files, but for the ones that a test asks for."""

    def __init__(self, *turns: Turn, folder: Path, tools: list[ToolBase] | None = None, **options: Any) -> None:
        self.model: ChatModelBase = options.pop("model", None) or ScriptedChatModel(turns)
        self._make = lambda: Agent("assistant", "You help.", self.model, Toolkit(tools or []), **options)
        self.agent = self._make()
        self.session = Session("1")
        self.history_path: Path | None = folder / "history.jsonl"
        self.log_path = folder / "log"
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

    async def aclose(self) -> None:
        pass


def make_app(runtime: SmallRuntime) -> MnemoscopeApp:
    app = MnemoscopeApp(runtime)
    app.animation_level = "none"
    return app


def screen_text(app: MnemoscopeApp) -> str:
    """What is on the screen, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


async def until(pilot: Pilot[None], condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Let the app run until something is so."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause()


async def see(pilot: Pilot[None], text: str) -> str:
    """Wait until `text` is on the screen, and return all of it."""
    app = pilot.app
    assert isinstance(app, MnemoscopeApp)
    try:
        await until(pilot, lambda: text in screen_text(app))
    except TimeoutError:
        raise AssertionError(f"{text!r} did not come up:\n{screen_text(app)}") from None
    return screen_text(app)


async def write(pilot: Pilot[None], text: str) -> None:
    """Type a text, key by key, and press Enter."""
    await pilot.press(*(_KEYS.get(character, character) for character in text), "enter")


_KEYS = {" ": "space", "/": "slash", "\n": "ctrl+j", "!": "exclamation_mark", "-": "minus", "_": "underscore"}
