"""Fixed rules for which memory replaces which, for where no model can be asked.

They know only what a person has one of at a time: a home, a name, an employer, a favourite of each kind. Everything
else may be true beside what was true before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent_core.model.offline.memory_text import canonical
from memory.mem0.answers import Fact

_NOW_EN = r"(?:(?:now|currently|presently|just|recently|have|has|'ve)\s+)*"
_WHO_EN = r"(?P<who>i|the user|user|my \w+|[a-z][\w-]*)"
_WHO_ZH = r"(?P<who>我|用户|[\u4e00-\u9fff]{1,4}?)?"
_NOW_ZH = r"(?:现在|目前|如今|已经|刚刚?|最近)*"
_ONE_OF_EN = (
    r"favou?rite [\w ]+?|e-?mail(?: address)?|(?:tele)?phone(?: number)?|(?:home )?address|birthday|job(?: title)?"
    r"|employer|occupation|time ?zone|home ?town|name|nickname|preferred [\w ]+?"
)
_ONE_OF_ZH = (
    r"最(?:喜欢|爱)的[\u4e00-\u9fff]{1,8}?|邮箱|电子邮件|电话(?:号码)?|手机号?|地址|生日|职业|工作|时区|名字|昵称|家乡"
)
_PATTERNS = [
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("home", rf"{_WHO_EN}(?:'m| am| is)? {_NOW_EN}(?:lives?|living|resides?|based) in (?P<value>.+)"),
        ("home", rf"{_WHO_EN}(?:'ve)? {_NOW_EN}(?:moved?|moves|relocated)(?: from .+?)? to (?P<value>.+)"),
        ("employer", rf"{_WHO_EN} {_NOW_EN}works? (?:at|for) (?P<value>.+)"),
        ("name", rf"{_WHO_EN}(?:'m| am| is) {_NOW_EN}(?:called|named) (?P<value>.+)"),
        ("", rf"(?P<who>my|the user's|user's|[a-z][\w-]*'s) (?P<what>{_ONE_OF_EN}) (?:is|are) {_NOW_EN}(?P<value>.+)"),
        ("home", rf"{_WHO_ZH}{_NOW_ZH}(?:住在|居住在|搬家?到了?|搬去了?|迁居到?)(?P<value>.+)"),
        ("employer", rf"{_WHO_ZH}{_NOW_ZH}在(?P<value>.+?)(?:工作|上班|任职)"),
        ("name", rf"{_WHO_ZH}{_NOW_ZH}(?:叫|名叫)(?P<value>.+)"),
        ("", rf"{_WHO_ZH}的?(?P<what>{_ONE_OF_ZH}){_NOW_ZH}(?:是|改成了?|改为|换成了?)(?P<value>.+)"),
    )
]
_SELF = frozenset({"", "i", "my", "user", "the user", "我", "用户"})
_LONGEST = 300


class _Property(NamedTuple):
    """What somebody has one of at a time, and which one."""

    who: str
    what: str
    value: str


def replaced_by(new: str, facts: Iterable[Fact]) -> list[Fact]:
    """The memories that a new one makes untrue; those that are replaced already are not among them."""
    claim = _property(new)
    if claim is None:
        return []
    replaced = []
    for fact in facts:
        older = None if fact.superseded_by else _property(fact.text)
        if older and older[:2] == claim[:2] and not _says_more(claim.value, older.value):
            replaced.append(fact)
    return replaced


def _property(text: str) -> _Property | None:
    if len(text) > _LONGEST:
        return None
    plain = text.strip().rstrip(".。!！")
    for name, pattern in _PATTERNS:
        if match := pattern.fullmatch(plain):
            found = match.groupdict()
            who = (found["who"] or "").lower().removesuffix("'s")
            what = name or canonical(found["what"])
            return _Property("user" if who in _SELF else who, what, canonical(match["value"]))
    return None


def _says_more(one: str, other: str) -> bool:
    """Whether two values are the same, or one the other with something added."""
    return one.startswith(other) or other.startswith(one)
