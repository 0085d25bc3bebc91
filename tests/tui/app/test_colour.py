"""Colours, and doing without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent_core.agents import Broken, Echo, use
from tests.tui.app.harness import Driver, SmallRuntime, driving


def colours(driver: Driver) -> set[str]:
    strips = driver.app.screen._compositor.render_strips()
    return {str(segment.style.color) for strip in strips for segment in strip if segment.style and segment.style.color}


async def test_no_color_set_later_for_other_programs_changes_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T26."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with driving(SmallRuntime("**Hello**", folder=tmp_path)) as driver:
        monkeypatch.setenv("NO_COLOR", "1")
        await driver.say("hi")
        await driver.see("Hello")
        assert len(colours(driver)) > 3


async def test_every_state_can_be_read_without_colour(tmp_path: Path) -> None:
    script = [[use("Echo"), use("Broken", "c2")], "Done."]
    async with driving(SmallRuntime(*script, tools=[Echo(), Broken()], folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("✓ Echo x  done", "✗ Broken x  failed", "❯ hi", "ready")
