"""`/grace` and `/carry`: what they change, live."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core.event import RetrievalStarted
from memory import AgenticMemoryMiddleware
from tests.tui.app.harness import SmallRuntime, driving


def runtime(folder: Path, *turns: str) -> SmallRuntime:
    return SmallRuntime(*turns, folder=folder, middlewares=[AgenticMemoryMiddleware(folder)])


async def test_the_grace_period_holds_from_the_next_reply_on_and_the_hints_pane_shows_it(tmp_path: Path) -> None:
    app = runtime(tmp_path, "One.", "Two.")
    async with driving(app, (120, 40)) as driver:
        await driver.say("/grace")
        await driver.told("An answer waits for nothing that is recalled.")
        await driver.say("hi")
        await driver.see("One.")
        await driver.say("/grace 1.5s")
        await driver.told("An answer waits 1.5 s at most for what is recalled, from the next reply on.")
        await driver.say("again")
        await driver.see("Two.")
        await driver.rest()
        assert [event.patience for event in driver.agent.trace.of(RetrievalStarted)] == [0.0, 1.5]
        await driver.press("f6")
        await driver.see("2 replies · grace 1.5 s · carry on")


async def test_carrying_over_can_be_switched_off_and_on(tmp_path: Path) -> None:
    app = runtime(tmp_path)
    async with driving(app, (120, 40)) as driver:
        await driver.say("/carry off")
        await driver.told("What is recalled too late is left out, as late.")
        assert not app.memory.parameters.retrieval_carry_over
        await driver.press("f6")
        await driver.see("grace none · carry off")
        await driver.say("/carry on")
        await driver.see("grace none · carry on")
        assert app.memory.parameters.retrieval_carry_over


@pytest.mark.parametrize("said", ["/grace -1", "/grace soon", "/grace nan", "/grace inf", "/grace 1 2"])
async def test_what_is_no_number_of_seconds_changes_nothing(tmp_path: Path, said: str) -> None:
    app = runtime(tmp_path)
    async with driving(app) as driver:
        await driver.say(said)
        await driver.told("/grace takes seconds, such as 2 or 0.5, or 0 for no wait")
        assert app.memory.parameters.retrieval_grace == 0.0


async def test_without_a_memory_folder_it_says_so(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/carry off")
        await driver.told("This agent has no memory folder.")
