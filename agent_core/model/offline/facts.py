"""What is to be remembered, cut into facts of one kind each."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from agent_core.model.offline.language import fold

FactType = Literal["user", "feedback", "project", "reference"]

_LONGEST_SENTENCE_TO_SPLIT = 300
_LOOKED_AT = 1_000
"""The kind of a fact shows in so many characters."""

_VERBS = (
    "like|likes|love|prefer|hate|enjoy|dislike|want|need|live|work|speak|use|have|play|study|drink|eat|was|am|don't"
)
_ENGLISH_SEAM = re.compile(
    rf"(?:,\s*|;\s*|\.\s+)(?:and\s+|also\s+)*(?=(?:I|I'm|I've|my|please)\b)"
    rf"|\s*,?\s+and\s+(?:also\s+|then\s+)?(?=(?:I|I'm|I've|my|please|{_VERBS})\b)",
    re.IGNORECASE,
)
_CHINESE_VERBS = "喜欢|偏好|爱|讨厌|住|叫|是|希望|习惯|会|有|不|对|姓|养"
_CHINESE_SEAM = re.compile(
    rf"[,;。]\s*(?:并且|而且|另外|还有|同时|也|还|且)*(?=我|请|{_CHINESE_VERBS})|(?:并且|而且)(?=我|请|{_CHINESE_VERBS})"
)
_CLAUSE = re.compile(rf"\b(?:is|are|can|{_VERBS})\b|'[ms]\b|[^\x00-\x7f]", re.IGNORECASE)
_SPEAKER = re.compile(r"\s*(?:I(?=\b)|我(?![的们]))", re.IGNORECASE)
_HAS_SUBJECT = re.compile(r"\s*(?:I|I'm|I've|my|please|was|am)\b|\s*(?:我|请)", re.IGNORECASE)

ANSWERS = re.compile(
    r"\b(?:answers?|answering|repl(?:y|ies|ying)|responses?|respond(?:ing)?|explanations?|explain|emojis?|bullets?|markdown)\b"
    r"|回答|回复|答复|回应|语气|表情符号",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:prefer\w*|likes?|want|need|love|hate|dislike|please|always|never|don't|do not|should|must|use|keep|be|in"
    r"|with|without)\b"
    r"|喜欢|偏好|希望|请|要|别|用|简洁|简短|详细",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\s*(?:(?:please(?! call me)|always|never|don't|do not|be|stop|avoid|use|answer|reply|respond|speak|talk)\b"
    r"|请(?!叫)|不要|别|总是|永远|每次|务必|用(?!户))",
    re.IGNORECASE,
)
_EXPECTATION = re.compile(
    r"\b(?:you should|you must|i (?:want|need|expect|would like|'d like) you to)\b", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"https?://|www\.|\b(?:docs?|documentation|wiki|dashboard|handbook|manual)\b|链接|网址|文档|手册", re.IGNORECASE
)
_SELF = re.compile(
    r"\s*(?:(?:i'm|im|i am|my name|call me|my (?:wife|husband|partner|son|daughter|dog|cat|birthday|hobby|home|address)"
    r"|i (?:live|work|was born|moved|like|love|prefer|hate|dislike|speak|have|come|study|play|drink|eat|enjoy|own))\b"
    r"|我(?:是|叫|姓|住|在|喜欢|爱|偏好|讨厌|有|会|来自|对|的名字|家|今年|不|养)|请?叫我|大家都?叫我)",
    re.IGNORECASE,
)
_PROJECT = re.compile(
    r"\b(?:projects?|deadlines?|releases?|released|launch\w*|sprints?|milestones?|meetings?|repo(?:sitory)?|branch|deploy\w*"
    r"|team|clients?|customers?|bugs?|tickets?|we|our)\b|项目|截止|上线|发布|会议|开会|版本|仓库|部署|团队|客户|我们|里程碑|需求",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|i'll|my|me|mine|myself)\b|我", re.IGNORECASE)
_REASON = re.compile(r"(?:,\s*)?\b(?:because|since)\b\s*(.+)$|[,，]?因为(.+)$", re.IGNORECASE | re.DOTALL)


class Fact(NamedTuple):
    """One thing to remember. `text` is in the person's words; `reason` is the part of it that says why, or empty."""

    type: FactType
    text: str
    reason: str = ""


def facts_of(text: str) -> list[Fact]:
    """Cut `text` into facts: `I live in Rome and like short answers` is a fact about the user and one about answers."""
    return [Fact(_type_of(part), part, _reason(part)) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    folded = fold(text)
    if "\n" in text or len(text) > _LONGEST_SENTENCE_TO_SPLIT:
        return [text]
    speaker = _SPEAKER.match(folded)
    parts: list[str] = []
    start = 0
    for seam in _seams(folded):
        # `My wife and I` is no place to cut: nothing has been said yet.
        is_clause = (start or _HAS_SUBJECT.match(folded)) and _CLAUSE.search(folded, start, seam.start())
        if not is_clause or not (speaker or _HAS_SUBJECT.match(folded, seam.end())):
            continue
        parts.append(text[start : seam.start()])
        start = seam.end()
    parts.append(text[start:])
    first, *rest = (part.strip(" ,;.，；。") for part in parts)
    return [first, *(_with_subject(part, speaker.group().strip() if speaker else "") for part in rest)]


def _seams(folded: str) -> list[re.Match[str]]:
    found = [*_ENGLISH_SEAM.finditer(folded), *_CHINESE_SEAM.finditer(folded)]
    return sorted((seam for seam in found if seam.start() > 0), key=lambda seam: seam.start())


def _with_subject(part: str, speaker: str) -> str:
    """A part cut from the middle of a sentence says again who it is about."""
    if not speaker or _HAS_SUBJECT.match(fold(part)):
        return part
    return f"{speaker} {part}" if speaker.isascii() else speaker + part


def _type_of(part: str) -> FactType:
    folded = fold(part[:_LOOKED_AT])
    if _ORDER.match(folded) or _EXPECTATION.search(folded) or (ANSWERS.search(folded) and _WISH.search(folded)):
        return "feedback"
    if _REFERENCE.search(folded):
        return "reference"
    if _SELF.match(folded):
        return "user"
    if _PROJECT.search(folded):
        return "project"
    return "user" if _FIRST_PERSON.search(folded) else "reference"


def _reason(part: str) -> str:
    match = _REASON.search(part[:_LOOKED_AT])
    return (match[1] or match[2]).strip() if match else ""
