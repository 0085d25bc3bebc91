"""The one place that turns system prompt, working memory and tools into a request, with an account of each part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent_core.event import PromptPart
from agent_core.history import UNPAIRED, Verdict, judge_history, pair_up
from agent_core.marks import HINT, Entry, MemoryFilter
from agent_core.message import HintBlock, Msg, SystemMsg
from agent_core.model.base import ToolSchema
from agent_core.text import first_line
from agent_core.tokens import MESSAGE_OVERHEAD, estimate_message_tokens, estimate_schema_tokens, estimate_tokens

SUMMARY_ID = "compressed-summary"
"""Id of the message that the summary is sent as."""
SYSTEM_ID = "system-prompt"
"""Id of the message that the system prompt is sent as."""
_LABEL_LENGTH = 80


class Prompt(NamedTuple):
    """A request, and the account of it.

    `parts` lists everything that was considered, in prompt order: parts that are sent, and messages that are not.
    `tokens` is the estimate for what is sent.
    """

    messages: tuple[Msg, ...]
    tools: tuple[ToolSchema, ...]
    parts: tuple[PromptPart, ...]
    tokens: int


def summary_message(summary: str) -> Msg:
    """The message that a summary is sent as; equal for equal summaries."""
    return Msg("user", summary, "user", id=SUMMARY_ID, created_at=0.0)


def base_part(system_prompt: str) -> PromptPart:
    """The agent's own system prompt as the first part."""
    return PromptPart("base", "base", "system prompt", estimate_tokens(system_prompt), text=system_prompt)


def extend_system_prompt(
    parts: Sequence[PromptPart], answer: str | Sequence[PromptPart], source: str
) -> list[PromptPart]:
    """Take over what a middleware's `on_system_prompt` gave.

    Args:
        parts: the system prompt so far.
        answer: parts to be appended after a blank line, or the new text: one that keeps the old text as its prefix adds
            one part, any other takes the place of all of them.
        source: the middleware's name.
    """
    if not isinstance(answer, str):
        gap = "\n\n" if parts else ""
        return _with_keys_of_their_own([*parts, *(replace(part, text=gap + part.text) for part in answer)])
    text = system_text(parts)
    if answer == text:
        return list(parts)
    kept, added = (list(parts), answer[len(text) :]) if answer.startswith(text) else ([], answer)
    part = PromptPart("instructions", f"instructions:{source}", source, estimate_tokens(added), text=added)
    return _with_keys_of_their_own([*kept, part])


def system_text(parts: Iterable[PromptPart]) -> str:
    """The system prompt as it is sent."""
    return "".join(part.text for part in parts)


def build_prompt(
    system_parts: Sequence[PromptPart],
    entries: Sequence[Entry],
    memory_filter: MemoryFilter,
    *,
    summary: str = "",
    running: Collection[str] = (),
    tools: Sequence[ToolSchema] = (),
) -> Prompt:
    """Build the request. Pure: the same arguments give the same bytes.

    Args:
        system_parts: the system prompt, see `extend_system_prompt`.
        entries: what the working memory holds.
        memory_filter: the applied filter.
        summary: what stands for messages marked `compressed`; empty when there is none.
        running: ids of the messages that the running reply has stored.
        tools: the tools that are offered.
    """
    verdicts = judge_history(entries, memory_filter, running=running, has_summary=bool(summary))
    kept = [verdict.entry.msg for verdict in verdicts if verdict.included]
    history = pair_up(kept)
    head: list[Msg] = []
    parts = list(system_parts)
    if text := system_text(system_parts):
        head.append(SystemMsg("system", text, id=SYSTEM_ID, created_at=0.0))
    if summary:
        parts.append(_summary_part(summary, memory_filter))
        if memory_filter.prepend_summary:
            head.append(summary_message(summary))
    parts.extend(message_part(verdict) for verdict in verdicts)
    stored = {msg.id for msg in kept}
    parts.extend(_made_up_part(msg) for msg in history if msg.id not in stored)
    if tools:
        parts.append(_tools_part(tools))
    tokens = sum(part.tokens for part in parts if part.included)
    return Prompt((*head, *history), tuple(tools), tuple(_with_keys_of_their_own(parts)), tokens)


def message_part(verdict: Verdict) -> PromptPart:
    """The account of one stored message."""
    msg = verdict.entry.msg
    return PromptPart(
        kind="hint" if HINT in verdict.entry.marks or msg.get_content_blocks(HintBlock) else "message",
        key=msg.id,
        label=f"{msg.role} {msg.name}",
        tokens=estimate_message_tokens(msg),
        included=verdict.included,
        reason=verdict.reason,
        content_hash=msg.content_hash,
    )


def middleware_parts(
    built: Sequence[Msg], sent: Sequence[Msg], sources: Sequence[str], parts: Sequence[PromptPart]
) -> tuple[PromptPart, ...]:
    """Account for what `on_model_call` changed between the built messages and those that are sent."""
    if list(built) == list(sent):
        return tuple(parts)
    source = ", ".join(sources)
    sent_ids = {msg.id for msg in sent}
    removed = {msg.id for msg in built if msg.id not in sent_ids}
    built_by_id = {msg.id: msg for msg in built}
    account = [
        replace(part, included=False, reason=f"removed by {source}") if part.key in removed else part for part in parts
    ]
    for msg in sent:
        before = built_by_id.get(msg.id)
        if before == msg:
            continue
        verb = "added" if before is None else "changed"
        text = msg.get_text_content() or ""
        tokens = estimate_message_tokens(msg)
        account.append(
            PromptPart("middleware", f"middleware:{msg.id}", f"{verb} by {source}", tokens, reason=verb, text=text)
        )
    return tuple(account)


def _with_keys_of_their_own(parts: Iterable[PromptPart]) -> list[PromptPart]:
    """Number the parts whose key is taken already: a middleware's class, or a message, may be there several times."""
    by_key: dict[str, PromptPart] = {}
    for part in parts:
        number, key = 1, part.key
        while key in by_key:
            number += 1
            key = f"{part.key}#{number}"
        by_key[key] = part if key == part.key else replace(part, key=key)
    return list(by_key.values())


def _summary_part(summary: str, memory_filter: MemoryFilter) -> PromptPart:
    included = memory_filter.prepend_summary
    reason = "" if included else "the summary is switched off"
    tokens = estimate_tokens(summary) + MESSAGE_OVERHEAD
    return PromptPart("summary", "summary", "summary", tokens, included, reason, text=summary)


def _made_up_part(msg: Msg) -> PromptPart:
    label = first_line(f"made-up result of {msg.name}", _LABEL_LENGTH)
    return PromptPart("message", msg.id, label, estimate_message_tokens(msg), reason=UNPAIRED)


def _tools_part(tools: Sequence[ToolSchema]) -> PromptPart:
    names = ", ".join(tool.name for tool in tools)
    return PromptPart("tools", "tools", names, estimate_schema_tokens(tool.wire() for tool in tools))
