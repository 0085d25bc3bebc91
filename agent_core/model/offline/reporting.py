"""Telling what was saved, what was known already, and what was not saved and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_core.model.offline.conversation import Conversation
from agent_core.model.offline.facts import Fact
from agent_core.model.offline.memory_text import one_line
from agent_core.model.offline.phrases import say
from agent_core.model.offline.progress import Progress
from agent_core.model.offline.reason import reason
from agent_core.model.offline.steps import EDIT, WRITE
from agent_core.model.offline.topic import Topic
from agent_core.text import shorten

_QUOTED = 300
"""Characters of a fact that are said again."""


def report(conversation: Conversation, progress: Sequence[Progress]) -> str:
    """What became of the facts, when nothing is left to do."""
    language = conversation.language
    paragraphs = []
    if saved := [one.topic for one in progress if one.is_saved]:
        paragraphs.append("\n".join([say("saved", language), *_quotes(saved), "", _where(conversation, saved)]))
    if known := [one.topic for one in progress if one.is_known]:
        files = _files(conversation, known)
        paragraphs.append("\n".join([say("known", language, files=files), *_quotes(known)]))
    failed = [one for one in progress if one.problem]
    return "\n\n".join([*paragraphs, *(not_written(conversation, one.topic.facts, one.problem) for one in failed)])


def not_saved(conversation: Conversation, facts: Iterable[Fact], problem: str) -> str:
    """That facts are not saved anywhere, and why."""
    return _refused("not_saved", conversation, facts, problem)


def not_written(conversation: Conversation, facts: Iterable[Fact], problem: str) -> str:
    """That facts are in no memory file, and why."""
    return _refused("not_written", conversation, facts, problem)


def _refused(phrase: str, conversation: Conversation, facts: Iterable[Fact], problem: str) -> str:
    language = conversation.language
    why = say("because", language, reason=problem)
    return "\n".join([say(phrase, language), *map(_quote, facts), "", why])


def _where(conversation: Conversation, saved: Sequence[Topic]) -> str:
    language = conversation.language
    files, folder = _files(conversation, saved), f"`{conversation.folder}`"
    index = conversation.index_path
    runs = [*conversation.runs_on(EDIT, index), *conversation.runs_on(WRITE, index)]
    failed = next((run for run in runs if not run.succeeded), None)
    if failed is None:
        return say("saved_where", language, files=files, folder=folder)
    return say("saved_unlisted", language, files=files, folder=folder, reason=reason(conversation, failed))


def _quotes(topics: Iterable[Topic]) -> list[str]:
    return [_quote(fact) for topic in topics for fact in topic.facts]


def _quote(fact: Fact) -> str:
    return f"- {shorten(one_line(fact.text), _QUOTED)}"


def _files(conversation: Conversation, topics: Iterable[Topic]) -> str:
    return say("comma", conversation.language).join(f"`{topic.file}`" for topic in topics)
