"""How one message, or another part, fared in every prompt that was sent, with runs of the same verdict joined."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.event import PromptPart
from agent_core.prompt_ledger import PromptHistory
from tui.views.moments import clock

_LABEL_WIDTH = 14


class Run(NamedTuple):
    """Prompts `first` to `last`, counted from 1, in which a part fared the same; `verdict` says how."""

    first: int
    last: int
    verdict: str


def verdict(included: bool, reason: str) -> str:
    """Whether something is sent, and why (not)."""
    word = "✓ sent" if included else "✗ not sent"
    return f"{word}: {reason}" if reason else word


def prompt_runs(history: PromptHistory, key: str) -> list[Run]:
    """How the part of this key fared in all prompts, in order, without gaps."""
    if not history.prompts:
        return []
    changes = [(one.since, _verdict(one.part)) for one in history.story_of(key)]
    if not changes or changes[0][0] > 0:
        changes.insert(0, (0, "not there yet"))
    # Of two changes in one prompt, as when a part is replaced, the later one holds.
    by_start = dict(changes)
    starts = [start for start in by_start if start == 0 or by_start[start] != _before(by_start, start)]
    ends = [*starts[1:], len(history.prompts)]
    return [Run(start + 1, end, by_start[start]) for start, end in zip(starts, ends, strict=True)]


def story_lines(history: PromptHistory, key: str, next_verdict: str) -> list[str]:
    """The story for people, one line a run with the time at which it began; the next prompt stands last."""
    lines = [
        f"{_label(run):<{_LABEL_WIDTH}}{clock(history.prompts[run.first - 1].at)}  {run.verdict}"
        for run in prompt_runs(history, key)
    ]
    lines += _changes_by_middlewares(history, key)
    return [*lines, f"{'next':<{_LABEL_WIDTH}}{'':8}  {next_verdict}"]


def _changes_by_middlewares(history: PromptHistory, key: str) -> list[str]:
    """What middlewares made of it on its way out, where they did: `changed by Scrubber`."""
    story = history.story_of(f"middleware:{key}")
    ends = [*(one.since for one in story[1:]), *([len(history.prompts)] if story else [])]
    return [
        f"{_label(Run(one.since + 1, end, '')):<{_LABEL_WIDTH}}{'':8}  {one.part.label}"
        for one, end in zip(story, ends, strict=True)
        if one.part is not None
    ]


def _verdict(part: PromptPart | None) -> str:
    return "not part of it" if part is None else verdict(part.included, part.reason)


def _before(by_start: dict[int, str], start: int) -> str:
    return by_start[max(other for other in by_start if other < start)]


def _label(run: Run) -> str:
    return f"prompt {run.first}" if run.first == run.last else f"prompts {run.first}–{run.last}"
