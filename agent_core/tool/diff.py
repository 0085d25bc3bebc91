"""Unified diffs of files, bounded whatever the files are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from agent_core.paths import one_line
from agent_core.tool.file_kind import binary_kind

CONTEXT = 3
"""Unchanged lines around a change."""
COMPARED_LINES = 2_000
"""Where more lines than this lie between the first and the last change, they are not compared one by one."""
SHOWN_LINES = 500
"""Lines of a diff before the rest of it is left out."""
SHOWN_CHARACTERS = 500
"""Characters of one line."""


def unified_diff(before: bytes | None, after: bytes | None, name: str) -> str:
    """What changed, as a unified diff; empty when nothing did.

    Args:
        before: the file's bytes; None when there was none.
        after: the file's bytes now; None when it is gone.
        name: what to call the file.

    What is left out (of a long diff, of a long line, of files that are no text) is said in its place. Bytes that are
    not UTF-8 show as U+FFFD. Carriage returns show as `␍` where some lines have them and others do not.
    """
    if before == after:
        return ""
    name = one_line(name)
    head = [f"--- {'/dev/null' if before is None else name}", f"+++ {'/dev/null' if after is None else name}"]
    kind = binary_kind(before or b"") or binary_kind(after or b"")
    if kind:
        return "\n".join(
            [*head, f"[not shown: {kind}, {len(before or b''):,} bytes before, {len(after or b''):,} after]"]
        )
    body: list[str] = []
    for line in _hunks(before or b"", after or b""):
        if len(body) == SHOWN_LINES:
            body.append(f"[left out: the rest of a diff of more than {SHOWN_LINES} lines]")
            break
        body.append(line)
    return "\n".join(head + body)


def _hunks(before: bytes, after: bytes) -> Iterator[str]:
    start, behind = _changed_part(before, after)
    first = before.count(b"\n", 0, start)
    returns, newlines = (before.count(ending) + after.count(ending) for ending in (b"\r\n", b"\n"))
    show_returns = 0 < returns < newlines
    old, new = _lines(before[start : len(before) - behind]), _lines(after[start : len(after) - behind])
    if max(len(old), len(new)) > COMPARED_LINES:
        yield _header(first, len(old), first, len(new))
        yield f"[not shown line by line: {len(old):,} lines before, {len(new):,} after]"
        return
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield _header(first + old_start, old_end - old_start, first + new_start, new_end - new_start)
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _shown(" ", old[old_start:old_end], show_returns)
            else:
                yield from _shown("-", old[old_start:old_end], show_returns)
                yield from _shown("+", new[new_start:new_end], show_returns)


def _changed_part(before: bytes, after: bytes) -> tuple[int, int]:
    """How many bytes to leave off at the start and at the end: those of whole lines that are the same in both.

    Found without splitting, since splitting a large file into lines takes many times its size.
    """
    shorter = min(len(before), len(after))
    start = _longest(shorter, lambda low, high: before[low:high] == after[low:high])
    ends_alike = _longest(
        shorter - start,
        lambda low, high: before[len(before) - high : len(before) - low] == after[len(after) - high : len(after) - low],
    )
    for _ in range(CONTEXT + 1):
        start = before.rfind(b"\n", 0, max(start, 0))
    end = len(before) - ends_alike
    for _ in range(CONTEXT + 1):
        end = before.find(b"\n", end) + 1 or len(before)
    return start + 1, len(before) - end


def _longest(limit: int, is_same: Callable[[int, int], bool]) -> int:
    """The largest length up to `limit` so that all up to it is the same; `is_same` compares one range."""
    same, differs = 0, limit + 1
    while same + 1 < differs:
        middle = (same + differs) // 2
        if is_same(same, middle):
            same = middle
        else:
            differs = middle
    return same


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _header(old_start: int, old_count: int, new_start: int, new_count: int) -> str:
    return f"@@ -{_range(old_start, old_count)} +{_range(new_start, new_count)} @@"


def _range(start: int, count: int) -> str:
    # An empty range is named by the line before it; a range of one line goes without its length.
    place = start + 1 if count else start
    return str(place) if count == 1 else f"{place},{count}"


def _shown(sign: str, lines: Sequence[bytes], show_returns: bool) -> Iterator[str]:
    for line in lines:
        body = line.removesuffix(b"\n")
        ending = "␍" if show_returns and body.endswith(b"\r") else ""
        # No character takes more than four bytes; the rest of a long line need not be looked at.
        text = body.removesuffix(b"\r")[: SHOWN_CHARACTERS * 4 + 1].decode("utf-8", "replace")
        cut = f" … [cut: the line has {len(line):,} bytes]" if len(text) > SHOWN_CHARACTERS else ""
        yield f"{sign}{text[:SHOWN_CHARACTERS]}{cut}{ending}"
        if not line.endswith(b"\n"):
            yield "\\ No newline at end of file"
