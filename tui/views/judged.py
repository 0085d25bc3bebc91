"""The verdict on every stored message under one filter.

`judge_history` alone decides. It is asked once for each kind of cluster, and what it says of one holds for all of that
kind: that gives what judging all of them would give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from agent_core.history import Verdict, judge_history
from agent_core.marks import Decision, MemoryFilter
from tui.views.clusters import Kind
from tui.views.stored import StoredMessages


class _Standing(NamedTuple):
    """How things stand at one revision of what is stored."""

    revision: int
    had_summary: bool
    decisions: dict[Kind, Sequence[Decision]]
    sent: int
    sent_tokens: int
    reasons: Counter[str]


class Judged:
    """Verdicts on what is stored, which are always those on what is there now.

    Args:
        stored: what is judged.
        memory_filter: the filter under which.
    """

    def __init__(self, stored: StoredMessages, memory_filter: MemoryFilter) -> None:
        self.memory_filter = memory_filter
        self._stored = stored
        self._known = _Standing(-1, False, {}, 0, 0, Counter())

    def verdict(self, position: int) -> Verdict:
        """Whether the message at this position would be sent, and why (not)."""
        kind, place = self._stored.kind_of(position)
        return Verdict(self._stored.entries[position], *self._standing.decisions[kind][place])

    @property
    def sent(self) -> int:
        """How many messages would be sent."""
        return self._standing.sent

    @property
    def sent_tokens(self) -> int:
        """An estimate of what these cost."""
        return self._standing.sent_tokens

    @property
    def reasons(self) -> Counter[str]:
        """Why the others would not be sent, and how many each reason concerns."""
        return self._standing.reasons

    @property
    def _standing(self) -> _Standing:
        if self._known.revision != self._stored.revision:
            self._known = self._judge()
        return self._known

    def _judge(self) -> _Standing:
        has_summary = bool(self._stored.summary)
        known = self._known.decisions if has_summary == self._known.had_summary else {}
        decisions = {kind: known.get(kind) or self._decide(kind) for kind in self._stored.kinds}
        sent = tokens = 0
        reasons: Counter[str] = Counter()
        for kind, its_decisions in decisions.items():
            for decision, its_tokens in zip(its_decisions, kind.tokens, strict=True):
                if decision.included:
                    sent, tokens = sent + kind.count, tokens + its_tokens
                else:
                    reasons[decision.reason] += kind.count
        return _Standing(self._stored.revision, has_summary, decisions, sent, tokens, reasons)

    def _decide(self, kind: Kind) -> Sequence[Decision]:
        traits = zip(kind.sample, kind.traits, strict=True)
        running = {entry.msg.id for entry, trait in traits if trait.is_running}
        summary = bool(self._stored.summary)
        verdicts = judge_history(kind.sample, self.memory_filter, running=running, has_summary=summary)
        return [Decision(included, reason) for _, included, reason in verdicts]
