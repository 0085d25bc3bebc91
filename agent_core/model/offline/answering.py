"""Answering by quoting: from what was handed over, from what was said before, from files that the index leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from agent_core.message import Msg
from agent_core.model.offline import fact_tools
from agent_core.model.offline.conversation import Conversation, ToolRun
from agent_core.model.offline.facts import facts_of
from agent_core.model.offline.index import IndexEntry
from agent_core.model.offline.intent import statements_of
from agent_core.model.offline.matching import Terms, is_about_me, question_terms, terms_of
from agent_core.model.offline.memory_text import Memory, Statement, canonical, memory_in_file, memory_in_hint, one_line
from agent_core.model.offline.phrases import say
from agent_core.model.offline.reason import reason
from agent_core.model.offline.steps import READ, Step, read
from agent_core.text import shorten

_FILES = 3
"""Files opened for a question."""
_FILES_FOR_EVERYTHING = 5
_QUOTES = 5
_QUOTES_FOR_EVERYTHING = 12
_QUOTE_LENGTH = 300
_MESSAGES = 200
"""How far back the conversation is searched."""
_MESSAGE_LENGTH = 4_000


def answer(conversation: Conversation) -> Step:
    """The next step towards answering the question."""
    terms = question_terms(conversation.text[:_MESSAGE_LENGTH])
    memories = [memory_in_hint(hint.text, hint.source) for hint in conversation.hints]
    opened = [run for run in conversation.runs if run.name == READ and run.succeeded]
    memories += [memory_in_file(run.text, _file_name(conversation, run)) for run in opened]
    facts = fact_tools.found(conversation)
    memories += facts
    said = [] if not terms else _best(terms, [one for msg in _earlier(conversation) for one in _said(msg)])
    known = _matching(terms, memories)
    if known or said:
        return Step(_quoting(conversation, known, said))
    chosen = _files_to_open(conversation, terms)
    searches = fact_tools.search(conversation)
    unread = [file for file in chosen if conversation.run(READ, conversation.path_of(file)) is None]
    if calls := (*searches, *(read(conversation.path_of(file)) for file in unread)):
        return Step(say("looking", conversation.language), calls)
    # What the search of facts gives belongs to the question by its meaning, whatever its words.
    near = memories if is_about_me(conversation.text) else facts
    return Step(_nearest(conversation, near) or _nothing(conversation))


def _matching(terms: Terms, memories: Sequence[Memory]) -> list[Statement]:
    """The statements that answer; the first ones of a memory whose header fits when none of its statements does."""
    statements = [one for memory in memories for one in memory.statements]
    if not terms:
        return _distinct(statements)[:_QUOTES_FOR_EVERYTHING]
    about = [
        Statement("\n".join(one.text for one in memory.statements[:2]), memory.source, memory.statements[0].date)
        for memory in memories
        if memory.statements and terms.shared_with(terms_of(memory.about))
    ]
    return _best(terms, statements) or _distinct(about)[:_QUOTES]


def _best(terms: Terms, statements: Iterable[Statement]) -> list[Statement]:
    """The statements that together say most about the question: each adds something to the better ones, or ties."""
    scored = [(terms.shared_with(terms_of(one.text[:_MESSAGE_LENGTH])), one) for one in _distinct(statements)]
    scored = [(shared, one) for shared, one in scored if shared]
    # The newer first where two say as much; sorting keeps the order of equals.
    scored.sort(key=lambda pair: pair[1].date, reverse=True)
    scored.sort(key=lambda pair: len(pair[0]), reverse=True)
    covered: set[str] = set()
    chosen: list[tuple[frozenset[str], Statement]] = []
    for shared, one in scored:
        if shared - covered or any(shared == other for other, _ in chosen):
            chosen.append((shared, one))
            covered |= shared
    return [one for _, one in chosen[:_QUOTES]]


def _distinct(statements: Iterable[Statement]) -> list[Statement]:
    distinct: dict[str, Statement] = {}
    for one in statements:
        distinct.setdefault(canonical(one.text), one)
    return list(distinct.values())


def _earlier(conversation: Conversation) -> list[Msg]:
    return conversation.earlier[-_MESSAGES:]


def _said(msg: Msg) -> list[Statement]:
    """What a message states, in the pieces that would be saved, so that what was saved is not quoted twice."""
    text = (msg.get_text_content() or "")[:_MESSAGE_LENGTH]
    day = datetime.fromtimestamp(msg.created_at).strftime("%Y-%m-%d") if msg.created_at else ""
    lines = statements_of(text).splitlines()
    return [Statement(fact.text, "", day) for line in lines if line.strip() for fact in facts_of(line.strip())]


def _files_to_open(conversation: Conversation, terms: Terms) -> list[str]:
    """The files whose index lines fit; those about the person when none does and the question is about them."""
    if conversation.folder is None or READ not in conversation.tools:
        return []
    if not terms:
        return [entry.file for entry in conversation.index[:_FILES_FOR_EVERYTHING]]
    scored = [(len(terms.shared_with(terms_of(_all_of(entry)))), entry.file) for entry in conversation.index]
    fitting = [file for score, file in sorted(scored, key=lambda pair: pair[0], reverse=True) if score]
    if not fitting and is_about_me(conversation.text):
        fitting = [entry.file for entry in conversation.index if entry.file.startswith("user")]
    return fitting[:_FILES]


def _all_of(entry: IndexEntry) -> str:
    return f"{entry.title} {entry.file} {entry.hook}"


def _file_name(conversation: Conversation, run: ToolRun) -> str:
    return run.path.removeprefix(f"{conversation.folder}/")


def _quoting(conversation: Conversation, known: Sequence[Statement], said: Sequence[Statement]) -> str:
    language = conversation.language
    quoted = {canonical(one.text) for one in known}
    new = [one for one in said if canonical(one.text) not in quoted]
    paragraphs = []
    if known:
        paragraphs.append("\n".join([say("from_memory", language), *(_quote(conversation, one) for one in known)]))
    if new:
        paragraphs.append("\n".join([say("from_talk", language), *(_quote(conversation, one) for one in new)]))
    return "\n\n".join(paragraphs)


def _nearest(conversation: Conversation, memories: Sequence[Memory]) -> str:
    """What may belong to the question, when nothing fits better."""
    statements = _distinct(one for memory in memories for one in memory.statements)[:_QUOTES]
    quotes = [_quote(conversation, one) for one in statements]
    return "\n".join([say("nearest", conversation.language), *quotes]) if quotes else ""


def _nothing(conversation: Conversation) -> str:
    language = conversation.language
    looked = [run for run in conversation.runs if run.name == READ]
    sentences = [say("nothing", language)]
    if opened := [f"`{_file_name(conversation, run)}`" for run in looked if run.succeeded]:
        sentences.append(say("looked_in", language, files=say("comma", language).join(opened)))
    if failed := [run for run in looked if not run.succeeded]:
        files = say("comma", language).join(f"`{_file_name(conversation, run)}`" for run in failed)
        sentences.append(say("could_not_read", language, files=files, reason=reason(conversation, failed[0])))
    searched = fact_tools.search_run(conversation)
    if searched is not None and not searched.succeeded:
        sentences.append(say("could_not_search", language, reason=reason(conversation, searched)))
    if not any(sentences[0] in text for text in conversation.answers):
        sentences.append(say("rules_only", language))
    return "\n\n".join(sentences)


def _quote(conversation: Conversation, statement: Statement) -> str:
    language = conversation.language
    _, source, date = statement
    origin = ""
    if source and date:
        origin = say("origin_saved", language, source=source, date=date)
    elif source or date:
        origin = say("origin", language, origin=source or date)
    return say("quote", language, text=shorten(one_line(statement.text), _QUOTE_LENGTH), origin=origin)
