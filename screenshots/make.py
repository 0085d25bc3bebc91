"""Takes the pictures in this folder from the running program: `make screenshots`.

The story is that of the README: tell it something, allow it, leave, start again, ask.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from agent_core.event import PermissionAnswered, PermissionAsked, ReplyEnded
from tests.services import find
from tui.app import MnemoscopeApp
from tui.config import Settings
from tui.runtime import Runtime

FOLDER = Path(__file__).parent
COLUMNS, ROWS = 172, 40
TOLD = "remember that I live in Hangzhou and like short answers"
ASKED = "where do I live?"
Story = Callable[[Pilot[None], Runtime], Awaitable[None]]


async def main() -> None:
    """Play the story in two runs of the program, with a workdir of their own."""
    home = Path(tempfile.gettempdir()) / "mnemoscope-demo"
    shutil.rmtree(home, ignore_errors=True)
    settings = Settings(data_dir=home, workdir=home / "workdir")
    try:
        await play(settings, tell)
        await play(settings, ask)
    finally:
        shutil.rmtree(home, ignore_errors=True)


async def play(settings: Settings, story: Story) -> None:
    """Run the program from its start to its end, with a part of the story in between."""
    runtime = Runtime(settings)
    app = MnemoscopeApp(runtime)
    try:
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            await story(pilot, runtime)
    finally:
        await runtime.aclose()


async def tell(pilot: Pilot[None], runtime: Runtime) -> None:
    """Say it, look at the first change, allow all."""
    trace = runtime.agent.trace
    await say(pilot, TOLD)
    await until(pilot, lambda: bool(trace.of(PermissionAsked)))
    save(pilot.app, "approval")
    for count in itertools.count(1):
        await until(pilot, lambda count=count: bool(trace.of(ReplyEnded)) or len(trace.of(PermissionAsked)) >= count)
        if trace.of(ReplyEnded):
            return
        await pilot.click("ApprovalPanel _Choice")
        await until(pilot, lambda count=count: len(trace.of(PermissionAnswered)) >= count)


async def ask(pilot: Pilot[None], runtime: Runtime) -> None:
    """Ask, and take the picture when the answer is there."""
    await say(pilot, ASKED)
    await until(pilot, lambda: bool(runtime.agent.trace.of(ReplyEnded)))
    save(pilot.app, "first-run")


async def say(pilot: Pilot[None], text: str) -> None:
    """Type a text and send it."""
    await pilot.press(*("space" if letter == " " else letter for letter in text), "enter")


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for something to happen, and for it to be on the screen."""
    while not condition():
        await pilot.pause(0.05)
    await pilot.pause(0.5)


def save(app: App[None], name: str) -> None:
    """Write a picture as SVG, and as PNG where there is a Chromium."""
    svg, png = FOLDER / f"{name}.svg", FOLDER / f"{name}.png"
    svg.write_text(app.export_screenshot(title="mnemoscope"), encoding="utf-8")
    print(f"made {svg.name}")
    if chromium := find("chromium"):
        to_png(chromium, svg, png)
        print(f"made {png.name}")


def to_png(chromium: str, svg: Path, png: Path) -> None:
    """Have Chromium draw an SVG file."""
    size = svg.read_text(encoding="utf-8").partition('viewBox="0 0 ')[2].partition('"')[0].split()
    width, height = (round(float(number)) for number in size)
    with tempfile.TemporaryDirectory(prefix="mnemoscope-chromium-") as profile:
        page = Path(profile) / "page.html"
        page.write_text(f'<body style="margin:0"><img src="{svg.as_uri()}" width="{width}" height="{height}"></body>')
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        options += [f"--window-size={width},{height}", f"--screenshot={png}"]
        subprocess.run([chromium, *options, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    asyncio.run(main())
