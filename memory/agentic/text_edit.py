"""From the text that a person edited back to the bytes of the file, so that what they left alone stays as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from agent_core.text import well_formed
from memory.agentic.memory_file import is_binary

BOM = "\ufeff"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
_NOT_UTF8 = re.compile(r"[\udc80-\udcff]")
_COMPARED_LINES = 5_000
Line = tuple[str, str]
"""The text of a line, and its end, which the last line may lack."""


class NotText(ValueError):
    """The file is binary: an editor could show nothing of it, and would save that."""


class NotUtf8(ValueError):
    """A line that was changed holds bytes that are not UTF-8, which the editor could not show."""


def edited(data: bytes, change: Callable[[str], str]) -> bytes:
    """Change a file as text; a byte order mark and bytes that are not UTF-8 come back as they were."""
    text = data.decode("utf-8", "surrogateescape")
    bom = BOM if text.startswith(BOM) else ""
    return (bom + change(text.removeprefix(bom))).encode("utf-8", "surrogateescape")


def with_text(data: bytes | None, text: str) -> bytes:
    """The file with `text` in it, as an editor shows and returns it.

    Lines that show as they did keep their bytes and their ends; new ones get the line end in use around them. A byte
    order mark stays.

    Args:
        data: the file before; None when there is none.
        text: all of its text, with any line ends; what was not UTF-8 shows as U+FFFD.

    Raises:
        NotText, NotUtf8: see there.
    """
    text = well_formed(text)
    if data is None:
        return text.removeprefix(BOM).encode()
    if is_binary(data):
        raise NotText("it is binary, and no text can be edited in it")

    def change(before: str) -> str:
        # Some editors put a mark in front; one that was shown, behind the file's own, is text.
        new = text if before.startswith(BOM) else text.removeprefix(BOM)
        return "".join(_merged(split_lines(before), split_lines(new)))

    return edited(data, change)


def split_lines(text: str) -> list[Line]:
    """The lines of a text with their ends; a text that ends with a line end has no empty line behind it."""
    return [(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]


def matching_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """How to get from one list of lines to another, as `SequenceMatcher.get_opcodes`, in bounded time."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    behind = 0
    while behind < min(len(old), len(new)) - start and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    old_end, new_end = len(old) - behind, len(new) - behind
    if start:
        yield "equal", 0, start, 0, start
    if max(old_end, new_end) - start > _COMPARED_LINES:
        yield "replace", start, old_end, start, new_end
    else:
        matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag, i1 + start, i2 + start, j1 + start, j2 + start
    if behind:
        yield "equal", old_end, len(old), new_end, len(new)


def _merged(old: list[Line], new: list[Line]) -> Iterator[str]:
    shown = [line.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for line, _ in old]
    default = old[0][1] or "\n" if old else None
    for tag, i1, i2, j1, j2 in matching_blocks(shown, [line for line, _ in new]):
        if tag == "equal":
            for (line, line_end), (_, wanted) in zip(old[i1:i2], new[j1:j2], strict=True):
                yield line + _end(line_end, wanted, default)
            continue
        if any(_NOT_UTF8.search(line) for line, _ in old[i1:i2]) and any("\ufffd" in line for line, _ in new[j1:j2]):
            raise NotUtf8(f"line {i1 + 1} holds bytes that are not UTF-8: change it in the encoding that it is in")
        around = next((line_end for _, line_end in reversed(old[:i2]) if line_end), default)
        for line, line_end in new[j1:j2]:
            yield line + (around or line_end if line_end else "")


def _end(line_end: str, wanted: str, default: str | None) -> str:
    """The end of a line that stays: as it was, unless it has become the last line or is so no more."""
    if not wanted:
        return ""
    return line_end or default or wanted
