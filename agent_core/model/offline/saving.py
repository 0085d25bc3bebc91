"""Saving facts: which call comes next, told from the calls made so far. Nothing else is remembered between rounds.

The order is: read the index; read the topic files that are to be extended; write or edit the topic files; add to the
index; say what was done.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.model.offline.conversation import Conversation
from agent_core.model.offline.fact_tools import ADD, add_run, keep
from agent_core.model.offline.facts import facts_of
from agent_core.model.offline.index import index_line, parse_index
from agent_core.model.offline.intent import statements_of
from agent_core.model.offline.phrases import say
from agent_core.model.offline.progress import Progress, progress_of
from agent_core.model.offline.reason import reason
from agent_core.model.offline.reporting import not_saved, not_written, report
from agent_core.model.offline.steps import EDIT, READ, WRITE, Call, Step, as_write, edit, read, write
from agent_core.model.offline.topic import Topic, choose_topics, unique_tail


def save(conversation: Conversation, wish: str) -> Step:
    """The next step towards saving `wish`; what was said before is saved when it is empty."""
    language = conversation.language
    text = wish or _said_before(conversation)
    if not text:
        return Step(say("what", language))
    added = add_run(conversation)
    if ADD in conversation.tools and (added is None or added.succeeded):
        # That memory asks nobody; what it could not take goes into a file, where there are any.
        return keep(conversation, facts_of(text))
    if added is not None and (conversation.folder is None or WRITE not in conversation.tools):
        return Step(not_saved(conversation, facts_of(text), reason(conversation, added)))
    if conversation.folder is None or WRITE not in conversation.tools:
        return Step(say("no_folder", language))
    index_read = conversation.run(READ, conversation.index_path)
    # An index that this saving has made need not be read.
    is_new_index = not conversation.has_index or conversation.run(WRITE, conversation.index_path)
    if index_read is None and READ in conversation.tools and not is_new_index:
        return Step(say("saving", language), (read(conversation.index_path),))
    facts = facts_of(text)
    if index_read and index_read.refused:
        return Step(not_written(conversation, facts, reason(conversation, index_read)))
    index_text = index_read.text if index_read and index_read.succeeded else ""
    progress = [progress_of(conversation, topic) for topic in choose_topics(facts, parse_index(index_text))]
    calls = tuple(call for one in progress for call in one.calls)
    # Files are read all together before the first is written, so that a person is asked about writes only.
    reads = tuple(call for call in calls if call.name == READ)
    next_calls = reads or calls or _listing(conversation, progress, index_text)
    if not next_calls:
        return Step(report(conversation, progress))
    return Step("" if conversation.runs else say("saving", language), next_calls)


def _said_before(conversation: Conversation) -> str:
    """What `remember that` means: the latest thing that the person said, when that was a statement."""
    return statements_of(conversation.earlier[-1].get_text_content() or "") if conversation.earlier else ""


def _listing(conversation: Conversation, progress: Sequence[Progress], index_text: str) -> tuple[Call, ...]:
    """The calls that bring the index up to date; none when it is, or when they were made already."""
    path = conversation.index_path
    if conversation.run(EDIT, path) or conversation.run(WRITE, path):
        return ()
    unlisted = [one.topic for one in progress if one.topic.entry is None and not one.problem]
    new = [index_line(topic.title, topic.file, topic.hook) for topic in unlisted]
    if new and not index_text.strip():
        return (write(path, "\n".join(new) + "\n"),)
    edits = (*_added_lines(path, new, index_text), *_changed_hooks(path, progress, index_text))
    return edits if EDIT in conversation.tools or not edits else (as_write(path, index_text, edits),)


def _added_lines(path: str, lines: Sequence[str], index_text: str) -> tuple[Call, ...]:
    tail = unique_tail(index_text) if lines else None
    return (edit(path, tail, "\n".join([tail, *lines])),) if tail else ()


def _changed_hooks(path: str, progress: Sequence[Progress], index_text: str) -> tuple[Call, ...]:
    topics = [one.topic for one in progress if one.is_saved]
    return tuple(
        edit(path, topic.entry.line, line)
        for topic in topics
        if topic.entry and index_text.count(topic.entry.line) == 1 and (line := _longer(topic)) != topic.entry.line
    )


def _longer(topic: Topic) -> str:
    """The topic's line of the index with the new facts in its hook."""
    entry = topic.entry
    if entry is None or not entry.hook or not entry.line.endswith(entry.hook):
        return entry.line if entry else ""
    return entry.line.removesuffix(entry.hook) + topic.hook
