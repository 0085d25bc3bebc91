"""The words of a text, made comparable: what search and the offline model match with.

English words are lower-cased, stripped of endings and dropped when they carry no meaning of their own. Chinese and its
neighbours write no spaces, so their runs become overlapping pairs of characters, as search engines do it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MAX_CHARACTERS = 200_000
"""Text beyond this is not looked at, so that one huge file cannot hold everybody up."""
MAX_WORD = 64
"""Longer words (encoded data, mostly) are cut to so many characters."""

CJK = "\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
"""Characters written without spaces between words, as the inside of a regular expression's brackets."""

_TOKEN = re.compile(rf"(?P<cjk>[{CJK}]+)|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")
# Pronouns and particles: between content words, hardly ever inside one.
_CJK_SEPARATOR = re.compile("[的吗呢吧啊呀嘛我你您他她它]+")
_CJK_STOP = frozenset("们是在有和与了就都也很")
_CONTRACTIONS = frozenset({"s", "m", "re", "ve", "ll", "d"})
_STOP_LIST = """
a about all also am an and any are as at be because been being but by can could did do does doing done for from had
has have having he her here hers herself him himself his how i if in into is it its itself just me mine more most my
myself no nor not of off on or other our ours ourselves out over own same shall she should so some such than that
the their theirs them themselves then there these they this those to too under until up us very was we were what
when where which while who whom whose why will with would you your yours yourself yourselves
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_IRREGULAR = {
    "children": "child",
    "men": "man",
    "news": "news",
    "people": "person",
    "used": "use",
    "uses": "use",
    "using": "use",
    "women": "woman",
}
_VOWEL = re.compile("[aeiouy]")


def tokenize(text: str) -> list[str]:
    """The comparable words of `text`, in order, repeats kept. Looks at the first `MAX_CHARACTERS` characters only."""
    words: list[str] = []
    # Cut twice: one character may become eighteen.
    normalised = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    for match in _TOKEN.finditer(normalised):
        if match.lastgroup == "cjk":
            words += _pairs(match.group())
        elif word := _word(match.group()[:MAX_WORD]):
            words.append(word)
    return words


def _pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a character that stands alone is kept unless it means nothing alone."""
    pairs: list[str] = []
    for part in _CJK_SEPARATOR.split(run):
        if len(part) == 1:
            pairs += () if part in _CJK_STOP else (part,)
        else:
            pairs += (part[i : i + 2] for i in range(len(part) - 1))
    return pairs


# The cache pays because a text repeats its words, and texts share them.
@lru_cache(maxsize=16_384)
def _word(raw: str) -> str:
    """One word made comparable; empty when it carries no meaning."""
    word = raw.casefold().replace("’", "'")
    if "'" in word:
        head, _, tail = word.rpartition("'")
        if tail == "t" and head.endswith("n"):
            return ""  # don't, isn't, can't: auxiliaries, all of them
        word = (head if tail in _CONTRACTIONS else word).replace("'", "")
    if word in _STOP_WORDS:
        return ""
    return _stem(word) if word.isascii() and word.isalpha() else word


def _stem(word: str) -> str:
    """Cut English endings so that the forms of a word meet: `like`, `likes`, `liked` and `liking` are all `lik`."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _without_tense(_without_plural(word))
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and not _VOWEL.match(word[-1]):
        word = word[:-1]
    if len(word) > 2 and word[-1] == "y" and not _VOWEL.match(word[-2]):
        word = word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def _without_tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and _VOWEL.search(rest) and not word.endswith("eed"):
            return rest
    return word
