"""What a person wants: have something remembered, ask for it, have it forgotten, or something else."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_core.model.offline import chinese, english
from agent_core.model.offline.language import fold


class Remember(NamedTuple):
    """Save `fact`, in the person's own words; empty when it must be looked for in what was said before."""

    fact: str


class Ask(NamedTuple):
    """Answer a question."""


class KeepOut(NamedTuple):
    """Forget something, or do not save it."""


class Chat(NamedTuple):
    """Anything else: greetings, plain statements, favours that take a language model."""


Intent = Remember | Ask | KeepOut | Chat

_LANGUAGES = (english, chinese)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|(?<=[。?!])(?=[^\s\x00-\x7f])|\n\s*")
_SENTENCES_LOOKED_AT = 4
"""A command stands in one of the first sentences, or in the last; further inside it is quoted text, not a command."""
_LONGEST_SENTENCE = 600
_LONGEST_TAIL = 60
_FIRST_PERSON = re.compile(
    r"\W*(?:(?:hi|hello|hey|你好|您好|嗨)\W+)*(?:(?:i|i'm|im|i've|my|we|our)\b|我)", re.IGNORECASE
)
_AFTER_A_FACT = re.compile(
    r"""(?:[\s,;.!。?、]*(?:\b(?:thanks?(?:\ you)?(?:\ a\ lot|\ so\ much)?|thx|please|pls|cheers)
    |,\s*(?:ok(?:ay)?|k|all?\ ?right|right|will\ you|would\ you|can\ you|could\ you|yeah)(?=\s*\?)
    |谢谢你?|多谢|拜托了?|好吗|好么|可以吗|行吗|好不好|吗(?=\s*\?)))*[\s,;.!。?、:]*$""",
    re.IGNORECASE | re.VERBOSE,
)
"""Thanks, `ok?` and punctuation: part of the asking, not of the fact."""
_BEFORE_A_FACT = " \t\r\n:;,.。!、"


def intent_of(text: str) -> Intent:
    """What the person who wrote `text` wants."""
    folded = fold(text)
    spans = _sentences(folded)
    looked_at = _worth_looking_at(spans)
    for number, (start, end) in looked_at:
        sentence = folded[start:end]
        if any(language.keeps_out(sentence) for language in _LANGUAGES):
            return KeepOut()
        for language in _LANGUAGES:
            if (cut := language.command_end(sentence)) is not None:
                return _remember_what_follows(text, folded, spans, number, start + cut)
            if (span := language.fact_before(sentence)) and not language.asks(sentence[slice(*span)]):
                return Remember(_clean(text[start + span[0] : start + span[1]]))
    return Ask() if any(_asks(folded[start:end]) for _, (start, end) in looked_at) else Chat()


def statements_of(text: str) -> str:
    """What `text` says about the world: without the words that ask to remember it; empty for questions and chat."""
    match intent_of(text):
        case Remember(fact):
            return fact
        case Chat() if not _chats(fold(text[:_LONGEST_SENTENCE])):
            return text
        case _:
            return ""


def tells_of_self(text: str) -> bool:
    """Whether the person says something about themselves, which they may want to have remembered."""
    return _FIRST_PERSON.match(fold(text)) is not None and bool(statements_of(text))


def _remember_what_follows(text: str, folded: str, spans: list[tuple[int, int]], number: int, start: int) -> Remember:
    """The fact goes to the end of the text, or to the first sentence after it that asks something.

    A last sentence that only asks once more is no part of it.
    """
    last_start, last_end = spans[-1]
    is_asked_again = number + 1 < len(spans) and _only_asks_to_remember(folded[last_start:last_end])
    end = last_start if is_asked_again else len(text)
    for later_start, later_end in spans[number + 1 : number + 1 + _SENTENCES_LOOKED_AT]:
        if folded[later_start:later_end].rstrip().endswith("?"):
            end = later_start
            break
    fact = _clean(text[start:end])
    if any(language.names_only(fold(fact)) for language in _LANGUAGES):
        return Remember("")
    return Remember(fact or _statement_before(text, folded, spans[:number]))


def _only_asks_to_remember(sentence: str) -> bool:
    """Whether it says nothing else, as `Please remember that` does."""
    if len(sentence) > _LONGEST_SENTENCE:
        return False
    cuts = [language.command_end(sentence) for language in _LANGUAGES]
    return any(cut is not None and not _clean(sentence[cut:]) for cut in cuts)


def _statement_before(text: str, folded: str, spans: list[tuple[int, int]]) -> str:
    """What the sentences before `remember that` say."""
    sentences = [(folded[start:end], text[start:end]) for start, end in spans]
    return _clean(" ".join(said for plain, said in sentences if not _asks(plain) and not _chats(plain)))


def _asks(sentence: str) -> bool:
    if any(language.recalls(sentence) for language in _LANGUAGES):
        return True
    return not _chats(sentence) and any(language.asks(sentence) for language in _LANGUAGES)


def _chats(sentence: str) -> bool:
    return any(language.chats(sentence) for language in _LANGUAGES)


def _sentences(folded: str) -> list[tuple[int, int]]:
    """Where sentences begin and end. Only so much is split as may be looked at."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(folded):
        if folded[start : match.start()].strip():
            spans.append((start, match.start()))
        start = match.end()
    if folded[start:].strip():
        spans.append((start, len(folded)))
    return spans


def _worth_looking_at(spans: list[tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    numbered = list(enumerate(spans))
    chosen = numbered[:_SENTENCES_LOOKED_AT] + numbered[_SENTENCES_LOOKED_AT:][-1:]
    return [(number, (start, min(end, start + _LONGEST_SENTENCE))) for number, (start, end) in chosen]


def _clean(fact: str) -> str:
    """The fact without thanks after it and without punctuation around it."""
    tail = max(0, len(fact) - _LONGEST_TAIL)
    folded = fold(fact)
    match = _AFTER_A_FACT.search(folded, tail)
    end = match.start() if match else len(fact)
    return fact[len(folded) - len(folded.lstrip(_BEFORE_A_FACT)) : end].rstrip()
