"""How people ask in English to have something remembered, recalled or forgotten.

Sentences come folded (see `language.fold`); every pattern works on one sentence of bounded length.
"""

from __future__ import annotations

import re


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_POLITE = r"""(?:(?:
    hi|hello|hey|there|assistant|buddy|ok|okay|so|well|also|and|but|now|then|first|oh|btw|by\ the\ way|please|pls|plz
    |good\ (?:morning|afternoon|evening|day)|kindly|just|great|thanks|thank\ you|cool|sure|yes|no|actually
    |one\ more\ thing|important
    )\b[\s,.!:;-]*)*"""
_ASKED_KINDLY = r"(?:can|could|would|will)\ (?:you|u)\ (?:please\ |kindly\ |just\ )*"
_WISH = rf"""(?P<kindly>{_ASKED_KINDLY})?(?:
    (?:i\ (?:want|need)|i(?:'d|\ would)\ (?:like|love))\ (?:for\ )?you\ to\ |help\ me\ (?:to\ )?
    |you\ (?:should|must|need\ to|have\ to|can)\ |(?:make|be)\ sure\ (?:to\ |that\ you\ |you\ )
    |try\ to\ |always\ |let'?s\ |do\ |please\ )*"""
# However it is spelt: remeber, rember, remmember.
_TO_REMEMBER = r"rem[em]{0,4}be?r"
_REMEMBER = rf"""(?:{_TO_REMEMBER}|memori[sz]e|commit\ to\ memory|(?:keep|bear)\ in\ mind
    |(?:do\ not|don'?t|dont|never)\ (?:ever\ )?forget|(?:take|make|add|keep)\ (?:a\ )?note|note\ down|jot\ down
    |know\ (?=that\b)|update\ (?:your|the)\ memory)"""
# Words with everyday meanings: `save the file` is no wish to remember, `save this: ...` and `note that ...` are.
_CLAUSE = r"""(?:i|i'm|i've|my|we|our|he|she|it|they|his|her|their|the|there|[a-z]+\ (?:is|are|was|has|likes?))\b"""
_WRITE_DOWN = rf"""(?:note|save|store|record|log|learn|write\ down|add|put)(?:
    \ (?:that|down\ that|the\ fact\ that)\ (?={_CLAUSE})
    |(?:\ (?:this|that|it|the\ following))?(?:
        \ (?:down|in|to|into)(?:\ (?:your|the))?(?:\ long[-\ ]term)?\ memor(?:y|ies)|\ for\ (?:later|me))
    |\ (?=my\ \w+(?:\ \w+)?(?::|\ =|\ (?:is|as)\b))
    |\ ?(?:this|the\ following|down)?\s*(?=[:,-]|$))"""
_FROM_NOW_ON = (
    r"(?:from\ now\ on|for\ (?:next\ time|future\ reference|the\ future)|in\ (?:the\ )?future|going\ forward)\b"
)
_LEAD_IN = r"""(?:\s*(?:
    (?:this|that|it|these)(?=\s*(?:[:;,.!-]|$|\ (?:fact|about|for|in|to|thing|one|forever)\b))
    |the\ following|(?:of\ )?the\ fact\ that|of\ (?:this|that|it)|about\ me|for\ (?:me|later|next\ time)
    |(?:in|to)\ (?:your\ )?memory|forever|always|please|fact|thing|one)\b)*
    [\s:;,.!–—-]*(?:that\b(?!\ \w+\ (?:in|at|when|of)\b)[\s:,]*)?"""
_STOP_IT = r"(?:do\ not|don'?t|dont|never|stop|no\ need\ to)"
_SAVING = r"(?:remember|sav|stor|not|record|memori[sz]|writ|keep)(?:e|ing)?"
_ALL_THAT_IS_KNOWN = r"(?:memor(?:y|ies)|about\ me|you\ know|remember)"

