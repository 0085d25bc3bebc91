"""How far the saving of one topic is, told from the calls made so far."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from agent_core.model.offline.conversation import Conversation, ToolRun
from agent_core.model.offline.facts import Fact
from agent_core.model.offline.memory_text import canonical, memory_in_file
from agent_core.model.offline.phrases import say
from agent_core.model.offline.reason import reason
from agent_core.model.offline.steps import EDIT, READ, WRITE, Call, as_write, read, write
from agent_core.model.offline.topic import Topic


class Progress(NamedTuple):
    """The calls to make now, or what came out of those that were made.

    Args:
        topic: the topic, with the facts that are new.
        calls: what to do next; empty when nothing is left to do.
        problem: why the facts are not saved.
        is_known: the file says them already.
    """

    topic: Topic
    calls: tuple[Call, ...] = ()
    problem: str = ""
    is_known: bool = False

    @property
    def is_saved(self) -> bool:
        """Whether the facts are in the file since now."""
        return not (self.calls or self.problem or self.is_known)


def progress_of(conversation: Conversation, topic: Topic) -> Progress:
    """How far `topic` is."""
    path = conversation.path_of(topic.file)
    looked, changes = _runs(conversation, path)
    if looked is None and READ in conversation.tools and (_exists_after_all(changes) or (topic.entry and not changes)):
        return Progress(topic, (read(path),))
    if looked and looked.refused:
        return Progress(topic, problem=reason(conversation, looked))
    if looked and looked.succeeded:
        new = _new_facts(topic, looked.text)
        if not new:
            return Progress(topic, is_known=True)
        topic = topic._replace(facts=new)
        if not changes:
            return _extend(conversation, topic, path, looked.text)
    if not changes:
        return Progress(topic, (write(path, topic.content(_today(conversation))),))
    failed = next((run for run in changes if not run.succeeded), None)
    return Progress(topic, problem=reason(conversation, failed) if failed else "")


def _runs(conversation: Conversation, path: str) -> tuple[ToolRun | None, list[ToolRun]]:
    """The call that read the file, if any, and the calls since then that changed it or should have."""
    looked: ToolRun | None = None
    changes: list[ToolRun] = []
    for run in conversation.runs:
        if run.path == path and run.name == READ:
            looked, changes = run, []
        elif run.path == path and run.name in (WRITE, EDIT):
            changes.append(run)
    return looked, changes


def _exists_after_all(changes: list[ToolRun]) -> bool:
    """Whether `Write` would not make a new file; that there is one already is the likeliest reason."""
    return bool(changes) and not (changes[-1].succeeded or changes[-1].refused)


def _extend(conversation: Conversation, topic: Topic, path: str, text: str) -> Progress:
    edits = topic.edits(path, text, _today(conversation))
    if not edits:
        return Progress(topic, problem=say("cannot_edit", conversation.language, file=topic.file))
    return Progress(topic, edits if EDIT in conversation.tools else (as_write(path, text, edits),))


def _new_facts(topic: Topic, text: str) -> tuple[Fact, ...]:
    """What the file does not say yet."""
    known = {canonical(statement.text) for statement in memory_in_file(text, topic.file).statements}
    return tuple(fact for fact in topic.facts if canonical(fact.text) not in known)


def _today(conversation: Conversation) -> str:
    """The day on which the question was asked: the model has no clock of its own."""
    asked = conversation.question.created_at if conversation.question else 0.0
    return datetime.fromtimestamp(asked).strftime("%Y-%m-%d")
