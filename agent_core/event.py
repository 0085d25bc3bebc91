"""The typed events that make up a `Trace`. Each says what has just happened; the past tense is meant.

Every view of the program (panes, session file, resume, export) is a fold over these. JSON form: one object with a
`type` tag; unknown fields are ignored on reading, so that an older program can read a newer session.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from agent_core.change import MemoryChange, decode_hook, encode_hook
from agent_core.event_base import Event, Usage
from agent_core.long_term_event import (
    FactChange,
    FactsFinish,
    FactsSource,
    FactsWriteStarted,
    FactsWritten,
    FileChanged,
    IndexRead,
    Origin,
    Outcome,
    RecalledMemory,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalFinish,
    RetrievalSettled,
    RetrievalSkipped,
    RetrievalStage,
    RetrievalStarted,
)
from agent_core.marks import MemoryFilter
from agent_core.message import Msg, ToolResultState
from agent_core.text import well_formed

Finish = Literal["completed", "interrupted", "max_iters", "error"]
Answer = Literal["once", "always", "no"]


# --- The reply and its rounds


class ReplyStarted(Event, frozen=True, kw_only=True):
    """A reply began; `inputs` are the ids of the messages that it answers."""

    agent: str
    inputs: tuple[str, ...] = ()


class ReplyEnded(Event, frozen=True, kw_only=True):
    """A reply is over. `error` is one line for people when `finish` is `error`, `error_type` the exception's name."""

    finish: Finish
    rounds: int = 0
    usage: Usage | None = None
    error: str = ""
    error_type: str = ""


class RoundStarted(Event, frozen=True, kw_only=True):
    """A reasoning round began, with its checks for hints; rounds count from 1."""

    round: int


class PromptPart(Struct, frozen=True, omit_defaults=True):
    """One part of a prompt, or one thing that was left out of it.

    Args:
        kind: `base`, `instructions`, `index`, `summary`, `hint`, `message`, `tools` or `middleware`.
        key: unique within the prompt: the message's id, or kind and name.
        label: where it came from, for people.
        tokens: an estimate of what it costs, or would cost.
        included: whether it was sent.
        reason: why (not).
        content_hash: of the message; empty for other parts.
        text: of parts that are not messages (messages are in the trace already).
    """

    kind: str
    key: str
    label: str
    tokens: int
    included: bool = True
    reason: str = ""
    content_hash: str = ""
    text: str = ""


class PromptSent(Event, frozen=True, kw_only=True):
    """A request is about to go to the model.

    `parts` holds the parts that are new or differ since the prompt event before, and `removed` the keys of those that
    are gone; `prompt_ledger.PromptLedger` folds them back into the full list. `tokens` estimates the whole.
    """

    round: int
    model: str
    parts: tuple[PromptPart, ...] = ()
    removed: tuple[str, ...] = ()
    tokens: int = 0
    context_size: int | None = None


class ModelCallEnded(Event, frozen=True, kw_only=True):
    """The model call of a round is over: seconds taken, seconds to the first token, tokens, how it finished."""

    round: int
    seconds: float
    first_token_seconds: float | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    error: str = ""


class ModelRetried(Event, frozen=True, kw_only=True):
    """A model call failed before its first token and is tried again after `delay` seconds."""

    attempt: int
    delay: float
    error: str


# --- What streams in


class BlockStarted(Event, frozen=True, kw_only=True):
    """A block of text, of reasoning or a tool call begins to stream; `name` is the tool's."""

    block_id: str
    kind: Literal["text", "thinking", "tool_call"]
    name: str = ""


class BlockDelta(Event, frozen=True, kw_only=True):
    """More of a block: text, reasoning text, or a piece of the arguments' JSON."""

    block_id: str
    kind: Literal["text", "thinking", "tool_call"]
    text: str


class BlockEnded(Event, frozen=True, kw_only=True):
    """A block is complete, or as complete as it will be."""

    block_id: str


# --- Tools and permissions


