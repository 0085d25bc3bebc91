"""How people ask in Chinese to have something remembered, recalled or forgotten. The twin of `english`.

Sentences come folded (see `language.fold`): simplified where it matters, with plain punctuation.
"""

from __future__ import annotations

import re


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_POLITE = r"""(?:(?:
    你好|您好|嗨|嘿|哈喽|好的?|那么?|对了|另外|还有|顺便说一下|顺便|哦|嗯|谢谢你?|首先|重要
    )[\s,。!、:]*)*"""
_WISH = r"""(?:
    请|麻烦|拜托|劳驾|你|您|要|得|一定|务必|可以|能不能|能否|可否|可不可以|能|帮我|帮忙|给我|替我
    |我(?:想|要|希望)(?:让|请)?你|希望你|应该|必须|先|也|就|再|都|永远|始终|千万|可
    )*"""
_MEMORY = r"(?:你的)?(?:长期)?(?:记忆|备忘录)"
_REMEMBER = rf"""(?:
    记住|记下来?|记一下|记一记|记录(?:一下|下来|下)|牢记|谨记|铭记|记好|记着|记牢|记得
    |(?:别|不要|勿)忘(?:了|记|掉)?
    |(?:写|加|存|记|放)(?:进|入|到){_MEMORY}(?:里|中)?|加入记忆
    |(?:加|添加|新增|更新)(?:一?[条个])?{_MEMORY})"""
# Words with everyday meanings: 保存文件 is no wish to remember, 保存一下:... is.
_WRITE_DOWN = r"(?:(?:保存|存|备注|记录|写|记)(?:一下|下来|下)?(?=[\s:,]|我|这件事|这一点|$))"
_LEAD_IN = r"""(?:
    一下|下来|了|这件事情?|这一?点|这个(?=[\s:,。]|$)|这条|以下(?:内容|信息|事项)?|如下|好|哦|啊|吧|呀
    |到记忆(?:里|中)?)*
    [\s:,;。、!–—-]*"""
_FROM_NOW_ON = r"""(?:以后|今后|从现在(?:开始|起)|往后|接下来|从今以后)
    [,\s]*(?=.*(?:请|都|用|别|不要|叫我|称呼|回答|回复))"""
_MY_THING = r"我的(?!天)[^\W是叫在有很不了姓]{1,4}"

