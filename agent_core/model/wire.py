"""Messages in the form of the chat completions API: a pure function, and one that never contradicts itself.

Whatever comes in, calls go out with arguments that parse and with their results right behind them, results without a
call stay here, and one system message goes first. `agent_core.history` has said before, with reasons that can be
shown, which messages these are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent_core.json_text import valid_object_text
from agent_core.message import (
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from agent_core.model.base import ToolSchema
from agent_core.model.profile import EndpointProfile
from agent_core.text import well_formed

WireMessage = dict[str, Any]

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_NO_OUTPUT = "(no output)"
_NO_RESULT = "Interrupted: this call did not finish."
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def wire_messages(messages: Sequence[Msg], profile: EndpointProfile) -> list[WireMessage]:
    """The `messages` of a request.

    Args:
        messages: the prompt, in order; system texts at its start become the system message, later ones user messages.
        profile: how the endpoint wants it.
    """
    writer = _Writer(profile)
    for msg in messages:
        writer.add(msg)
    written = writer.close()
    if profile.short_call_ids:
        written = [_with_short_ids(message) for message in written]
    return _merged(written) if profile.alternating_roles else written


def wire_tools(tools: Iterable[ToolSchema]) -> list[dict[str, Any]]:
    """The `tools` of a request."""
    return [_clean(tool.wire()) for tool in tools]


class _Writer:
    """Writes messages one after the other, and keeps back what must not stand between a call and its result."""

    def __init__(self, profile: EndpointProfile) -> None:
        self._profile = profile
        self._system: list[str] = []
        self._written: list[WireMessage] = []
        self._open_calls: dict[str, None] = {}
        self._kept_back: list[WireMessage] = []

    def add(self, msg: Msg) -> None:
        spoken: list[ContentBlock] = []
        for block in msg.blocks:
            if isinstance(block, ToolResultBlock):
                self._add_result(block)
            elif isinstance(block, HintBlock):
                self._add_spoken(msg.role, spoken)
                spoken = []
                self._add_spoken("user", [TextBlock(block.hint)])
            else:
                spoken.append(block)
        self._add_spoken(msg.role, spoken)

    def close(self) -> list[WireMessage]:
        self._close_calls()
        system = "\n\n".join(self._system)
        return [{"role": "system", "content": system}, *self._written] if system else self._written

    def _add_spoken(self, role: str, blocks: list[ContentBlock]) -> None:
        if role == "assistant":
            self._add_assistant(blocks)
        elif role == "system" and not self._written and not self._open_calls:
            self._system += [block.text for block in blocks if isinstance(block, TextBlock) and block.text.strip()]
        elif (content := _content(blocks)) is not None:
            self._emit({"role": "user", "content": content})

    def _add_assistant(self, blocks: list[ContentBlock]) -> None:
        calls = list({block.id: block for block in blocks if isinstance(block, ToolCallBlock)}.values())
        text = "\n".join(_as_text(block) for block in blocks if isinstance(block, (TextBlock, DataBlock)))
        message: WireMessage = {"role": "assistant", "content": text}
        if not calls:
            if text.strip():
                self._emit(message)
            return
        self._close_calls()
        if not text.strip():
            message["content"] = self._profile.call_only_content
        if self._profile.reasoning_field:
            thoughts = [block.thinking for block in blocks if isinstance(block, ThinkingBlock)]
            message[self._profile.reasoning_field] = "\n".join(thoughts)
        message["tool_calls"] = [_wire_call(call) for call in calls]
        self._written.append(message)
        self._open_calls = dict.fromkeys(call.id for call in calls)

    def _add_result(self, result: ToolResultBlock) -> None:
        if result.id not in self._open_calls:
            return
        del self._open_calls[result.id]
        self._written.append(_wire_result(result.id, result.text()))
        files = [] if isinstance(result.output, str) else [b for b in result.output if isinstance(b, DataBlock)]
        if files:
            label = TextBlock(f"From the result of {result.name}:")
            self._kept_back.append({"role": "user", "content": _content([label, *files])})
        if not self._open_calls:
            self._close_calls()

    def _emit(self, message: WireMessage) -> None:
        (self._kept_back if self._open_calls else self._written).append(message)

    def _close_calls(self) -> None:
        self._written += [_wire_result(call_id, _NO_RESULT) for call_id in self._open_calls]
        self._written += self._kept_back
        self._open_calls, self._kept_back = {}, []


def _wire_call(call: ToolCallBlock) -> dict[str, Any]:
    # Servers refuse the whole history for a name that a model made up out of other characters.
    name = _NOT_IN_NAMES.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
    function = {"name": name, "arguments": valid_object_text(call.input)}
    return {"id": call.id, "type": "function", "function": function}


def _wire_result(id: str, text: str) -> WireMessage:
    return {"role": "tool", "tool_call_id": id, "content": text or _NO_OUTPUT}


def _with_short_ids(message: WireMessage) -> WireMessage:
    """The same with ids of nine letters and digits for the calls: always the same, so that a prompt stays as it was."""
    if "tool_call_id" in message:
        return {**message, "tool_call_id": _short_id(message["tool_call_id"])}
    if "tool_calls" in message:
        return {**message, "tool_calls": [{**call, "id": _short_id(call["id"])} for call in message["tool_calls"]]}
    return message


def _short_id(call_id: str) -> str:
    return call_id if _SHORT_ID.fullmatch(call_id) else hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _content(blocks: Sequence[ContentBlock]) -> str | list[dict[str, Any]] | None:
    """The content of a user message: a text where text is all there is, else parts; None when there is nothing."""
    shown = [b for b in blocks if isinstance(b, DataBlock) or (isinstance(b, TextBlock) and b.text.strip())]
    if any(isinstance(block, DataBlock) for block in shown):
        return [_part(block) for block in shown]
    return "\n".join(_as_text(block) for block in shown) or None


def _part(block: ContentBlock) -> dict[str, Any]:
    if not isinstance(block, DataBlock):
        return {"type": "text", "text": _as_text(block)}
    if block.media_type.startswith("image/"):
        url = block.url or f"data:{block.media_type};base64,{block.data or ''}"
        return {"type": "image_url", "image_url": {"url": url}}
    if block.data and block.media_type in _AUDIO_FORMATS:
        audio = {"data": block.data, "format": _AUDIO_FORMATS[block.media_type]}
        return {"type": "input_audio", "input_audio": audio}
    return {"type": "text", "text": _as_text(block)}


def _as_text(block: ContentBlock) -> str:
    """A block in words; data that cannot be sent is at least mentioned."""
    if isinstance(block, DataBlock):
        return f"[{block.name or block.url or 'a file'} ({block.media_type}), not shown]"
    return block.text if isinstance(block, TextBlock) else ""


def _merged(messages: list[WireMessage]) -> list[WireMessage]:
    """The same with neighbours of one role made one message, for chat templates that insist on turns."""
    merged: list[WireMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last and last["role"] == message["role"] != "tool" and "tool_calls" not in last:
            content = _joined(last["content"], message["content"])
            merged[-1] = {**message, "content": content}
        else:
            merged.append(message)
    return merged


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    if second is None or second == "":
        return first
    parts = [[{"type": "text", "text": side}] if isinstance(side, str) else side for side in (first, second)]
    return parts[0] + parts[1]


def _clean(value: Any) -> Any:
    """A JSON value without lone surrogates, which tool schemas may hold."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, (list, tuple)) else value
