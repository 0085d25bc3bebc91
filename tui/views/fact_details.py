"""Memories of facts in words: one of them whole or in a line, what has happened to it, how many there are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_core.text import shorten
from tui.views.figures import plural
from tui.views.message_details import Section
from tui.views.moments import moment

if TYPE_CHECKING:
    from memory.mem0.answers import Fact
    from memory.mem0.facts import Change

_QUOTED = 60
_ID_LENGTH = 8


def fact_sections(fact: Fact, listed: Iterable[Fact]) -> list[Section]:
    """A memory with all that its store tells of it.

    Args:
        fact: the memory.
        listed: all memories that are shown, among which the one may be that has replaced it.
    """
    known = [
        ("id", fact.id or "the store does not say"),
        ("created", _moment(fact.created)),
        ("updated", _moment(fact.updated)),
        ("score", "" if fact.score is None else f"{fact.score:.3f}"),
        ("found for", fact.why),
        ("user", fact.user),
        ("agent", fact.agent),
        ("replaced", _moment(fact.superseded) if fact.superseded_by else ""),
        ("replaced by", _name(fact.superseded_by, listed)),
        ("metadata", json.dumps(fact.extra, ensure_ascii=False, default=str) if fact.extra else ""),
    ]
    return [
        Section("", "\n".join(f"{name:<12}{value}" for name, value in known if value)),
        Section("text", fact.text),
    ]


def fact_line(fact: Fact) -> str:
    """The same in one line, as far as it fits: why it was found, when it was said, what it is called."""
    replaced = "replaced by a newer one" if fact.superseded_by else ""
    parts = [fact.why, replaced, _moment(fact.said_at), fact.agent, fact.id[:_ID_LENGTH]]
    return " · ".join(filter(None, parts))


def listing_line(found: Sequence[Fact], query: str, took: str) -> str:
    """How many memories are shown, and in which order.

    Args:
        found: the memories.
        query: what was searched for; empty when all are shown.
        took: how long the search took, in words.
    """
    if query:
        return f"{quoted(query)}: {len(found)} found in {took}, best first (esc: all)"
    if not found:
        return "no memories yet (n adds one)"
    replaced = sum(bool(fact.superseded_by) for fact in found)
    count = plural(len(found), "memory", "memories")
    return f"{count}, newest first{f', {replaced} replaced' if replaced else ''}"


def quoted(text: str) -> str:
    """A text in one line and in quotes, cut when it is long."""
    return f"“{shorten(' '.join(text.split()), _QUOTED)}”"


def history_sections(changes: Sequence[Change]) -> list[Section]:
    """What has happened to a memory, oldest first."""
    if not changes:
        return [Section("", "The store has written down nothing of this memory.")]
    return [Section(f"{_moment(change.at)} {change.event}".strip(), _said(change)) for change in changes]


def _said(change: Change) -> str:
    if change.before and change.after and change.before != change.after:
        return f"before: {change.before}\nafter:  {change.after}"
    return change.after or change.before


def _moment(at: float | None) -> str:
    return "" if at is None else moment(at)


def _name(memory_id: str, listed: Iterable[Fact]) -> str:
    newer = next((fact for fact in listed if memory_id and fact.id == memory_id), None)
    return memory_id if newer is None else f"{newer.text} ({memory_id})"