_COMMAND = _pattern(rf"^\W*{_POLITE}{_WISH}(?:{_REMEMBER}\b|{_WRITE_DOWN}|{_FROM_NOW_ON}){_LEAD_IN}")
_COMMAND_AT_END = _pattern(
    rf"""^(?P<fact>.+?(?<![\s,;.!–—-]))\s*[,;.!–—-][\s,;.!–—-]*+(?:and\ |so\ |but\ )?{_POLITE}{_WISH}
    (?:{_REMEMBER}|save|note|write|keep)(?:\ down)?(?:\ (?:this|that|it|these|them))?
    (?:\ (?:in\ mind|for\ (?:later|me|next\ time)|to\ memory|down|forever|please))*[\s.!]*$"""
)
_TAG_QUESTION = _pattern(
    r"""[\s,]*\b(?:ok|okay|k|alright|all\ right|right|please|(?:will|would|can|could)\ (?:you|u)|yeah|thanks)
    \s*\?+\s*$"""
)
_QUESTION_WORD = _pattern(r"^\W*(?:what|where|who|whom|whose|when|which|why|how|if|whether)\b")
_STATES_SOMETHING = _pattern(
    r"\b(?:is|are|am|was|were|have|has|live|like|love|prefer|hate|work|need|want|i|we)\b|'(?:s|m|re)\b"
)
_NAMES_ONLY = _pattern(r"^\W*(?:me|us|you|him|her|everything|anything|something|(?:my|our)\ \w+(?:\ \w+)?)\W*$")
_KEEP_OUT = _pattern(
    rf"""^\W*{_POLITE}{_WISH}(?:{_STOP_IT}\ {_SAVING}\b|forget\b(?!\ (?:to|it'?s)\b)
    |(?:delete|remove|erase|clear|wipe)\b(?=.*\b{_ALL_THAT_IS_KNOWN}\b))"""
)
_LOST = _pattern(
    r"^\W*(?:\w+\W+){0,2}i\ (?:(?:can'?t|cannot|don'?t|do\ not)\ (?:remember|recall)|forgot|have\ forgotten)\b"
)
_INDIRECT = r"(?:what|where|who|when|which|why|how|if|whether)"
_RECALL = _pattern(
    rf"""^\W*{_POLITE}(?:{_ASKED_KINDLY})?(?:
    (?:tell|remind|show|give)\ me\ (?:again\ )?
        (?:{_INDIRECT}|(?:of\ )?(?:my|our|the)|everything|(?:something\ |more\ |all\ )?about\ (?:me|my|myself|our))\b
    |(?:check|find(?:\ out)?|look\ (?:up|for)|search(?:\ for)?|list|explain|describe|summari[sz]e)\ (?:again\ )?
        (?:{_INDIRECT}|my|our)\b
    |i(?:'d|\ would)?\ (?:(?:want|need|like|love)\ to\ know|wonder|(?:was|am)\ wondering)\ {_INDIRECT}\b
    |(?:show|list|print|display)\ (?:me\ )?memor(?:y|ies)\b
    |(?:show|list|print|display)\ (?:me\ )?(?:all\ |everything|what|my|your|the\ )+
        .*\b(?:{_ALL_THAT_IS_KNOWN}|know|saved|notes?|noted|my)\b
    |(?:recall|{_TO_REMEMBER})\b
    |(?:search|look\ (?:in|into|through)|check|consult)\ (?:your\ |my\ |the\ )?memor(?:y|ies))"""
)
# The program, or what it is connected to; a question about another thing may be one about what is remembered.
_ITSELF = r"""(?:you|u|this|it|here|mnemoscope|(?:language\ )?models?|llms?|openai|ollama|api(?:\ keys?)?|program|app
    |help)"""
