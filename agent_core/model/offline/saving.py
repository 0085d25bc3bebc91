"""Saving facts: which call comes next, told from the calls made so far. Nothing else is remembered between rounds.

The order is: read the index; read the topic files that are to be extended; write or edit the topic files; add to the
index; say what was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from agent_core.model.offline.conversation import Conversation, ToolRun
from agent_core.model.offline.facts import Fact, facts_of
from agent_core.model.offline.index import index_line, parse_index
from agent_core.model.offline.intent import statements_of
from agent_core.model.offline.memory_text import canonical, memory_in_file, one_line
from agent_core.model.offline.phrases import say
from agent_core.model.offline.steps import EDIT, READ, WRITE, Call, Do, Say, Step, edit, read, write
from agent_core.model.offline.topic import Topic, choose_topics, unique_tail
from agent_core.text import first_line, shorten

_QUOTED = 300
"""Characters of a fact that are said again."""


class _Progress(NamedTuple):
    """How far a topic is: the calls to make now, or what came out of those made."""

    topic: Topic
    calls: tuple[Call, ...] = ()
    problem: str = ""
    is_known: bool = False

    @property
    def is_saved(self) -> bool:
        return not (self.calls or self.problem or self.is_known)


def save(conversation: Conversation, wish: str) -> Step:
    """The next step towards saving `wish`; what was said before is saved when it is empty."""
    language = conversation.language
    text = wish or _said_before(conversation)
    if not text:
        return Say(say("what", language))
    if conversation.folder is None or WRITE not in conversation.tools:
        return Say(say("no_folder", language))
    index_read = conversation.run(READ, conversation.index_path)
    if index_read is None and READ in conversation.tools:
        return Do((read(conversation.index_path),), say("saving", language))
    facts = facts_of(text)
    if index_read and index_read.refused:
        return Say(_not_saved(conversation, facts, _reason(conversation, index_read)))
    index_text = index_read.text if index_read and index_read.succeeded else ""
    progress = [_progress(conversation, topic) for topic in choose_topics(facts, parse_index(index_text))]
    calls = [call for one in progress for call in one.calls]
    # Files are read all together before the first is written, so that a person is asked about writes only.
    reads = tuple(call for call in calls if call.name == READ)
    if calls:
        return Do(reads or tuple(calls))
    saved = [one.topic for one in progress if one.is_saved]
    listing = _listing(conversation, saved, index_text)
    return Do(listing) if listing else Say(_report(conversation, progress))


def _said_before(conversation: Conversation) -> str:
    """What `remember that` means: the latest thing that the person said, when that was a statement."""
    return statements_of(conversation.earlier[-1].get_text_content() or "") if conversation.earlier else ""


def _progress(conversation: Conversation, topic: Topic) -> _Progress:
    path = conversation.path_of(topic.file)
    looked, written, edited = (conversation.run(name, path) for name in (READ, WRITE, EDIT))
    exists_after_all = written is not None and not written.succeeded and not written.refused and looked is None
    if looked is None and READ in conversation.tools and (exists_after_all or (topic.entry and written is None)):
        return _Progress(topic, (read(path),))
    if looked and looked.refused:
        return _Progress(topic, problem=_reason(conversation, looked))
    if looked and looked.succeeded:
        new = _new_facts(topic, looked.text)
        if not new:
            return _Progress(topic, is_known=True)
        topic = topic._replace(facts=new)
        if edited is None:
            return _extend(conversation, topic, path, looked.text)
    last = edited or written
    if last is None:
        return _Progress(topic, (write(path, topic.content(_today(conversation))),))
    failed = next((run for run in conversation.runs_on(last.name, path) if not run.succeeded), None)
    return _Progress(topic, problem=_reason(conversation, failed) if failed else "")


def _extend(conversation: Conversation, topic: Topic, path: str, text: str) -> _Progress:
    calls = topic.edits(path, text, _today(conversation))
    if not calls or EDIT not in conversation.tools:
        return _Progress(topic, problem=say("cannot_edit", conversation.language, file=topic.file))
    return _Progress(topic, calls)


def _new_facts(topic: Topic, text: str) -> tuple[Fact, ...]:
    """What the file does not say yet."""
    known = {canonical(statement.text) for statement in memory_in_file(text, topic.file).statements}
    return tuple(fact for fact in topic.facts if canonical(fact.text) not in known)


def _listing(conversation: Conversation, topics: Sequence[Topic], index_text: str) -> tuple[Call, ...]:
    """The calls that bring the index up to date; none when it is, or when they were made already."""
    path = conversation.index_path
    if conversation.run(EDIT, path) or conversation.run(WRITE, path):
        return ()
    new = [index_line(topic.title, topic.file, topic.hook) for topic in topics if topic.entry is None]
    tail = unique_tail(index_text)
    if new and not index_text.strip():
        return (write(path, "\n".join(new) + "\n"),)
    if EDIT not in conversation.tools:
        return ()
    added = (edit(path, tail, "\n".join([tail, *new])),) if new and tail else ()
    return (*added, *_changed_hooks(path, topics, index_text))


def _changed_hooks(path: str, topics: Sequence[Topic], index_text: str) -> tuple[Call, ...]:
    changes = []
    for topic in topics:
        if topic.entry and index_text.count(topic.entry.line) == 1:
            line = topic.entry.line
            hook = topic.entry.hook
            longer = line.removesuffix(hook) + topic.hook if hook and line.endswith(hook) else line
            changes += [edit(path, line, longer)] if longer != line else []
    return tuple(changes)


def _report(conversation: Conversation, progress: Sequence[_Progress]) -> str:
    """What was saved, what was known, what was not saved and why."""
    language = conversation.language
    paragraphs = []
    if saved := [one.topic for one in progress if one.is_saved]:
        paragraphs.append("\n".join([say("saved", language), *_quotes(saved), "", _where(conversation, saved)]))
    if known := [one.topic for one in progress if one.is_known]:
        paragraphs.append("\n".join([say("known", language, files=_files(conversation, known)), *_quotes(known)]))
    failed = [one for one in progress if one.problem]
    return "\n\n".join([*paragraphs, *(_not_saved(conversation, one.topic.facts, one.problem) for one in failed)])


def _where(conversation: Conversation, saved: Sequence[Topic]) -> str:
    language = conversation.language
    files, folder = _files(conversation, saved), f"`{conversation.folder}`"
    runs = conversation.runs_on(EDIT, conversation.index_path) + conversation.runs_on(WRITE, conversation.index_path)
    failed = next((run for run in runs if not run.succeeded), None)
    if failed is None:
        return say("saved_where", language, files=files, folder=folder)
    reason = _reason(conversation, failed)
    return say("saved_unlisted", language, files=files, folder=folder, reason=reason)


def _not_saved(conversation: Conversation, facts: Sequence[Fact], reason: str) -> str:
    language = conversation.language
    quotes = [_quote(fact) for fact in facts]
    return "\n".join([say("not_saved", language), *quotes, "", say("because", language, reason=reason)])


def _reason(conversation: Conversation, run: ToolRun) -> str:
    text = first_line(run.result.text())
    if run.refused:
        # What follows is advice for a language model.
        return say("refused", conversation.language, tool=run.name, reason=text.split(". ")[0].rstrip("."))
    return text


def _quotes(topics: Sequence[Topic]) -> list[str]:
    return [_quote(fact) for topic in topics for fact in topic.facts]


def _quote(fact: Fact) -> str:
    return f"- {shorten(one_line(fact.text), _QUOTED)}"


def _files(conversation: Conversation, topics: Sequence[Topic]) -> str:
    return say("comma", conversation.language).join(f"`{topic.file}`" for topic in topics)


def _today(conversation: Conversation) -> str:
    """The day on which the question was asked: the model has no clock of its own."""
    asked = conversation.question.created_at if conversation.question else 0.0
    return datetime.fromtimestamp(asked).strftime("%Y-%m-%d")
