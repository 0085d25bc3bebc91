"""Two filters side by side, to be read: what both let through, what only one does, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from agent_core.filter_comparison import Compared, Comparison, compare_filters, count_tokens
from agent_core.history import judge_history
from agent_core.marks import Decision, Entry, MemoryFilter
from agent_core.tokens import estimate_message_tokens
from tui.mark_syntax import describe_filter, explain_contradiction, format_filter, format_marks
from tui.views.figures import estimated, plural
from tui.views.message_details import Section
from tui.views.message_text import preview, speaker


class Effect(NamedTuple):
    """What one filter does: messages that pass it, and those that would be sent, with their tokens.

    The summary, calls without results and what is replaced have a say in what is sent, and none in what passes.
    """

    memory_filter: MemoryFilter
    passing: int
    passing_tokens: int
    sent: int
    sent_tokens: int


class SideBySide(NamedTuple):
    """Two filters over the same messages."""

    comparison: Comparison
    first: Effect
    second: Effect


def put_side_by_side(
    entries: Sequence[Entry], first: MemoryFilter, second: MemoryFilter, *, has_summary: bool
) -> SideBySide:
    """Put all messages under both filters."""
    compared = compare_filters(entries, first, second)
    passes_first, passes_second = compared.both + compared.only_first, compared.both + compared.only_second
    return SideBySide(
        compared,
        _effect(entries, first, passes_first, has_summary),
        _effect(entries, second, passes_second, has_summary),
    )


def comparison_sections(beside: SideBySide) -> list[Section]:
    """All of it as sections of a reading screen; the filters are called A and B."""
    groups = beside.comparison
    return [
        Section("", "\n".join([*_filter_lines("A", beside.first), *_filter_lines("B", beside.second)])),
        _group("both let through", groups.both, lambda one: one.first),
        _group("only A lets through", groups.only_first, lambda one: one.second),
        _group("only B lets through", groups.only_second, lambda one: one.first),
        _group("neither lets through", groups.neither, lambda one: one.first),
    ]


def comparison_records(beside: SideBySide) -> Iterator[dict[str, object]]:
    """All of it as JSON values: one for each filter, then one for each message, in order."""
    for name, effect in (("first", beside.first), ("second", beside.second)):
        yield {
            "type": "filter",
            "name": name,
            "filter": format_filter(effect.memory_filter),
            "messages": effect.passing,
            "tokens": effect.passing_tokens,
            "sent_messages": effect.sent,
            "sent_tokens": effect.sent_tokens,
            "contradiction": explain_contradiction(effect.memory_filter),
        }
    for one in sorted(chain(*beside.comparison), key=lambda one: one.number):
        yield {
            "type": "message",
            "number": one.number + 1,
            "id": one.entry.msg.id,
            "role": one.entry.msg.role,
            "name": one.entry.msg.name,
            "marks": one.entry.marks,
            "tokens": estimate_message_tokens(one.entry.msg),
            "text": preview(one.entry.msg),
            "first": {"passes": one.first.included, "reason": one.first.reason},
            "second": {"passes": one.second.included, "reason": one.second.reason},
        }


def _effect(
    entries: Sequence[Entry], memory_filter: MemoryFilter, passing: Sequence[Compared], has_summary: bool
) -> Effect:
    sent = [one.entry.msg for one in judge_history(entries, memory_filter, has_summary=has_summary) if one.included]
    return Effect(
        memory_filter, len(passing), count_tokens(passing), len(sent), sum(map(estimate_message_tokens, sent))
    )


def _filter_lines(name: str, effect: Effect) -> list[str]:
    passes = f"passes {plural(effect.passing, 'message')}, {estimated(effect.passing_tokens)} tokens"
    sends = f"would send {effect.sent}, {estimated(effect.sent_tokens)} tokens"
    lines = [f"{name}  {describe_filter(effect.memory_filter)}", f"   {passes}; {sends}"]
    problem = explain_contradiction(effect.memory_filter)
    return [*lines, f"   {problem}"] if problem else lines


def _group(title: str, group: Sequence[Compared], telling: Callable[[Compared], Decision]) -> Section:
    """A group with its messages; of each the reason is told that one of the filters gives."""
    heading = f"{title}: {plural(len(group), 'message')}, {estimated(count_tokens(group))} tokens"
    return Section(heading, "\n".join(_line(one, telling(one)) for one in group))


def _line(one: Compared, decision: Decision) -> str:
    msg, marks = one.entry
    parts = [f"{one.number + 1:>4} {speaker(msg)}", format_marks(marks), preview(msg)]
    reason = "" if decision.included else f" — {decision.reason}"
    return "  ".join(filter(None, parts)) + reason
