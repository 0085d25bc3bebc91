"""Taking back a change of a file that has changed since, as far as that is possible without touching other lines."""

from __future__ import annotations

from collections.abc import Sequence

from memory.agentic.text_edit import Line, edited, matching_blocks, split_lines


def revert_lines(before: bytes, after: bytes, present: bytes) -> bytes | None:
    """`present` without the change from `before` to `after`: lines that it added go, lines that it removed come back.

    None when the lines that it added are not there any more as they were added.
    """
    if present == after:
        return before
    old, new = (_lines(data) for data in (before, after))
    texts = [text for text, _ in new]
    blocks = [block for block in matching_blocks([text for text, _ in old], texts) if block[0] != "equal"]
    lines: list[Line] | None = _lines(present)
    for _, i1, i2, j1, j2 in reversed(blocks):
        if lines is None:
            return None
        context = (texts[j1 - 1] if j1 else None, texts[j2] if j2 < len(texts) else None)
        lines = _replaced(lines, texts[j1:j2], old[i1:i2], context)
    if lines is None:
        return None
    reverted = lines
    return edited(present, lambda _: "".join(text + end for text, end in _ended(reverted)))


def _lines(data: bytes) -> list[Line]:
    return split_lines(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))


def _replaced(
    lines: list[Line], wanted: Sequence[str], by: Sequence[Line], context: tuple[str | None, str | None]
) -> list[Line] | None:
    """`lines` with a run of them replaced; `context` are the lines that stood before and behind it."""
    texts = [text for text, _ in lines]
    if wanted:
        places = [start for start in range(len(texts)) if texts[start : start + len(wanted)] == list(wanted)]
        if not places:
            return None
        start = max(places, key=lambda place: _fits(texts, place, place + len(wanted), context))
        return [*lines[:start], *by, *lines[start + len(wanted) :]]
    start = _place(texts, *context)
    return [*lines[:start], *by, *lines[start:]]


def _place(texts: Sequence[str], before: str | None, behind: str | None) -> int:
    """Where lines come back: behind the one that stood before them, else before the one behind them, else last."""
    if before is not None and before in texts:
        return texts.index(before) + 1
    return texts.index(behind) if behind is not None and behind in texts else len(texts)


def _fits(texts: Sequence[str], start: int, end: int, context: tuple[str | None, str | None]) -> int:
    """How many of the lines around a place are those of the context."""
    around = (texts[start - 1] if start else None, texts[end] if end < len(texts) else None)
    return sum(is_there == expected for is_there, expected in zip(around, context, strict=True))


def _ended(lines: list[Line]) -> list[Line]:
    """Lines of which only the last may lack an end."""
    default = next((end for _, end in lines if end), "\n")
    return [(text, end or default) for text, end in lines[:-1]] + lines[-1:]