class PermissionAsked(Event, frozen=True, kw_only=True):
    """A person is asked whether a call may be made; `diff` is what it would change, as a unified diff."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    question: str
    diff: str = ""


class PermissionAnswered(Event, frozen=True, kw_only=True):
    """The answer to a question, by a person or for want of one."""

    call_id: str
    answer: Answer
    reason: str = ""


class ToolStarted(Event, frozen=True, kw_only=True):
    """A call is being made."""

    call_id: str
    tool: str
    arguments: dict[str, Any]


class ToolEnded(Event, frozen=True, kw_only=True):
    """A call has its result; the result itself is the stored message `msg_id`. `diff` is what it changed."""

    call_id: str
    tool: str
    state: ToolResultState
    msg_id: str = ""
    seconds: float = 0.0
    diff: str = ""


# --- Memory


class MemoryChanged(Event, frozen=True, kw_only=True):
    """The working memory changed."""

    change: MemoryChange


class StoreFailed(Event, frozen=True, kw_only=True):
    """The store of the working memory began to fail, for the reason given; the agent goes on without it.

    `waiting` writes had not been taken then. Every memory change from the first of them on, until `StoreRecovered`, is
    missing in the store.
    """

    error: str
    waiting: int = 0


class StoreRecovered(Event, frozen=True, kw_only=True):
    """The store of the working memory has taken everything."""


class FilterChanged(Event, frozen=True, kw_only=True):
    """The filter that governs what the agent sends was replaced."""

    memory_filter: MemoryFilter


class CompressionStarted(Event, frozen=True, kw_only=True):
    """The older part of the conversation is being summarised: so many messages, of so many tokens."""

    messages: int
    tokens: int
    cause: str = ""


class CompressionEnded(Event, frozen=True, kw_only=True):
    """A compression is over; with an `error` nothing was changed. `covered` counts the messages in the summary now."""

    covered: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0
    error: str = ""


class Noticed(Event, frozen=True, kw_only=True):
    """Something a person should know, in one line; `level` says how much."""

    text: str
    level: Literal["information", "warning", "error"] = "information"


AnyEvent = (
    ReplyStarted
    | ReplyEnded
    | RoundStarted
    | PromptSent
    | ModelCallEnded
    | ModelRetried
    | BlockStarted
    | BlockDelta
    | BlockEnded
    | PermissionAsked
    | PermissionAnswered
    | ToolStarted
    | ToolEnded
    | MemoryChanged
    | StoreFailed
    | StoreRecovered
    | FilterChanged
    | CompressionStarted
    | CompressionEnded
    | IndexRead
    | RetrievalStarted
    | RetrievalStage
    | RetrievalEnded
    | RetrievalSettled
    | RetrievalCarriedOver
    | FileChanged
    | Noticed
    | RetrievalSkipped
    | FactsWriteStarted
    | FactsWritten
)

EVENT_TYPES: tuple[type[Event], ...] = get_args(AnyEvent)

_encoder = msgspec.json.Encoder(enc_hook=encode_hook)
_decoder = msgspec.json.Decoder(AnyEvent, dec_hook=decode_hook)


def encode_event(event: Event) -> bytes:
    """One event as one line of JSON, without the newline."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        # Arguments and messages of errors may hold lone surrogates, which JSON in UTF-8 cannot.
        return _encoder.encode(_well_formed(msgspec.to_builtins(event, enc_hook=encode_hook)))


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _well_formed(item) for key, item in value.items()}
    return value


def decode_event(line: bytes | str) -> AnyEvent:
    """The event that `encode_event` wrote.

    Raises:
        ValueError: the line is not an event (msgspec's errors are ValueErrors).
    """
    return _decoder.decode(line)


__all__ = [
    "Answer", "AnyEvent", "BlockDelta", "BlockEnded", "BlockStarted", "CompressionEnded", "CompressionStarted",
    "EVENT_TYPES", "Event", "FactChange", "FactsFinish", "FactsSource", "FactsWriteStarted", "FactsWritten",
    "FileChanged", "FilterChanged", "Finish", "IndexRead", "MemoryChanged", "ModelCallEnded", "ModelRetried", "Msg",
    "Noticed", "Origin", "Outcome", "PermissionAnswered", "PermissionAsked", "PromptPart", "PromptSent",
    "RecalledMemory", "ReplyEnded", "ReplyStarted", "RetrievalCarriedOver", "RetrievalEnded", "RetrievalFinish",
    "RetrievalSettled", "RetrievalSkipped", "RetrievalStage", "RetrievalStarted", "RoundStarted", "StoreFailed",
    "StoreRecovered", "ToolEnded", "ToolStarted", "Usage", "decode_event", "encode_event",
]  # fmt: skip
