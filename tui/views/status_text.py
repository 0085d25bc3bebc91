"""The status line and the working line in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agent_core.event import Usage
from tui.views.figures import estimated, short_count, span
from tui.views.status import StatusView

SEPARATOR = " · "
_IN_MINUTES = 120


class Field(NamedTuple):
    """One field of the status line. Of those that do not fit the highest `rank` goes first; `style` may be empty."""

    text: str
    rank: int
    style: str = ""


class StatusFacts(NamedTuple):
    """What the status line shows beside the view: what the agent is set to."""

    model: str
    endpoint: str
    context_size: int | None
    counts_are_exact: bool
    mode: str
    session: str
    queued: int
    is_unsaved: bool = False
    store_trouble: str = ""


def status_fields(view: StatusView, facts: StatusFacts) -> list[Field]:
    """The fields of the status line, in the order in which they stand."""
    state = "working" if view.is_working else "ready"
    if view.activity == "asking":
        state = "asks you"
    if facts.queued:
        state += f", {facts.queued} queued"
    mode_style = "" if facts.mode == "default" else "$text-warning"
    fields = [
        Field(state, 0, "$text-success" if not view.is_working else "$text-warning"),
        Field("not saved" if facts.is_unsaved else "", 0, "$text-error"),
        Field("memory not stored" if facts.store_trouble else "", 0, "$text-error"),
        Field(facts.model, 1, "bold"),
        Field(facts.endpoint, 5),
        Field(_context(view, facts), 2, _context_style(view, facts)),
        Field(_last_turn(view.last_turn), 6),
        Field(f"mode {facts.mode}", 3, mode_style),
        Field(facts.session, 7),
        Field(facts.store_trouble, 8, "$text-error"),
    ]
    return [field for field in fields if field.text]


def fitting(fields: Sequence[Field], width: int, measure: Callable[[str], int] = len) -> list[Field]:
    """The fields that fit into `width` cells, in the order given; the most important one is always among them."""
    kept = list(fields)
    while len(kept) > 1 and sum(measure(field.text) + len(SEPARATOR) for field in kept) - len(SEPARATOR) > width:
        kept.remove(max(kept, key=lambda field: field.rank))
    return kept


def working_text(view: StatusView, model: str, now: float) -> str:
    """What is being waited for, and how long already; empty when nothing is."""
    if not view.is_working:
        return ""
    what = _ACTIVITIES[view.activity].format(model=model, detail=view.detail)
    seconds = max(0, int(now - view.since))
    waited = f"{seconds} s" if seconds < _IN_MINUTES else span(seconds)
    return f"{what}{SEPARATOR}{waited}" if seconds else what


_ACTIVITIES = {
    "preparing": "preparing the request",
    "waiting": "waiting for {model}",
    "thinking": "{model} thinks",
    "answering": "{model} answers",
    "calling": "{model} writes a call of {detail}",
    "running": "{detail} runs",
    "asking": "{detail} waits for your answer",
    "retrying": "trying again, attempt {detail}",
    "compressing": "summarising {detail}",
}


def _context(view: StatusView, facts: StatusFacts) -> str:
    if view.context_tokens is None:
        return ""
    exact = view.context_is_exact and facts.counts_are_exact
    used = short_count(view.context_tokens) if exact else estimated(view.context_tokens)
    if not facts.context_size:
        return f"context {used}"
    return f"context {used}/{short_count(facts.context_size)} ({_share(view, facts):.0%})"


def _context_style(view: StatusView, facts: StatusFacts) -> str:
    return "$text-error" if _share(view, facts) > 0.8 else ""


def _share(view: StatusView, facts: StatusFacts) -> float:
    return (view.context_tokens or 0) / facts.context_size if facts.context_size else 0.0


def _last_turn(usage: Usage | None) -> str:
    if usage is None:
        return ""
    return f"last turn {short_count(usage.input_tokens)} in, {short_count(usage.output_tokens)} out"
