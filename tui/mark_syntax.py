"""How marks are written where a person types them: `planning, "a,b" !draft`.

Blanks and commas separate. A mark that holds one of them, or a quote, or that begins with `!`, is written as a JSON
string: `"a,b"`, `"!x"`. A `!` before a mark leaves out what has it. Upper and lower case differ. Where two filters are
typed, a `|` stands between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agent_core.marks import MemoryFilter
from agent_core.text import well_formed

_COMMAS = ",，"
_EXCLUDES = "!！"
_QUOTE = '"'
_BARS = "|｜"
_ZERO_WIDTH_JOINER = "\u200d"
_strings = json.JSONDecoder(strict=False)


class MarkSyntaxError(ValueError):
    """What was typed is not a list of marks; the message is one line and names the position, from 1."""


class _Item(NamedTuple):
    mark: str
    excludes: bool
    position: int


def parse_marks(text: str) -> tuple[str, ...]:
    """The marks in `text`, each once, in order; empty for blank text.

    Raises:
        MarkSyntaxError: a quote is not closed, a mark is empty, or one is written with `!`.
    """
    items = list(_items(text))
    for item in items:
        if item.excludes:
            quoted = format_mark(f"!{item.mark}")
            raise MarkSyntaxError(f"position {item.position}: ! has no meaning here; a mark that begins so is {quoted}")
    return tuple(dict.fromkeys(item.mark for item in items))


def parse_mark(text: str) -> str:
    """The one mark in `text`.

    Raises:
        MarkSyntaxError: there is none, there are several, or `parse_marks` refuses it.
    """
    marks = parse_marks(text)
    if len(marks) != 1:
        raise MarkSyntaxError('one mark is wanted; one with blanks is written in quotes: "a b"')
    return marks[0]


def parse_filter(text: str, *, prepend_summary: bool = True) -> MemoryFilter:
    """The filter that `text` means: marks of which a message needs one, and with `!` those of which it may have none.

    Raises:
        MarkSyntaxError: a quote is not closed, or a mark is empty.
    """
    items = list(_items(text))
    wanted = dict.fromkeys(item.mark for item in items if not item.excludes)
    unwanted = dict.fromkeys(item.mark for item in items if item.excludes)
    return make_filter(tuple(wanted), tuple(unwanted), prepend_summary)


def parse_filters(text: str, *, prepend_summary: bool = True) -> list[MemoryFilter]:
    """The filters in `text`, between which a `|` stands alone: `planning !draft | notes`. Each side may be empty.

    Raises:
        MarkSyntaxError: `parse_filter` refuses one of them.
    """
    filters, start = [], 0
    for end in (*_bars(text), len(text)):
        # With blanks in front, an error names its position in the whole text.
        filters.append(parse_filter(" " * start + text[start:end], prepend_summary=prepend_summary))
        start = end + 1
    return filters


def make_filter(wanted: tuple[str, ...], unwanted: tuple[str, ...], prepend_summary: bool = True) -> MemoryFilter:
    """The filter with these marks in its simplest form, so that equal filters compare equal."""
    return MemoryFilter(_simplest(wanted), _simplest(unwanted), prepend_summary)


def format_mark(mark: str) -> str:
    """The mark as `parse_marks` reads it; nothing in it can act on a terminal."""
    needs_quotes = (
        not mark
        or mark[0] in _EXCLUDES
        or mark in _BARS
        or any(
            character.isspace() or character in _COMMAS or character == _QUOTE or not _is_plain(character)
            for character in mark
        )
    )
    return f'"{"".join(map(_escaped, mark))}"' if needs_quotes else mark


def format_marks(marks: tuple[str, ...]) -> str:
    """Marks as `parse_marks` reads them."""
    return " ".join(map(format_mark, marks))


def format_filter(memory_filter: MemoryFilter) -> str:
    """The marks of a filter as `parse_filter` reads them; empty when everything passes."""
    unwanted = (f"!{format_mark(mark)}" for mark in memory_filter.unwanted)
    return " ".join([*map(format_mark, memory_filter.wanted or ()), *unwanted])


def describe_filter(memory_filter: MemoryFilter) -> str:
    """A filter in words for people: `everything`, `planning !draft`, `planning, without the summary`."""
    marks = format_filter(memory_filter) or "everything"
    return marks if memory_filter.prepend_summary else f"{marks}, without the summary"


def explain_contradiction(memory_filter: MemoryFilter) -> str:
    """Why a filter lets less through than it seems to, in one line; empty when it does not contradict itself."""
    wanted = memory_filter.wanted or ()
    both = [mark for mark in wanted if mark in memory_filter.unwanted]
    if not both:
        return ""
    names = " and ".join(map(format_mark, both))
    verb = "is" if len(both) == 1 else "are"
    effect = "nothing can pass" if len(both) == len(wanted) else f"{'it' if len(both) == 1 else 'they'} cannot pass"
    return f"{names} {verb} both wanted and left out, and leaving out wins: {effect}"


def complete(text: str, known: Iterable[str]) -> str | None:
    """`text` with its last mark completed to the first of the known marks that begins so; None when none does."""
    start = _last_item(text)
    typed = text[start:]
    if not typed:
        return None
    written = (format_mark(mark) for mark in known)
    found = next((mark for mark in written if mark.startswith(typed) and mark != typed), None)
    return text[:start] + found if found else None


def _last_item(text: str) -> int:
    """Where the last mark of `text` begins, finished or not, behind its `!`."""
    position = start = 0
    while (position := _skip_separators(text, position)) < len(text):
        start = position = position + (text[position] in _EXCLUDES)
        try:
            _, position = _mark(text, position)
        except MarkSyntaxError:
            return start
        if position == len(text):
            return start
    return len(text)


def _bars(text: str) -> Iterator[int]:
    """Where a bar stands that is neither part of a mark nor in quotes, as far as the text can be read."""
    position = 0
    while (position := _skip_separators(text, position)) < len(text):
        start = position
        try:
            _, position = _mark(text, position + (text[position] in _EXCLUDES))
        except MarkSyntaxError:
            return
        if text[start:position] in _BARS:
            yield start


def _items(text: str) -> Iterator[_Item]:
    position = 0
    while (position := _skip_separators(text, position)) < len(text):
        start = position
        excludes = text[position] in _EXCLUDES
        position += excludes
        mark, position = _mark(text, position)
        if not mark:
            what = "there is no mark after !" if excludes else "a mark cannot be empty"
            raise MarkSyntaxError(f"position {start + 1}: {what}")
        yield _Item(well_formed(mark), excludes, start + 1)


def _mark(text: str, start: int) -> tuple[str, int]:
    if text.startswith(_QUOTE, start):
        return _quoted(text, start)
    end = start
    while end < len(text) and not _separates(text[end]):
        if text[end] == _QUOTE:
            raise MarkSyntaxError(f'position {end + 1}: a quote inside a mark; put the whole mark in quotes: "a b"')
        end += 1
    return text[start:end], end


def _quoted(text: str, start: int) -> tuple[str, int]:
    try:
        mark, end = _strings.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if error.pos == start:
            raise MarkSyntaxError(f"position {start + 1}: this quote is not closed") from None
        raise MarkSyntaxError(f"position {error.pos + 1}: \\ is not followed by something that it can escape") from None
    if end < len(text) and not _separates(text[end]):
        raise MarkSyntaxError(f"position {end + 1}: a blank or a comma is missing after the closing quote")
    return str(mark), end


def _skip_separators(text: str, position: int) -> int:
    while position < len(text) and _separates(text[position]):
        position += 1
    return position


def _separates(character: str) -> bool:
    return character.isspace() or character in _COMMAS


def _is_plain(character: str) -> bool:
    # A joiner is not printable by itself, yet it holds emoji together and does no harm.
    return character.isprintable() or character == _ZERO_WIDTH_JOINER


def _escaped(character: str) -> str:
    is_safe = character not in '"\\' and (_is_plain(character) or (character.isspace() and character.isprintable()))
    return character if is_safe else json.dumps(character)[1:-1]


def _simplest(marks: tuple[str, ...]) -> str | tuple[str, ...] | None:
    if not marks:
        return None
    return marks[0] if len(marks) == 1 else marks
