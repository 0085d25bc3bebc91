"""The phrases by which it is known that a text repeats what a memory said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memory.agentic.frontmatter import parse_header

_MOST = 5_000
"""Phrases that are looked for at most, the longest first."""
_WORDS, _CHARACTERS, _IDEOGRAPHS = 3, 12, 5
"""What a phrase has at least: shorter ones turn up by chance in what tells of something else."""
_AROUND = re.compile(r"^(?:[\s>#*+_`“\"'-]|\d+[.)]\s|\[[ xX]\])+|[\s*_`”\"'.。!！?？;；,，-]+$")
_LABEL = re.compile(r"^(?:why|how to apply)\s*:\s*\**\s*", re.IGNORECASE)
_DATE = re.compile(r"\s*\(\d{4}-\d\d-\d\d\)\s*$")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_IDEOGRAPH = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")


class Phrases:
    """Finds and replaces phrases, whatever their case and the blank space in them.

    Args:
        texts: all that a memory has held, headers included.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        found = {phrase for text in texts for phrase in _phrases(text)}
        self._phrases = sorted(found, key=lambda phrase: (-len(phrase), phrase))[:_MOST]

    def replaced(self, text: str, by: str) -> str:
        """`text` with another text in the place of each phrase."""
        plain = _plain(text)
        for phrase in self._phrases:
            if phrase in plain:
                pattern = r"\s+".join(map(re.escape, phrase.split()))
                text = re.sub(pattern, lambda _: by, text, flags=re.IGNORECASE)
        return text


def _phrases(text: str) -> Iterator[str]:
    """The lines and sentences that tell something."""
    header = parse_header(text)
    described = [header.fields.get("name", ""), header.fields.get("description", "")]
    for line in (*described, *header.body.splitlines()):
        for part in dict.fromkeys((line, *_SENTENCE_END.split(line))):
            phrase = _plain(_stripped(part))
            if _tells(phrase):
                yield phrase


def _stripped(line: str) -> str:
    """A line without what Markdown and this program put around what it says."""
    before = None
    while line != before:
        before, line = line, _LABEL.sub("", _DATE.sub("", _AROUND.sub("", line)))
    return line


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _tells(phrase: str) -> bool:
    is_long = len(phrase) >= _CHARACTERS and len(phrase.split()) >= _WORDS
    return is_long or len(_IDEOGRAPH.findall(phrase)) >= _IDEOGRAPHS
