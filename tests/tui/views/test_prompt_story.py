"""Why something is, or is not, in each prompt that was sent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.event import PromptPart, PromptSent
from agent_core.marks import MemoryFilter
from agent_core.prompt_ledger import PromptHistory, PromptLedger
from tests.tui.views.events import agent_with
from tui.views.content import ContentView
from tui.views.prompt_story import Run, prompt_runs, story_lines, verdict

State = tuple[bool, str, int] | None
IN = (True, "", 1)
OUT = (False, "filtered out by mark x", 1)


def history_of(states: Sequence[State]) -> PromptHistory:
    """Prompts in which the part `a` fared so, as the agent records them: differences only."""
    history, ledger = PromptHistory(), PromptLedger()
    for state in states:
        parts = [PromptPart("message", "other", "user", 1)]
        if state is not None:
            included, reason, tokens = state
            parts.append(PromptPart("message", "a", "user", tokens, included, reason))
        changed, removed = ledger.difference(parts)
        event = PromptSent(round=1, model="m", parts=changed, removed=removed)
        ledger.apply(event)
        history.apply(event)
    return history


@pytest.mark.parametrize(
    ("states", "runs"),
    [
        ([], []),
        ([None, None], [Run(1, 2, "not there yet")]),
        ([IN], [Run(1, 1, "✓ sent")]),
        ([IN, IN, IN, OUT], [Run(1, 3, "✓ sent"), Run(4, 4, "✗ not sent: filtered out by mark x")]),
        ([None, IN, None], [Run(1, 1, "not there yet"), Run(2, 2, "✓ sent"), Run(3, 3, "not part of it")]),
        # What it costs may change without any change in the verdict.
        ([(True, "", 1), (True, "", 9), (True, "", 9)], [Run(1, 3, "✓ sent")]),
        ([OUT, IN, OUT], [Run(1, 1, verdict(*OUT[:2])), Run(2, 2, "✓ sent"), Run(3, 3, verdict(*OUT[:2]))]),
    ],
)
def test_runs_of_the_same_verdict_are_joined(states: list[State], runs: list[Run]) -> None:
    assert prompt_runs(history_of(states), "a") == runs


@given(st.lists(st.none() | st.tuples(st.booleans(), st.sampled_from(["", "x", "y"]), st.integers(1, 2))))
def test_the_runs_say_of_every_prompt_what_was_so(states: list[State]) -> None:
    runs = prompt_runs(history_of(states), "a")
    said = [run.verdict for run in runs for _ in range(run.first, run.last + 1)]
    assert len(said) == len(states)
    assert all(one.verdict != other.verdict for one, other in pairwise(runs))
    for state, words in zip(states, said, strict=True):
        if state is None:
            assert words in ("not there yet", "not part of it")
        else:
            assert words == verdict(*state[:2])


async def test_the_story_of_a_message_over_real_prompts() -> None:
    """Sent as part of its own reply, then as history, then filtered out, and back again."""
    agent, view = agent_with("1", "2", "3", "4"), ContentView()
    agent.trace.subscribe(view.apply)
    await agent.reply("first", marks="draft")
    await agent.reply("second")
    agent.memory_filter = MemoryFilter(exclude_mark="draft")
    await agent.reply("third")
    agent.memory_filter = MemoryFilter()
    await agent.reply("fourth")
    lines = story_lines(view.prompts, view.stored.entries[0].msg.id, "✓ sent")
    assert [(line[:14].strip(), line[24:]) for line in lines] == [
        ("prompt 1", "✓ sent: belongs to the running reply"),
        ("prompt 2", "✓ sent"),
        ("prompt 3", "✗ not sent: filtered out by mark draft"),
        ("prompt 4", "✓ sent"),
        ("next", "✓ sent"),
    ]
    late = story_lines(view.prompts, view.stored.entries[-1].msg.id, "✓ sent")
    assert [line[24:] for line in late] == ["not there yet", "✓ sent"]


def test_what_a_middleware_made_of_a_message_is_told() -> None:
    history = PromptHistory()
    parts = (
        PromptPart("message", "a", "user", 1),
        PromptPart("middleware", "middleware:a", "changed by Scrubber", 1, reason="changed", text="…"),
    )
    history.apply(PromptSent(round=1, model="m", parts=parts))
    history.apply(PromptSent(round=2, model="m", removed=("middleware:a",)))
    lines = story_lines(history, "a", "✓ sent")
    assert [line.split()[-3:] for line in lines][1] == ["changed", "by", "Scrubber"]
    assert lines[1].startswith("prompt 1 ")
