"""The rules that set marks, in words: all of them, and those that speak of one message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_core.mark_rules import MarkRule
from agent_core.marks import Entry
from agent_core.pattern_search import PatternTooSlow
from tui.mark_syntax import format_mark
from tui.views.figures import plural
from tui.views.message_details import Section

_NONE = """\
There are no rules. In the settings file, each of these sets its marks on what is stored from then on:

[[mark_rules]]
marks = ["deadline"]
role = "user"
pattern = '\\b(due|deadline)\\b'

role is user, assistant or system; tool is the name of a tool; pattern is a regular expression.
All that is given must fit."""


def describe_rule(rule: MarkRule) -> str:
    """What a rule asks for: `role user, pattern 'deadline'`; the pattern as it is, with nothing escaped."""
    conditions = (("role", rule.role), ("tool", rule.tool), ("pattern", rule.pattern and f"'{rule.pattern}'"))
    return ", ".join(f"{name} {value}" for name, value in conditions if value)


def rule_sections(
    configured: Sequence[MarkRule], active: Sequence[MarkRule], mark_counts: Mapping[str, int]
) -> list[Section]:
    """All rules to be read.

    Args:
        configured: those of the settings file.
        active: those that the agent goes by; one that took too long is no longer among them.
        mark_counts: how many messages have each mark by now.
    """
    rules = [*configured, *(rule for rule in active if rule not in configured)]
    if not rules:
        return [Section("", _NONE)]
    lines = []
    for rule in rules:
        off = "" if rule in active else "; off: its pattern took too long on a message"
        count = plural(mark_counts.get(rule.mark, 0), "message")
        lines.append(f"{format_mark(rule.mark)}: {describe_rule(rule)}{off}  (the mark is on {count})")
    return [Section("Each sets its mark on what is stored from now on, if all of it fits.", "\n".join(lines))]


def rules_behind(entry: Entry, rules: Sequence[MarkRule]) -> str:
    """The marks of a message that rules set on messages like it, with the rules; empty when there are none."""
    return "; ".join(
        f"{format_mark(rule.mark)} by {describe_rule(rule)}"
        for rule in rules
        if rule.mark in entry.marks and _fits(rule, entry)
    )


def _fits(rule: MarkRule, entry: Entry) -> bool:
    try:
        return rule.fits(entry.msg)
    except PatternTooSlow:
        return False
