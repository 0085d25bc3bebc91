"""The verdict on every stored message under one filter, kept up to date change by change.

`judge_history` alone decides. A verdict depends on the message and on those that it is linked to: a result on its call,
a message on a newer one that replaces it. So after a change only these are judged anew, which gives what judging all
of them would give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from agent_core.history import Verdict, judge_history
from agent_core.marks import Entry, MemoryFilter
from agent_core.tokens import estimate_message_tokens
from tui.views.stored import StoredMessages


class Judged:
    """Verdicts on `stored`, one for each entry.

    Attributes:
        memory_filter: the filter that they are made under.
        verdicts: in the order of the entries.
        sent: how many messages would be sent.
        sent_tokens: an estimate of what these cost.
        reasons: why the others would not be sent, and how many each reason concerns.
    """

    def __init__(self, stored: StoredMessages, memory_filter: MemoryFilter, running: Collection[str] = ()) -> None:
        self.memory_filter = memory_filter
        self._stored = stored
        self.judge_all(running)

    def judge_all(self, running: Collection[str]) -> None:
        """Judge every entry, `running` being the ids of the running reply's messages."""
        self.verdicts: list[Verdict] = self._judge(self._stored.entries, running)
        sent = [verdict.entry.msg for verdict in self.verdicts if verdict.included]
        self.sent, self.sent_tokens = len(sent), sum(map(estimate_message_tokens, sent))
        self.reasons = Counter(verdict.reason for verdict in self.verdicts if not verdict.included)

    def judge_again(self, places: Iterable[int], running: Collection[str]) -> None:
        """Judge the entries at these places and all new ones at the end, and whatever they are linked to."""
        known = len(self.verdicts)
        linked = self._stored.linked([*places, *range(known, len(self._stored.entries))])
        entries = [self._stored.entries[place] for place in linked]
        for place, verdict in zip(linked, self._judge(entries, running), strict=True):
            if place < known:
                self._count(self.verdicts[place], -1)
                self.verdicts[place] = verdict
            else:
                self.verdicts.append(verdict)
            self._count(verdict, 1)

    def _judge(self, entries: Sequence[Entry], running: Collection[str]) -> list[Verdict]:
        return judge_history(entries, self.memory_filter, running=running, has_summary=bool(self._stored.summary))

    def _count(self, verdict: Verdict, sign: int) -> None:
        if verdict.included:
            self.sent += sign
            self.sent_tokens += sign * estimate_message_tokens(verdict.entry.msg)
        else:
            self.reasons[verdict.reason] += sign
            if not self.reasons[verdict.reason]:
                del self.reasons[verdict.reason]
