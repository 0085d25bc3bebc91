"""The events of long-term memory: what was looked for, found and told, what was written, which files changed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent_core.event_base import Event, Usage

Origin = Literal["user", "model", "tool", "outside"]
"""Where a memory came from: a person's hand, the model, the model after a tool's result, or outside the program."""


class IndexRead(Event, frozen=True, kw_only=True):
    """MEMORY.md was put into the system prompt (sent again only when something about it has changed).

    `injected_lines` of `lines` went in; `cut_line` is the first line (from 1) left out, None when all went in;
    `found` is false when there is no such file at `path`. `is_fenced`: set apart as data, since a tool's result had a
    part in it.
    """

    path: str
    found: bool
    text: str = ""
    lines: int = 0
    injected_lines: int = 0
    tokens: int = 0
    cut_line: int | None = None
    is_fenced: bool = False


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
