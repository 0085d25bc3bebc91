"""Which of the two languages a text is in, and a form of it in which commands are easy to spot."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA_OR_HANGUL = re.compile("[\u3041-\u30ff\uac00-\ud7a3]")
_LATIN_WORD = re.compile("[A-Za-z]+")
_ENOUGH = 2_000
"""A language shows in so many characters."""

# One character for one, so that what is found in the folded text is at the same place in the text itself.
_FOLD = str.maketrans(
    "？！：；，（）　’‘“”記請嗎麼別們個誰幾還幫錄備註這寫進憶時裡學會對應寶說話聽讓給歡點幹從現開後來關於歲樣為問號",
    "?!:;,() ''\"\"记请吗么别们个谁几还帮录备注这写进忆时里学会对应宝说话听让给欢点干从现开后来关于岁样为问号",
)


def fold(text: str) -> str:
    """`text` with full-width punctuation, curly quotes and common traditional characters made plain, same length."""
    return text.translate(_FOLD)


def language_of(text: str) -> Language:
    """Chinese when it has more Chinese characters than Latin words; English for everything else."""
    head = text[:_ENOUGH]
    if _KANA_OR_HANGUL.search(head):
        return "en"
    return "zh" if len(_HAN.findall(head)) > len(_LATIN_WORD.findall(head)) else "en"
