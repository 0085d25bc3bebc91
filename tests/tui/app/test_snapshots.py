"""What the screen looks like. After a wanted change: `pytest tests/tui/app/test_snapshots.py --snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.app.story import Storyteller
from tui.app import MnemoscopeApp

SnapCompare = Callable[..., bool]
SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


class Scene:
    """The app at one point of the story."""

    def __init__(self, folder: Path) -> None:
        self.story = Storyteller(folder)
        self.app = MnemoscopeApp(self.story.runtime)

    async def begin(self, pilot: Pilot[None]) -> None:
        await self.story.tell_beginning()

    async def end(self, pilot: Pilot[None]) -> None:
        await pilot.pause()
        while self.app.main.views.dirty:
            await pilot.pause()
        await pilot.pause()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_conversation(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    scene = Scene(tmp_path)

    async def run_before(pilot: Pilot[None]) -> None:
        await scene.begin(pilot)
        await scene.story.tell_end()
        scene.app.main.chat.marks = ("planning", "a,b")
        await scene.end(pilot)

    assert snap_compare(scene.app, terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_question(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    scene = Scene(tmp_path)

    async def run_before(pilot: Pilot[None]) -> None:
        await scene.begin(pilot)
        scene.story.ask()
        await scene.end(pilot)
        # The line with the spinner counts real seconds.
        scene.app.main.query_one("#working").remove()
        await pilot.pause()

    assert snap_compare(scene.app, terminal_size=size, run_before=run_before)


def test_everything_open(snap_compare: SnapCompare, tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    async def run_before(pilot: Pilot[None]) -> None:
        await scene.begin(pilot)
        await scene.story.tell_end()
        await pilot.press("ctrl+o")
        await scene.end(pilot)

    assert snap_compare(scene.app, terminal_size=(100, 60), run_before=run_before)


def test_help(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert snap_compare(MnemoscopeApp(Storyteller(tmp_path).runtime), terminal_size=(80, 24), press=["f1"])
