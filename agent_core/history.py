"""Which stored messages go into a prompt, which do not, and why: a pure judgement over entries.

Rules, in this order: what the summary covers stays out; the running reply goes in; the filter decides on the rest; of
several messages that replace each other only the newest goes; calls and results go in pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from agent_core.marks import COMPRESSED, Decision, Entry, MemoryFilter, decide
from agent_core.message import Msg, SystemMsg, ToolCallBlock, ToolResultBlock

COVERED = "covered by the summary"
RUNNING = "belongs to the running reply"
REPLACED = "replaced by a newer one"
UNPAIRED = "its call or result is missing"
REPLACES = "replaces"
"""Metadata key: of the messages with the same value only the newest is sent."""


class Verdict(NamedTuple):
    """Whether one stored message is sent, and why (not); an empty reason means that nothing speaks against it."""

    entry: Entry
    included: bool
    reason: str


def judge_history(
    entries: Sequence[Entry],
    memory_filter: MemoryFilter,
    *,
    running: Collection[str] = (),
    has_summary: bool = False,
) -> list[Verdict]:
    """Judge every entry, in the order given.

    Args:
        entries: what the working memory holds.
        memory_filter: the applied filter.
        running: ids of the messages that the running reply has stored.
        has_summary: whether there is a summary that can stand for what it covers.
    """
    covering = has_summary and memory_filter.prepend_summary
    # Few combinations of marks occur, however long the history is.
    decisions = {marks: decide(marks, memory_filter) for marks in {tuple(entry.marks) for entry in entries}}
    verdicts = [_judge(entry, decisions[tuple(entry.marks)], running, covering) for entry in entries]
    return _drop_unpaired_results(_drop_replaced(verdicts))


def pair_up(messages: Sequence[Msg]) -> list[Msg]:
    """Put each call's results right behind it, and a made-up `interrupted` result where there is none.

    Results must have been freed of those without a call (`judge_history` does it). Servers refuse anything else between
    a call and its result, and a call without one.
    """
    results: dict[str, list[Msg]] = {}
    for msg in messages:
        for result in msg.get_content_blocks(ToolResultBlock):
            results.setdefault(result.id, []).append(msg)
    paired: list[Msg] = []
    for msg in messages:
        if _is_result(msg):
            continue
        paired.append(msg)
        for call in msg.get_content_blocks(ToolCallBlock):
            waiting = results.get(call.id)
            paired.append(waiting.pop(0) if waiting else interrupted_result(call))
    return paired


def open_end(messages: Sequence[Msg]) -> Sequence[Msg]:
    """What a reply without inputs goes on with: what the user said last, in one message or several, and all since."""
    is_users = [msg.role == "user" for msg in messages]
    start = max((place for place, one in enumerate(is_users) if one), default=len(messages))
    while start and is_users[start - 1]:
        start -= 1
    return messages[start:]


def interrupted_result(call: ToolCallBlock) -> Msg:
    """The result of a call that never got one; its id is stable, so that a prompt stays byte-identical."""
    block = ToolResultBlock(call.id, call.name, "Interrupted: this call did not finish.", "interrupted")
    return SystemMsg(call.name, [block], id=f"interrupted:{call.id}", created_at=0.0)


def _judge(entry: Entry, decision: Decision, running: Collection[str], covering: bool) -> Verdict:
    if covering and COMPRESSED in entry.marks:
        return Verdict(entry, False, COVERED)
    if entry.msg.id in running:
        return Verdict(entry, True, RUNNING)
    return Verdict(entry, *decision)


def _drop_replaced(verdicts: list[Verdict]) -> list[Verdict]:
    newest: set[str] = set()
    for index in range(len(verdicts) - 1, -1, -1):
        entry, included, _ = verdicts[index]
        key = entry.msg.get_metadata(REPLACES) if included else None
        if not isinstance(key, str):
            continue
        if key in newest:
            verdicts[index] = Verdict(entry, False, REPLACED)
        newest.add(key)
    return verdicts


def _drop_unpaired_results(verdicts: list[Verdict]) -> list[Verdict]:
    open_calls: dict[str, int] = {}
    for index, (entry, included, _) in enumerate(verdicts):
        if not included or entry.msg.is_plain:
            continue
        for block in entry.msg.blocks:
            if isinstance(block, ToolCallBlock):
                open_calls[block.id] = open_calls.get(block.id, 0) + 1
        for block in entry.msg.blocks:
            if isinstance(block, ToolResultBlock):
                if open_calls.get(block.id, 0):
                    open_calls[block.id] -= 1
                else:
                    verdicts[index] = Verdict(entry, False, UNPAIRED)
    return verdicts


def _is_result(msg: Msg) -> bool:
    return bool(msg.get_content_blocks(ToolResultBlock))
