"""The typed events that make up a `Trace`. Each says what has just happened; the past tense is meant.

Every view of the program (panes, session file, resume, export) is a fold over these. JSON form: one object with a
`type` tag; unknown fields are ignored on reading, so that an older program can read a newer session.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from agent_core.change import MemoryChange, decode_hook, encode_hook
from agent_core.marks import MemoryFilter
from agent_core.message import Msg, ToolResultState
from agent_core.text import well_formed

Finish = Literal["completed", "interrupted", "max_iters", "error"]
Answer = Literal["once", "always", "no"]
Origin = Literal["user", "model", "tool", "outside"]
"""Where a memory came from: a person's hand, the model, the model after a tool's result, or outside the program."""


def _tag(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Event(Struct, frozen=True, kw_only=True, tag=_tag, omit_defaults=True):
    """Base of all events.

    `seq` and `at` (seconds since the epoch) are set by the trace when the event is appended; `seq` is -1 before.
    `reply_id` names the reply that the event belongs to; None for what happens outside of one.
    """

    reply_id: str | None = None
    seq: int = -1
    at: float = 0.0


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one model call as the server reported them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


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


class IndexRead(Event, frozen=True, kw_only=True):
    """MEMORY.md was put into the system prompt (sent again only when something about it has changed).

    `injected_lines` of `lines` went in; `cut_line` is the first line (from 1) left out, None when all went in;
    `found` is false when there is no such file at `path`.
    """

    path: str
    found: bool
    text: str = ""
    lines: int = 0
    injected_lines: int = 0
    tokens: int = 0
    cut_line: int | None = None


class RetrievalStarted(Event, frozen=True, kw_only=True):
    """A search of long-term memory for a question began in the background.

    The first model call of the reply waits for it, for `patience` seconds at most; None: as long as it takes.
    """

    retrieval_id: str
    source: str
    question: str
    patience: float | None = 0.0


class RetrievalStage(Event, frozen=True, kw_only=True):
    """A stage of a retrieval is over: `scan`, `search`, `select` or `read`, with a few words on what it gave."""

    retrieval_id: str
    stage: str
    seconds: float
    detail: str = ""


class RecalledMemory(Struct, frozen=True, omit_defaults=True):
    """One memory that a retrieval chose: where it is, which version, the text for the prompt, why, who wrote it."""

    path: str
    content_hash: str
    text: str = ""
    reason: str = ""
    score: float | None = None
    origin: Origin | Literal[""] = ""


RetrievalFinish = Literal["found", "nothing", "cancelled", "failed"]


class RetrievalEnded(Event, frozen=True, kw_only=True):
    """The background work of a retrieval is over. What became of it is said by `RetrievalSettled`."""

    retrieval_id: str
    finish: RetrievalFinish
    memories: tuple[RecalledMemory, ...] = ()
    seconds: float = 0.0
    error: str = ""


Outcome = Literal["injected", "nothing", "known", "late", "cancelled", "failed"]


class RetrievalSettled(Event, frozen=True, kw_only=True):
    """The one outcome of a retrieval.

    `injected` at `round` (of the next reply when `carried_over`), `nothing` relevant, all already `known` to the
    conversation, `late` (its reply had ended, and nothing or no next one carried it over), `cancelled`, `failed`.
    """

    retrieval_id: str
    outcome: Outcome
    round: int = 0
    carried_over: bool = False
    msg_ids: tuple[str, ...] = ()
    detail: str = ""


class RetrievalCarriedOver(Event, frozen=True, kw_only=True):
    """The reply of a retrieval ended before its result could go in; it waits for the next reply of the same agent."""

    retrieval_id: str


class FileChanged(Event, frozen=True, kw_only=True):
    """A file of long-term memory was changed, as its journal tells it.

    Args:
        path: absolute; after a rename the new one.
        origin: who did it.
        diff: unified; empty when what the file held is not known any more.
        call_id: the tool call that did it.
        msg_id: the user's message that made it happen.
        entry_id: the entry in the journal, by which the change can be undone.
        action: what was done: `create`, `edit`, `rename`, `delete`, `undo` and so on.
        before_hash: SHA-256 of the content before; empty when there was no file.
        after_hash: of the content afterwards; empty when there is no file any more.
        from_path: what a renamed file was called.
    """

    path: str
    origin: Origin
    diff: str = ""
    call_id: str = ""
    msg_id: str = ""
    entry_id: str = ""
    action: str = ""
    before_hash: str = ""
    after_hash: str = ""
    from_path: str = ""


class Noticed(Event, frozen=True, kw_only=True):
    """Something a person should know, in one line; `level` says how much."""

    text: str
    level: Literal["information", "warning", "error"] = "information"


class RetrievalSkipped(Event, frozen=True, kw_only=True):
    """No search of this long-term memory was made for a reply, and why."""

    source: str
    reason: str


class FactChange(Struct, frozen=True, omit_defaults=True):
    """What happened to one memory of a store: its id, its text, what was done.

    `known` was there already and stays as it was; `superseded` stays too, and says by which memory it was replaced.
    """

    memory_id: str
    text: str
    action: Literal["added", "updated", "superseded", "deleted", "known"]
    replaced_by: str = ""


FactsSource = Literal["extracted", "as_given", "by_rules", "by_hand"]
FactsFinish = Literal["stored", "nothing", "accepted", "unknown", "skipped", "failed"]


class FactsWriteStarted(Event, frozen=True, kw_only=True):
    """A long-term memory began to take something in; the end is told by the `FactsWritten` of the same `write_id`."""

    write_id: str
    source: str


class FactsWritten(Event, frozen=True, kw_only=True):
    """A write to a long-term memory is over.

    `stored`: see `changes`; `nothing` in it was new; `accepted` by a service that works on it later; `unknown`: the
    store did not say; `skipped` or `failed`: `detail` says why. `how` tells where the texts come from: extracted by a
    model, as they were given, found by fixed rules, or typed by a person.
    """

    write_id: str
    source: str
    finish: FactsFinish
    how: FactsSource
    changes: tuple[FactChange, ...] = ()
    detail: str = ""
    seconds: float = 0.0
    usage: Usage | None = None


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


__all__ = [cls.__name__ for cls in EVENT_TYPES] + [
    "Answer", "AnyEvent", "EVENT_TYPES", "Event", "FactChange", "FactsFinish", "FactsSource", "Finish", "Msg", "Origin",
    "Outcome", "PromptPart", "RecalledMemory", "RetrievalFinish", "Usage", "decode_event", "encode_event",
]  # fmt: skip
