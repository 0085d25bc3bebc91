"""Saving and finding by the two tools of a memory of facts, where the agent has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_core.model.offline.conversation import Conversation, ToolRun
from agent_core.model.offline.facts import Fact
from agent_core.model.offline.memory_text import Memory, memory_in_file, one_line
from agent_core.model.offline.phrases import say
from agent_core.model.offline.steps import Call, Step
from agent_core.text import shorten

ADD, SEARCH = "add_memory", "search_memory"

_SOURCE = "long-term memory"
_QUESTION_LENGTH = 300
_QUOTED = 300
_MOST = 12
_SCORE = re.compile(r" \[score -?[\d.]+\]$", re.MULTILINE)
_OUTCOMES = {"Stored": "kept", "Known already": "kept_before", "Marked as replaced": "kept_instead"}


def add_run(conversation: Conversation) -> ToolRun | None:
    """What became of the facts that were handed to the tool; None when none were yet."""
    return next((run for run in reversed(conversation.runs) if run.name == ADD), None)


def keep(conversation: Conversation, facts: Sequence[Fact]) -> Step:
    """Hand the facts to the tool, or say what it has made of them."""
    language, run = conversation.language, add_run(conversation)
    if run is None:
        arguments = {"thinking": say("asked_to_keep", language), "content": [fact.text for fact in facts]}
        return Step(say("saving", language), (Call(ADD, arguments),))
    return Step(_told(conversation, run))


def search(conversation: Conversation) -> tuple[Call, ...]:
    """The search for what the question is about; empty without the tool, or when it was made."""
    if SEARCH not in conversation.tools or search_run(conversation) is not None:
        return ()
    question = shorten(one_line(conversation.text), _QUESTION_LENGTH)
    return (Call(SEARCH, {"keywords": [question], "limit": _MOST}),)


def search_run(conversation: Conversation) -> ToolRun | None:
    """The search that was made for the question; None when there was none."""
    return next((run for run in conversation.runs if run.name == SEARCH), None)


def found(conversation: Conversation) -> list[Memory]:
    """What the search has found."""
    run = search_run(conversation)
    if run is None or not run.succeeded:
        return []
    lines = [line for line in _SCORE.sub("", run.text).split("\n") if line.startswith("- ")]
    return [memory_in_file("\n".join(lines), _SOURCE)] if lines else []


def _told(conversation: Conversation, run: ToolRun) -> str:
    """What the tool says, sorted by what became of each fact; as it is where that cannot be told."""
    language = conversation.language
    sorted_: dict[str, list[str]] = {}
    for line in run.text.split("\n"):
        outcome, _, text = line.partition(": ")
        if outcome in _OUTCOMES and text:
            sorted_.setdefault(outcome, []).append(f"- {shorten(one_line(text), _QUOTED)}")
    paragraphs = ["\n".join([say(_OUTCOMES[outcome], language), *quotes]) for outcome, quotes in sorted_.items()]
    return "\n\n".join(paragraphs) or run.text.split("\n", 1)[0]
