"""A Markdown text that grows: what is complete is parsed once, what is being written as it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tui.lines import Line
from tui.markdown.blocks import Block
from tui.markdown.cap import MAX_CHARACTERS, capped
from tui.markdown.parse import Element, parse

_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:", re.MULTILINE)


class MarkdownDocument:
    """The blocks of a text. Never changes: a longer text makes a new document that shares what has not changed.

    While a text grows, only its last top-level element is parsed anew: what comes behind cannot change what is before
    it, but for references to link definitions, which `settled` puts right.

    Attributes:
        text: what it is the document of.
    """

    def __init__(
        self, text: str = "", done: Sequence[Block] = (), tail: Sequence[Block] = (), tail_start: int = 0
    ) -> None:
        self.text = text
        self._done = done
        self._tail = tail
        self._tail_start = tail_start
        self._lines: list[Line] = []
        self._width: int | None = None

    def grown(self, text: str) -> MarkdownDocument:
        """The document of `text`, at a cost that depends on its last element when it continues this one's."""
        text = _with_newlines(text)
        continues = text.startswith(self.text)
        done, start = (self._done, self._tail_start) if continues else ((), 0)
        tail = text[start:]
        shown = capped(tail, MAX_CHARACTERS - start)
        elements = parse(shown)
        if shown == tail and len(elements) > 1:
            done = (*done, *_blocks(elements[:-1]))
            start += _offset_of_line(tail, elements[-1].line)
            elements = elements[-1:]
        return MarkdownDocument(text, done, _blocks(elements), start)

    def settled(self, text: str) -> MarkdownDocument:
        """The document of `text`, which is complete."""
        if _LINK_DEFINITION.search(text):
            return MarkdownDocument(text, (), _blocks(parse(capped(_with_newlines(text)))))
        return self.grown(text)

    def cost(self, text: str) -> int:
        """How many characters would be parsed to show `text`."""
        return len(text) - self._tail_start if text.startswith(self.text) else len(text)

    def is_laid_out(self, width: int) -> bool:
        """Whether `lines` costs nothing at this width."""
        return width == self._width

    def lines(self, width: int) -> list[Line]:
        """The text in lines of at most `width` cells."""
        if width != self._width:
            lines: list[Line] = []
            for block in (*self._done, *self._tail):
                if lines and block.gap is not None:
                    lines.append(Line(block.gap, len(block.gap)))
                lines.extend(block.lines(width))
            self._lines, self._width = lines, width
        return self._lines


def _blocks(elements: list[Element]) -> list[Block]:
    return [block for element in elements for block in element.blocks]


def _with_newlines(text: str) -> str:
    """The parser takes a lone return for a newline; lines can be counted only when there are none."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _offset_of_line(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