_ABOUT_ITSELF = _pattern(
    rf"""^\W*{_POLITE}(?:
    who\ (?:are|r)\ (?:you|u)|who\ (?:made|built|is\ this\W*$)|how\ (?:are|r)\ (?:you|u)\b(?!\ (?:to|supposed)\b)
    |how'?s\ it\ going|(?:are|r)\ (?:you|u)\b(?!\ (?:to|supposed|aware)\b)
    |what\ (?:are|r)\ (?:you|u)\b(?!\ \w+ing\ about)|what(?:'s|\ is)\ (?:your|ur)\ name
    |what(?:'s|\ is)\ (?:up|mnemoscope|(?:this|that)(?=\W*$|\ (?:for|about|all|here|thing|program|app|tool)\b))
    |(?:which|what)\ (?:language\ model|model(?=
        \W*$|\ (?:is\ )?{_ITSELF}|\ (?:are|do|does|answers|am\ i|is\ \w+(?:ing|ed))\b
        (?!\ (?:i|we)\ (?!us|talk|speak|chat))))\b
    |what\ (?:can|could|do)\ (?:(?:you|u|this)\ (?:do|say|type|ask|help)\b
        |i\ (?:do|say|type|ask)(?=\W*$|\ (?:here|now|next|first|{_ITSELF})\b|\ (?:to|with|in)\ {_ITSELF}\b))
    |why\ (?:can'?t|don'?t|won'?t|are)\ you\b(?!\ (?:remember|recall|know|call)\b)
    |how\ (?:do|does|can|could|should)\ (?:
        (?:you|(?:this|the)\ (?:program|app)|this|it|that|mnemoscope)\ (?:work|help|run|start)
        |(?:i|we|you|one)\ (?:use|connect|set\ ?up|start|configure|change|switch|add|quit|exit|install|run)
            (?=\W*$|\ (?:\w+\ ){{0,3}}{_ITSELF}\b)|(?:i|we|one)\ get\ (?:started|help))\b
    |how\ to\ (?:use|connect|start|quit|exit)\b|do\ you\ (?:speak|understand|work|like|think|feel|dream)\b
    |help\b|is\ (?:any(?:body|one)|someone)\ there
    |can\ (?:you|u)\ (?:help|hear|talk|speak|understand|chat)\b)"""
)
_FAVOUR = _pattern(
    rf"""^\W*{_POLITE}(?:{_ASKED_KINDLY}(?!know\b|find\b|say\b|guess\b)\w+
    |(?:write|translate|explain|generate|create|make|build|fix|summari[sz]e|calculate|compute|draw|tell|give|show|sing)\b)"""
)
_GREETING = _pattern(rf"^\W*{_POLITE}(?:good\ (?:morning|afternoon|evening|night)|bye|goodbye|lol|haha)?\W*$")
_QUESTION = _pattern(
    rf"""^\W*{_POLITE}(?:(?:what|where|who|whom|whose|which|why|how)(?:'?s|'?re|'?d)?\b
    |when\ (?:is|are|am|was|were|do|does|did|will|can|should|have|has)\b
    |(?:do|does|did|is|are|am|was|were|have|has|had|can|could|will|would|should|shall|may|might)(?:n'?t)?\ (?:
        i|you|we|he|she|they|it|there|my|our|your|this|that|any\w*|some\w*)\b
    |my\ \w+\W*$)"""
)


def command_end(sentence: str) -> int | None:
    """Where the fact begins in a sentence that asks to remember one; None when it does not ask that."""
    plain = _TAG_QUESTION.sub("", sentence)
    match = _COMMAND.match(plain)
    if match is None or _KEEP_OUT.match(plain):
        return None
    rest = plain[match.end() :]
    if _QUESTION_WORD.match(rest):
        return match.end() if ":" in rest and not rest.rstrip().endswith("?") else None
    if ":" in match.group() or not rest.rstrip().endswith("?"):
        return match.end()
    says_that = re.search(r"\bthat[\s:,]*$", match.group(), re.IGNORECASE)
    asked_kindly = match["kindly"] and (says_that or _STATES_SOMETHING.search(rest))
    return match.end() if asked_kindly else None


def fact_before(sentence: str) -> tuple[int, int] | None:
    """Where the fact stands in a sentence that asks at its end to remember it: `I live in Rome, don't forget that`."""
    match = _COMMAND_AT_END.match(sentence)
    return match.span("fact") if match else None


def names_only(fact: str) -> bool:
    """Whether it says of what, but not what: `me`, `my birthday`."""
    return _NAMES_ONLY.match(fact) is not None


def keeps_out(sentence: str) -> bool:
    """Whether it asks to forget or not to remember."""
    return _KEEP_OUT.match(sentence) is not None


def recalls(sentence: str) -> bool:
    """Whether it asks for what is remembered without being a question."""
    return _RECALL.match(sentence) is not None or _LOST.match(sentence) is not None


def chats(sentence: str) -> bool:
    """Whether it greets, asks about the program itself, or asks a favour that takes a language model."""
    return any(pattern.match(sentence) for pattern in (_GREETING, _ABOUT_ITSELF, _FAVOUR))


def asks(sentence: str) -> bool:
    """Whether it is a question."""
    return sentence.rstrip().endswith("?") or _QUESTION.match(sentence) is not None
