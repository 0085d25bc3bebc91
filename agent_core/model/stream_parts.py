"""From the raw chunks of a streamed chat completion to deltas.

Chunks are read as plain dictionaries and nothing about them is trusted: fields may be missing, null or of another type.
Tool calls are kept apart by the endpoint's id, by its index, or by what the pieces say, in this order.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from agent_core.event import Usage
from agent_core.json_text import load_object
from agent_core.model.base import Finished, ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta
from agent_core.text import well_formed

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thought", "reasoning_details")
_MOST_TOKENS = 2**53
"""More is no count; what it is would not fit into a record either."""
_TEXT_KEYS = ("text", "content", "thinking", "summary", "value")
_FINISH_REASONS = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "refusal": "content_filter",
}
"""OpenAI's words for what other vendors, and proxies before them, call otherwise, in whatever case."""


class StreamParts:
    """Collects one answer.

    Args:
        taken_ids: ids that calls of earlier answers have; an endpoint that uses one again gets another in its place.

    Attributes:
        begun: something of the answer has come.
        finish_reason: how the answer ended, in OpenAI's word where it has one for that, else in the endpoint's; None
            before, and from endpoints that never say.
        usage: tokens, as last reported.
    """

    def __init__(self, taken_ids: Collection[str] = ()) -> None:
        self.begun = False
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self._choice: int | None = None
        self._calls: list[_Call] = []
        self._taken = set(taken_ids)
        self._text = _Halves()
        self._thinking = _Halves()
        self._late: list[ModelDelta] = []

    def feed(self, chunk: Mapping[str, Any]) -> list[ModelDelta]:
        """The deltas that a chunk brings, in order; chunks without choices bring usage at most."""
        choice = self._choice_of(chunk)
        self._note_usage(chunk.get("usage") or choice.get("usage") or _mapping(chunk.get("x_groq")).get("usage"))
        if choice.get("finish_reason"):
            reason = str(choice["finish_reason"])
            self.finish_reason = _FINISH_REASONS.get(reason.lower(), reason)
        # An endpoint that does not stream answers with one whole message.
        delta = _mapping(choice.get("message") if choice.get("delta") is None else choice["delta"])
        calls_had_begun = bool(self._calls)
        said = list(self._said(delta))
        raws = _list(delta.get("tool_calls") or delta.get("function_call"))
        calls = [piece for raw in raws if raw for piece in self._call_piece(_mapping(raw))]
        self.begun = self.begun or bool(said or self._calls)
        if not calls_had_begun:
            return said + calls
        # What is said between the pieces of a call waits for the end, lest it cuts the call in two.
        self._late += said
        return calls

    def close(self) -> list[ModelDelta]:
        """The deltas that were held back; to be called when the stream has ended, however it ended."""
        rest: list[ModelDelta] = [piece for call in self._calls for piece in call.rest()]
        rest += self._late
        if text := self._thinking.rest():
            rest.append(ThinkingDelta(text))
        if text := self._text.rest():
            rest.append(TextDelta(text))
        return rest

    def finished(self) -> Finished:
        """The last delta of a complete answer."""
        return Finished(self.finish_reason, self.usage)

    def _choice_of(self, chunk: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a chunk brings of the choice that came first; an endpoint may be set to give several side by side."""
        for choice in map(_mapping, _list(chunk.get("choices"))):
            index = _index(choice.get("index"))
            if self._choice is None:
                self._choice = index
            if index in (None, self._choice):
                return choice
        return {}

    def _said(self, delta: Mapping[str, Any]) -> Iterator[ModelDelta]:
        reasoning = next((delta[field] for field in _REASONING_FIELDS if delta.get(field)), None)
        yield from self._thinking_deltas(reasoning)
        for part in _content_parts(delta.get("content")):
            if "thinking" in part or part.get("type") in ("thinking", "reasoning"):
                yield from self._thinking_deltas(part)
            elif text := self._text.join(_flat(part)):
                yield TextDelta(text)
        if text := self._text.join(delta.get("refusal")):
            yield TextDelta(text)

    def _thinking_deltas(self, thought: object) -> Iterator[ModelDelta]:
        if text := self._thinking.join(_flat(thought)):
            yield ThinkingDelta(text)

    def _call_piece(self, raw: Mapping[str, Any]) -> list[ModelDelta]:
        # Where there is no `function`, its fields stand in its place, as those of the older `function_call` do.
        function = _mapping(raw.get("function")) or raw
        vendor_id, name = _text(raw.get("id")), _text(function.get("name"))
        index = _index(raw.get("index"))
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments is not None else ""
        call = self._find(vendor_id, index, name, text)
        if call is None:
            call = _Call(self._free_id(vendor_id), vendor_id, len(self._calls) if index is None else index)
            self._calls.append(call)
        call.vendor_id = call.vendor_id or vendor_id
        return call.grow(name, text)

    def _find(self, vendor_id: str, index: int | None, name: str, arguments: str) -> _Call | None:
        """The call that a piece continues; None when it starts one."""
        last = self._calls[-1] if self._calls else None
        at_index = next((call for call in reversed(self._calls) if index is not None and call.index == index), None)
        if vendor_id:
            same = next((call for call in reversed(self._calls) if call.vendor_id == vendor_id), None)
            if same is None:
                # A new id on a known index is another call, unless it brings no name: a call cannot do without.
                nameless = at_index is not None and not at_index.vendor_id and not at_index.name
                return at_index if nameless or not name else None
            reused = name and index is not None and same.index != index
            return None if reused else same
        call = at_index or (last if not name or index is None else None)
        return None if call is not None and name and call.is_other(name, arguments) else call

    def _free_id(self, vendor_id: str) -> str:
        call_id = vendor_id if vendor_id and vendor_id not in self._taken else f"call_{uuid.uuid4().hex}"
        self._taken.add(call_id)
        return call_id

    def _note_usage(self, raw: object) -> None:
        usage = _mapping(raw)
        if not usage:
            return
        details = _mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
        before = self.usage or Usage()
        # What a later report leaves out, or gives as zero, stands as it was told before.
        self.usage = Usage(
            _count(usage, "prompt_tokens", "input_tokens") or before.input_tokens,
            _count(usage, "completion_tokens", "output_tokens") or before.output_tokens,
            _count({**usage, **details}, "cached_tokens", "prompt_cache_hit_tokens") or before.cached_tokens,
        )


class _Call:
    """A tool call that is coming in. Nothing of it is told before its name is known."""

    def __init__(self, id: str, vendor_id: str, index: int) -> None:
        self.id = id
        self.vendor_id = vendor_id
        self.index = index
        self.name = ""
        self._pieces: list[str] = []
        self._told = False
        self._halves = _Halves()

    def grow(self, name: str, arguments: str) -> list[ModelDelta]:
        self.name = self.name or name
        piece = self._halves.join(arguments)
        self._pieces.append(piece)
        if not self.name or (self._told and not piece):
            return []
        told, self._told = self._told, True
        return [ToolCallDelta(self.id, self.name, piece if told else self._so_far())]

    def rest(self) -> list[ModelDelta]:
        """What is left at the end: half a character, or all that was said of a call that was never named."""
        tail = self._halves.rest() if self._told else self._so_far() + self._halves.rest()
        return [ToolCallDelta(self.id, self.name, tail)] if tail else []

    def is_other(self, name: str, arguments: str) -> bool:
        """Whether a piece without an id, but with a name, starts another call rather than repeating the name."""
        if not self.name:
            return False
        return name != self.name or (bool(arguments.strip()) and _is_complete(self._so_far()))

    def _so_far(self) -> str:
        return "".join(self._pieces)


class _Halves:
    """Joins surrogate halves of one character that came in two pieces."""

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: object) -> str:
        if not isinstance(text, str) or not text:
            return ""
        text = self._half + text
        cut = -1 if "\ud800" <= text[-1] <= "\udbff" else len(text)
        self._half = text[cut:]
        return well_formed(text[:cut])

    def rest(self) -> str:
        half, self._half = self._half, ""
        return well_formed(half)


def _content_parts(content: object) -> list[Mapping[str, Any]]:
    """The content as parts: it is a text, a list of parts or texts, or null."""
    parts = [content] if isinstance(content, str) else _list(content)
    return [{"text": part} if isinstance(part, str) else _mapping(part) for part in parts]


def _flat(value: object) -> str:
    """The text in a value: itself, or what lies in the parts and objects that it is wrapped into."""
    if isinstance(value, Mapping):
        return next(filter(None, (_flat(value.get(key)) for key in _TEXT_KEYS)), "")
    if isinstance(value, list):
        return "".join(map(_flat, value))
    return value if isinstance(value, str) else ""


def _is_complete(arguments: str) -> bool:
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        load_object(arguments)
    except ValueError:
        return False
    return True


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    """A list; a single object stands for a list of it."""
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return well_formed(value) if isinstance(value, str) else ""


def _index(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _count(usage: Mapping[str, Any], *names: str) -> int:
    """The first count that is told under one of the names; 0 for what is none."""
    for name in names:
        value = usage.get(name)
        if isinstance(value, (int, float)) and 0 < value <= _MOST_TOKENS:
            return int(value)
    return 0
