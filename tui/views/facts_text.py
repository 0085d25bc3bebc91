"""What a memory of facts did for a reply, in lines and in whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from agent_core.event import FactChange, FactsSource, FactsWritten, RecalledMemory
from tui.views.facts import ToolSearch, Turn, Write
from tui.views.figures import plural, span
from tui.views.hints import Lookup
from tui.views.message_details import Section
from tui.views.timeline import OUTCOMES

Tone = Literal["", "quiet", "good", "odd", "bad"]

OPEN, NOT_DONE = "⋯", "–"
_ACTIONS = {"added": "+", "updated": "~", "superseded": "↷", "deleted": "−", "known": "="}
_FINISHES = {"stored": "✎", "nothing": "○", "accepted": "»", "unknown": "?", "skipped": NOT_DONE, "failed": "✗"}
_ORIGINS: dict[FactsSource, str] = {
    "extracted": "extracted by the model",
    "as_given": "as the model gave it",
    "by_rules": "by fixed rules",
    "by_hand": "by hand",
}
_UNFINISHED = {"interrupted": "was interrupted", "max_iters": "came to no end", "error": "failed"}
_CUT_OFF = "cut off: the program ended before it did"


class Told(NamedTuple):
    """One line: its text, how it is to be taken, and whether it belongs to the line above."""

    text: str
    tone: Tone = ""
    is_detail: bool = False


def title(turn: Turn) -> str:
    """What a reply answers; what happened outside of replies, in words."""
    if turn.reply is not None:
        return turn.reply.question or "(the question is not known)"
    is_by_hand = any(write.written is not None and write.written.how == "by_hand" for write in turn.writes)
    return "by hand" if is_by_hand else "left over from an earlier run"


def turn_lines(turn: Turn, now: float, *, is_running: bool) -> list[Told]:
    """What happened, one line each.

    Args:
        turn: the reply.
        now: seconds since the epoch.
        is_running: whether the reply is the one that runs.
    """
    lines = [Told(f"{NOT_DONE} not searched: {reason}", "quiet") for reason in turn.skipped]
    for lookup in turn.lookups:
        lines += [_lookup_line(lookup, now if is_running else None), *map(_memory_line, lookup.memories)]
    lines += [_tool_line(search) for search in turn.tool_searches]
    for write in turn.writes:
        lines += [_write_line(write, now), *(_change_lines(write.written) if write.written is not None else ())]
    if not turn.writes and (turn.lookups or turn.skipped) and turn.finish is not None:
        reason = _UNFINISHED.get(turn.finish)
        lines.append(Told(f"{NOT_DONE} not written: {f'the reply {reason}' if reason else 'nothing to keep'}", "quiet"))
    return lines


def turn_sections(turn: Turn, now: float, *, is_running: bool) -> list[Section]:
    """The same to be read whole, with what the model was answered where it searched by itself."""
    lines = turn_lines(turn, now, is_running=is_running)
    answers = [Section(f"answered to {_words(one)}", one.result) for one in turn.tool_searches if one.result]
    return [Section("", "\n".join(f"{'    ' * line.is_detail}{line.text}" for line in lines)), *answers]


def _lookup_line(lookup: Lookup, now: float | None) -> Told:
    found = "; ".join(stage.detail for stage in lookup.stages if stage.detail)
    took = span((lookup.ended_at or lookup.settled_at) - lookup.started)
    if lookup.settled is None:
        return _open_lookup_line(lookup, now)
    glyph, detail = OUTCOMES[lookup.settled.outcome], lookup.settled.detail
    match lookup.settled.outcome:
        case "injected":
            after = span(lookup.settled_at - lookup.started)
            return Told(f"{glyph} told at round {lookup.settled.round} after {after}{_in(found)}", "good")
        case "nothing":
            return Told(f"{glyph} searched in {took}: nothing fits{_in(found)}")
        case "known":
            return Told(f"{glyph} not told again: {detail or 'known already'}{_in(found)}")
        case "late":
            return Told(f"{glyph} not told: the search was not over in time ({took}){_in(found)}", "odd")
        case "cancelled":
            return Told(f"{glyph} search stopped with the reply, after {took}", "odd")
        case "failed":
            error = detail or (lookup.ended.error if lookup.ended is not None else "")
            return Told(f"{glyph} the search failed{f': {error}' if error else ''}", "bad")


def _open_lookup_line(lookup: Lookup, now: float | None) -> Told:
    if now is None:
        return Told(f"{OPEN} search {_CUT_OFF}", "odd")
    if lookup.ended is not None:
        return Told(f"{OPEN} {plural(len(lookup.memories), 'memory', 'memories')} found, told at the next round")
    return Told(f"{OPEN} searching for {span(now - lookup.started)}")


def _memory_line(memory: RecalledMemory) -> Told:
    score = "    " if memory.score is None else f"{memory.score:.2f}"
    return Told(f"{score}  {memory.text}{f'  ({memory.reason})' if memory.reason else ''}", "quiet", True)


def _tool_line(search: ToolSearch) -> Told:
    text = f"the model searched for {_words(search)}"
    if search.ended is None:
        return Told(f"{OPEN} {text}")
    if search.ended.state != "success":
        return Told(f"✗ {text}: {search.ended.state}", "bad")
    count = sum(line.startswith("- ") for line in search.result.splitlines())
    return Told(f"{'●' if count else '○'} {text}: {plural(count, 'memory', 'memories')}, {span(search.ended.seconds)}")


def _write_line(write: Write, now: float) -> Told:
    if write.written is None:
        if write.is_cut_off:
            return Told(f"{OPEN} writing {_CUT_OFF}", "odd")
        return Told(f"{OPEN} writing for {span(now - write.started)}")
    event = write.written
    glyph, took, origin = _FINISHES[event.finish], span(event.seconds), _ORIGINS[event.how]
    how = origin if event.how == "by_hand" else f"{origin}, {took}"
    match event.finish:
        case "stored":
            return Told(f"{glyph} written ({how}){_after(event.detail)}", "good")
        case "nothing":
            return Told(f"{glyph} nothing new to keep ({how}){_after(event.detail)}")
        case "accepted":
            return Told(f"{glyph} handed over{_after(event.detail)}", "good")
        case "unknown":
            return Told(f"{glyph} not known whether it was kept{_after(event.detail)}", "odd")
        case "skipped":
            return Told(f"{glyph} not written{_after(event.detail)}", "quiet")
        case "failed":
            return Told(f"{glyph} not written, it failed{_after(event.detail)}", "bad")


def _change_lines(event: FactsWritten) -> Iterator[Told]:
    texts = {change.memory_id: change.text for change in event.changes if change.memory_id}
    for change in event.changes:
        yield Told(f"{_ACTIONS[change.action]} {_change(change, texts)}", "quiet", True)


def _change(change: FactChange, texts: dict[str, str]) -> str:
    text = change.text or f"the memory {change.memory_id}"
    match change.action:
        case "superseded":
            newer = texts.get(change.replaced_by)
            return f"{text}  (replaced{f' by: {newer}' if newer else ' by a newer one'})"
        case "known":
            return f"{text}  (known already)"
        case "updated" | "deleted":
            return f"{text}  ({change.action})"
    return text


def _words(search: ToolSearch) -> str:
    return ", ".join(f"“{word}”" for word in search.keywords) or "nothing"


def _in(found: str) -> str:
    return f" ({found})" if found else ""


def _after(detail: str) -> str:
    return f": {detail}" if detail else ""