_COMMAND = _pattern(
    rf"""^\W*{_POLITE}(?P<wish>{_WISH})(?:把(?:这件事情?|这个|这一?点|以下内容))?
    (?:(?P<verb>{_REMEMBER}|{_WRITE_DOWN}){_LEAD_IN}|{_FROM_NOW_ON})"""
)
_COMMAND_AT_END = _pattern(
    rf"""^(?P<fact>.+?(?<![,。;!\s]))(?:[,。;!\s]++{_WISH}|请你?|麻烦你?|帮我)(?:{_REMEMBER}|{_WRITE_DOWN})
    (?:一下|下来|了|哦|啊|吧|呀|这件事情?|这一?点|这个|它|住)*[\s。.!~]*$"""
)
_TAKE_AND_WRITE_DOWN = _pattern(
    rf"""^\W*{_POLITE}{_WISH}(?:把|将)(?P<fact>.+?)(?:这件事情?|这一?点|这个)?(?:{_REMEMBER}|保存|存)
    (?:一下|下来|了|吧|起来)*[\s。.!~]*$"""
)
_TAG_QUESTION = _pattern(r"[\s,]*(?:好吗|好么|好不好|可以吗|行吗|行不行|可以不|ok吗|谢谢你?|拜托了?)[\s?。.!]*$")
_QUESTION_WORD = _pattern(
    r"""什么|啥|哪|谁|几(?!乎)|多少|多大|多久|多远|怎么|怎样|如何|为什么|为何|何时|是不是|有没有|是否|能不能
    |会不会"""
)
_QUESTION_END = _pattern(r"(?:\?|吗|呢|么)[\s?。.!~]*$")
_NAMES_ONLY = _pattern(rf"^\W*(?:我|我们|你|他|她|它|一切|所有|{_MY_THING})\W*$")
_KEEP_OUT = _pattern(
    rf"""^\W*{_POLITE}{_WISH}(?:(?:别|不要|不用|不必|无需|勿|停止)再?(?:记|保存|存|备注)
    |忘记|忘掉|忘了|(?:删除|删掉|清除|清空|抹掉|移除)(?=.*(?:记忆|记住|关于我|知道))
    |把.*(?:删除|删掉|清除|忘掉))"""
)
_RECALL = _pattern(
    rf"""还记得|记不记得|是否记得|^\W*你记得|想得?起来?我|回忆(?:一下)?|我忘了|我忘记了|我不记得|你(?:都)?知道我
    |告诉我(?=.*(?:什么|哪|谁|几|多少|怎么|如何|我的|关于我|我(?:住|叫|喜欢|在)))
    |(?:说说|讲讲|谈谈|介绍(?:一下)?)我|^\W*{_POLITE}{_WISH}(?:查|找|搜索?|列|总结)(?:一下|一查|一找|找|查|看|出)(?=.)|(?:查|搜|找|看|列)(?:一下|一查|一找|看|出)?.*记忆|^\W*{_MY_THING}\W*$"""
)
# The program, or what it is connected to; a question about another thing may be one about what is remembered.
_ITSELF = r"(?:你|这个?(?=[怎如\W]|$)|模型|密钥|程序|软件|助手|ollama|openai|api|mnemoscope)"
_HOW_TO = r"(?:怎么|如何|怎样)(?:使用|用|连接|接入|配置|设置|开始|切换|更换|退出|安装)"
_ABOUT_ITSELF = _pattern(
    rf"""你(?:是谁|是什么|叫什么|叫啥|好吗|在吗|几岁|多大|最近|有什么(?:用|功能))|^\W*在吗|吃了吗
    |你(?:都|还)?(?:能|会|可以)(?:做|干|帮我?做?)(?:些)?(?:什么|啥|哪些)|你是(?!不是.*我)[^我]*吗
    |^\W*(?:我们?)?(?:要|该|应该|能|可以)?{_HOW_TO}(?:它|呢|啊)?\W*$|{_ITSELF}{_HOW_TO}|{_HOW_TO}.*{_ITSELF}
    |(?:什么|哪个|哪种|啥)(?:语言)?模型|^\W*(?:帮助|救命|帮帮我)|^\W*这个?(?:是|有)?(?:什么|啥|软件|程序|东西)"""
)
_FAVOUR = _pattern(
    rf"""^\W*{_POLITE}(?:请|帮我|帮忙|给我|替我|麻烦|拜托|你|您|能不能|能否|可不可以|可以|能|会)*(?:
    写|翻译|解释|生成|创建|(?:做|画|讲|唱|编)(?!什么|啥)|计算|算|总结|修改|改|修|实现|推荐|介绍|分析|比较|列出|设计
    |打开|运行|搜索)(?!.*(?:记忆|(?:是|在|叫|有)(?:什么|啥|哪|谁|几|多少)))"""
)
_GREETING = _pattern(rf"^\W*{_POLITE}(?:(?:早上|上午|中午|下午|晚上)好|早安?|晚安|再见|拜拜|哈+)?\W*$")
_REQUEST = _pattern(
    rf"""^\W*{_POLITE}(?:你|您)?(?:能不能|能否|可不可以|可以|能|会(?![议员计]))
    (?!.*(?:告诉我|记|知道|回忆|想起|怎么.*我))"""
)


def command_end(sentence: str) -> int | None:
    """Where the fact begins in a sentence that asks to remember one; None when it does not ask that."""
    plain = _TAG_QUESTION.sub("", sentence)
    match = _COMMAND.match(plain)
    if match is None or _KEEP_OUT.match(plain):
        return None
    rest = plain[match.end() :]
    has_word = _QUESTION_WORD.search(rest) is not None
    has_end = _QUESTION_END.search(rest) is not None
    if has_word and plain[match.end("wish") : match.end()].endswith("了"):
        return None  # 你记住了什么
    if match["verb"] == "记得" and (has_word or has_end or match["wish"].endswith(("你", "您"))):
        return None
    if has_end and (has_word or not match["wish"]) and ":" not in match.group():
        return None
    return match.end()


def fact_before(sentence: str) -> tuple[int, int] | None:
    """Where the fact stands in a sentence that asks at its end to remember it: `我住在杭州，请记住`."""
    match = _TAKE_AND_WRITE_DOWN.match(sentence) or _COMMAND_AT_END.match(sentence)
    return match.span("fact") if match else None


def names_only(fact: str) -> bool:
    """Whether it says of what, but not what: `我`, `我的生日`."""
    return _NAMES_ONLY.match(fact) is not None


def keeps_out(sentence: str) -> bool:
    """Whether it asks to forget or not to remember."""
    return _KEEP_OUT.match(sentence) is not None and _QUESTION_WORD.search(sentence) is None


def recalls(sentence: str) -> bool:
    """Whether it asks for what is remembered without being a question."""
    return _RECALL.search(sentence) is not None


def chats(sentence: str) -> bool:
    """Whether it greets, asks about the program itself, or asks a favour that takes a language model."""
    return any(pattern.search(sentence) for pattern in (_GREETING, _ABOUT_ITSELF, _FAVOUR, _REQUEST))


def asks(sentence: str) -> bool:
    """Whether it is a question."""
    return _QUESTION_END.search(sentence) is not None or _QUESTION_WORD.search(sentence) is not None
