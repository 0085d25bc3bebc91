"""Topic files: which one a fact belongs into, what a new one says, and the edits that extend an old one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_core.model.offline.facts import ANSWERS, Fact
from agent_core.model.offline.index import IndexEntry
from agent_core.model.offline.language import Language, language_of
from agent_core.model.offline.memory_text import one_line, plain_value, printable
from agent_core.model.offline.phrases import say
from agent_core.model.offline.steps import Call, edit
from agent_core.text import first_line, shorten
from agent_core.words import CJK, tokenize

_FULL = 160
"""A topic whose hook is longer takes no more facts: its description would stop telling what is in it."""
_HOOK = 200
_DESCRIPTION = 300
_LONG_FACT = 300
"""A fact of more characters gets a file of its own."""
_SLUG_WORDS = 5
_SLUG_CHARACTERS = 40
_TITLE = 40
_CUT_LINE = " … [cut: "

_SLUG_WORD = re.compile(rf"[a-z0-9]+|[{CJK}]+")
_DESCRIPTION_LINE = re.compile(r"^description:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")


class Topic(NamedTuple):
    """A topic file and the facts that go into it. `entry` is its line in the index; None for a new one."""

    file: str
    title: str
    facts: tuple[Fact, ...]
    entry: IndexEntry | None = None

    @property
    def language(self) -> Language:
        """The language in which the file is kept."""
        return language_of(self.facts[0].text)

    @property
    def hook(self) -> str:
        """What the index says of it once the facts are in."""
        hook = self._extended(self.entry.hook, _HOOK) if self.entry else shorten(self._description, _HOOK)
        # What looks like a link would be taken for one.
        return hook.replace("](", "] (")

    @property
    def _description(self) -> str:
        said = say("semicolon", self.language).join(one_line(fact.text) for fact in self.facts)
        return shorten(say("description", self.language, said=said), _DESCRIPTION)

    def content(self, date: str) -> str:
        """The text of a new file. `date` is when the facts were told."""
        fields = {"name": self.title, "description": self._description}
        # JSON strings are YAML strings, whatever is in them.
        header = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())
        blocks = self._blocks(date)
        return f"---\n{header}type: {self.facts[0].type}\n---\n\n{blocks}\n"

    def edits(self, path: str, text: str, date: str) -> tuple[Call, ...]:
        """The calls that add the facts to the file, which says `text`; none when it cannot be edited."""
        tail = unique_tail(text)
        if tail is None:
            return ()
        gap = "\n" if self._is_list and re.search(r"^[-*+] .*\Z", text.rstrip(), re.MULTILINE) else "\n\n"
        added = edit(path, tail, f"{tail}{gap}{self._blocks(date)}")
        return (*self._description_edit(path, text), added)

    @property
    def _is_list(self) -> bool:
        return self.facts[0].type in ("user", "reference")

    def _blocks(self, date: str) -> str:
        if self._is_list:
            return "\n".join(f"- {_indented(fact.text)} ({date})" for fact in self.facts)
        return "\n\n".join(self._rule(fact, date) for fact in self.facts)

    def _rule(self, fact: Fact, date: str) -> str:
        language = language_of(fact.text)
        why = one_line(fact.reason) or say("no_reason", language, date=date)
        how = say(f"apply_{fact.type}", language)
        return f"- {_indented(fact.text)} ({date})\n\n**Why:** {why}\n**How to apply:** {how}"

    def _description_edit(self, path: str, text: str) -> tuple[Call, ...]:
        match = _DESCRIPTION_LINE.search(text)
        if match is None or match[1][:1] in ("", ">", "|") or text.count(match[0]) != 1:
            return ()
        longer = self._extended(plain_value(match[1]), _DESCRIPTION)
        line = f"description: {json.dumps(longer, ensure_ascii=False)}"
        return (edit(path, match[0], line),) if line != match[0] else ()

    def _extended(self, said: str, limit: int) -> str:
        """A description with the facts added; what no longer fits is cut at its end."""
        parts = [said.rstrip(" .。;；"), *(one_line(fact.text) for fact in self.facts)]
        return shorten(say("semicolon", self.language).join(parts), limit)


def choose_topics(facts: Iterable[Fact], index: Sequence[IndexEntry]) -> list[Topic]:
    """Sort facts into topics: into one that the index lists where one fits and has room, into a new one otherwise."""
    topics: dict[str, Topic] = {}
    for fact in facts:
        topic = _choose(fact, index)
        known = topics.get(topic.file)
        topics[topic.file] = known._replace(facts=(*known.facts, fact)) if known else topic
    return list(topics.values())


def unique_tail(text: str) -> str | None:
    """The last lines of `text`, as many as make them occur only once; None when `Edit` could not match them."""
    lines = text.rstrip().split("\n")
    for count in range(1, len(lines) + 1):
        tail = "\n".join(lines[-count:])
        if _CUT_LINE in tail:
            return None
        if tail and text.count(tail) == 1:
            return tail
    return None


def _choose(fact: Fact, index: Sequence[IndexEntry]) -> Topic:
    language = language_of(fact.text)
    file, title = _usual_place(fact, language)
    for entry in index:
        has_room = len(entry.hook) <= _FULL and len(fact.text) <= _LONG_FACT
        if one_line(fact.text) in entry.hook or (has_room and _fits(fact, file, entry)):
            return Topic(entry.file, entry.title, (fact,), entry)
    taken = {entry.file for entry in index}
    names = (file, *(file.replace(".md", f"_{number}.md") for number in range(2, len(taken) + 3)))
    return Topic(next(name for name in names if name not in taken), title, (fact,))


def _usual_place(fact: Fact, language: Language) -> tuple[str, str]:
    """The file and the title that such a fact gets when nothing fitting is there yet."""
    if len(fact.text) <= _LONG_FACT:
        if fact.type == "user":
            return "user_profile.md", say("user_profile", language)
        if fact.type == "feedback":
            kind = "answer_style" if ANSWERS.search(fact.text) else "ways_of_working"
            return f"feedback_{kind}.md", say(kind, language)
    title = first_line(one_line(fact.text).translate(str.maketrans("[]", "()")), _TITLE)
    return f"{fact.type}_{_slug(fact.text)}.md", title


def _slug(text: str) -> str:
    words = _SLUG_WORD.findall(text[:_LONG_FACT].lower())
    telling = [word for word in words if tokenize(word)]
    return "_".join((telling or words)[:_SLUG_WORDS])[:_SLUG_CHARACTERS].strip("_") or "note"


def _fits(fact: Fact, usual_file: str, entry: IndexEntry) -> bool:
    stem = usual_file.removesuffix(".md")
    if entry.file.startswith(stem):
        return True
    if fact.type == "user":
        return entry.file.lower().startswith("user") or "用户" in entry.file
    words = set(tokenize(fact.text))
    known = set(tokenize(f"{entry.title} {entry.file.removesuffix('.md')} {entry.hook}"))
    if fact.type == "feedback":
        return entry.file.lower().startswith("feedback") and bool(words & known)
    return entry.file.lower().startswith(fact.type) and 2 * len(words & known) >= max(len(words), 2)


def _indented(text: str) -> str:
    """Text that stays inside its list item, and inside the body of the file, whatever its lines look like."""
    lines = printable(_LINE_BREAK.sub("\n", text)).split("\n")
    return "\n".join([lines[0], *(f"  {line}" if line.strip() else "" for line in lines[1:])])
