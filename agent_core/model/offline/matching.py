"""How well a text fits a question: shared words, and shared subjects where the words differ."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_core.model.offline.language import fold
from agent_core.words import tokenize

_LATIN = re.compile(r"[a-z]+")

# Subject: English words that speak of it, in questions and in answers; patterns that do so inside of a text.
_SUBJECTS = {
    "place": (
        "where live lives living home city town country address location located based reside hometown",
        "[Ii].moved.to [Ii].m.from 哪里 哪儿 在哪 住哪 住在 位置 所在 地址 城市 居住 定居 搬到 搬去 搬家 家在 老家",
    ),
    "name": ("name named call called nickname surname", "名字 姓名 称呼 昵称 叫什么 我叫 叫我 名叫 姓什么 我姓"),
    "liking": (
        "like likes love loves prefer prefers preference preferences favourite favorite enjoy hate dislike fond taste",
        "喜欢 喜爱 偏好 爱好 喜好 最爱 讨厌 不喜欢 偏爱 习惯 兴趣 口味",
    ),
    "work": (
        "job work works working profession occupation employer employed company career office boss",
        "工作 职业 公司 上班 岗位 职位 行业 就职 任职 老师 工程师 医生 学生",
    ),
    "answers": (
        "answer answers answering reply replies respond response responses style tone format",
        "回答 回复 答复 风格 语气 格式 用中文 用英文",
    ),
    "birthday": ("birthday born birth", "生日 出生"),
    "age": ("old age aged years", "几岁 多大 年龄 岁"),
    "family": (
        "family wife husband partner married child children kid kids son daughter mother father parents brother sister",
        "家人 家庭 妻子 老婆 丈夫 老公 伴侣 结婚 孩子 儿子 女儿 妈妈 爸爸 父母 父亲 母亲 兄弟 姐妹 哥哥 弟弟 姐姐 妹妹",
    ),
    "pet": ("pet pets dog dogs cat cats puppy kitten", "宠物 养了 狗 猫"),
    "allergy": (
        "allergy allergies allergic intolerant intolerance medicine medicines medication drug drugs penicillin",
        "过敏 药 青霉素 忌口 禁忌",
    ),
    "travel": (
        "fly flies flying flight flights plane trip trips travel travels travelling holiday holidays vacation",
        "飞往 飞去 飞到 起飞 飞机 航班 机票 旅行 旅游 出差 度假",
    ),
    "food": (
        "eat eats food diet vegetarian vegan drink drinks meal cook tea coffee",
        "吃 喝 饮食 食物 素食 饮料 咖啡 茶",
    ),
    "deadline": ("deadline due deadlines", "截止 期限 最后期限"),
    "contact": ("email mail phone telephone number contact", "邮箱 电话 手机 联系方式 号码"),
    "schedule": (
        "when date time meeting meetings schedule appointment",
        "什么时候 何时 哪天 几点 日期 时间 会议 开会 日程 安排",
    ),
    "language": (
        "language languages speak english chinese french german spanish",
        "语言 中文 英文 英语 汉语 普通话 法语 德语",
    ),
    "colour": ("color colour", "颜色 色"),
}

_SUBJECT_OF_WORD = {word: subject for subject, (words, _) in _SUBJECTS.items() for word in words.split()}
_SUBJECT_INSIDE = re.compile(
    "|".join(f"(?P<{subject}>{'|'.join(patterns.split())})" for subject, (_, patterns) in _SUBJECTS.items())
)

# What a question says about asking, not about its subject.
_ASKING = re.compile(
    r"\b(?:remember(?:ed)?|recall|know|knew|tell|told|say|said|save[ds]?|note[ds]?|memor(?:y|ies)|remind|forg[eo]t|user|find|found|search"
    r"|list|show|give|everything|anything|something|things?|still|again|please|about|look|stored?|learn(?:ed|t)?|got|get)\b"
    r"|还记得|记不记得|是否|记得|记住|知道|了解|多少|什么|哪些|关于|有关|告诉|所有|一切|记忆|保存|请问|请|事情|信息|内容|回忆|一下|查|找|用户|说过|忘记?了?|对",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(r"\b(?:me|my|mine|myself)\b|我", re.IGNORECASE)


class Terms(NamedTuple):
    """What a text is about: its words, and the subjects that they belong to."""

    words: frozenset[str]
    subjects: frozenset[str]

    def shared_with(self, other: Terms) -> frozenset[str]:
        """What both are about. A subject that the shared words show already is not counted again."""
        return (self.words & other.words) | {f"subject:{name}" for name in self.subjects & other.subjects}

    def __bool__(self) -> bool:
        return bool(self.words or self.subjects)


def terms_of(text: str) -> Terms:
    """What `text` is about."""
    folded = fold(text)
    subjects = {_SUBJECT_OF_WORD[word] for word in _LATIN.findall(folded.lower()) if word in _SUBJECT_OF_WORD}
    subjects.update(match.lastgroup for match in _SUBJECT_INSIDE.finditer(folded) if match.lastgroup)
    return Terms(frozenset(tokenize(folded)), frozenset(subjects))


def question_terms(question: str) -> Terms:
    """What a question is about, the asking itself left out; nothing for `what do you know about me?`."""
    return terms_of(_ASKING.sub(" ", fold(question)))


def is_about_me(question: str) -> bool:
    """Whether the person asks about themselves."""
    return _ABOUT_ME.search(question) is not None
