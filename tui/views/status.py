"""What the agent is doing, and what it has used, as a fold over events."""

from __future__ import annotations

from typing import Literal

from agent_core.event import (
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    Event,
    FilterChanged,
    ModelCallEnded,
    ModelRetried,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    StoreFailed,
    StoreRecovered,
    ToolEnded,
    ToolStarted,
    Usage,
)
from agent_core.marks import MemoryFilter
from tui.views.figures import plural

Activity = Literal[
    "idle", "preparing", "waiting", "thinking", "answering", "calling", "running", "asking", "retrying", "compressing"
]
"""`preparing`: before the first request of a round; `calling`: the model writes a call; `running`: a tool runs."""


class StatusView:
    """The working state, the context and the cost of the last turn.

    Attributes:
        activity: what is going on.
        since: when that began, in seconds since the epoch.
        detail: the tool's name, or why a call is made again.
        round: the round of the running reply, 0 outside of one.
        context_tokens: what the conversation takes of the window; None before the first request.
        context_size: the window; None when nobody knows.
        context_is_exact: the server counted `context_tokens`.
        last_turn: tokens of the last reply, as the server counted them; None when it did not.
        last_finish: how the last reply ended; empty before the first.
        memory_filter: the filter that is applied.
    """

    def __init__(self) -> None:
        self.activity: Activity = "idle"
        self.since = 0.0
        self.detail = ""
        self.round = 0
        self.context_tokens: int | None = None
        self.context_size: int | None = None
        self.context_is_exact = False
        self.last_turn: Usage | None = None
        self.last_finish = ""
        self.memory_filter = MemoryFilter()
        self._before_compression: tuple[Activity, str] = ("idle", "")

    @property
    def is_working(self) -> bool:
        """Whether a reply runs, or a compression."""
        return self.activity != "idle"

    def apply(self, event: Event) -> bool:
        """Take in one event; whether anything here has changed."""
        match event:
            case ReplyStarted():
                self._enter("preparing", event)
            case RoundStarted(round=number):
                self.round = number
                self._enter("preparing", event)
            case PromptSent():
                self._count(event)
                self._enter("waiting", event)
            case BlockStarted(kind=kind, name=name):
                self._enter(_ACTIVITY_OF_BLOCK[kind], event, name)
            case ModelRetried(attempt=attempt, error=error):
                self._enter("retrying", event, f"{attempt}: {error}")
            case PermissionAsked(tool=tool):
                self._enter("asking", event, tool)
            case PermissionAnswered():
                self._enter("preparing", event)
            case ToolStarted(tool=tool):
                self._enter("running", event, tool)
            case ToolEnded():
                self._enter("preparing", event)
            case ModelCallEnded():
                self._count_exactly(event)
            case CompressionStarted(messages=messages):
                self._before_compression = self.activity, self.detail
                self._enter("compressing", event, plural(messages, "message"))
            case CompressionEnded():
                self._enter(self._before_compression[0], event, self._before_compression[1])
            case ReplyEnded():
                self.last_turn, self.last_finish, self.round = event.usage, event.finish, 0
                self._enter("idle", event)
            case FilterChanged(memory_filter=memory_filter):
                self.memory_filter = memory_filter
            case StoreFailed() | StoreRecovered():
                # The agent's memory knows how it is; a session may also go on with another store, or without one.
                pass
            case _:
                return False
        return True

    def _enter(self, activity: Activity, event: Event, detail: str = "") -> None:
        if (activity, detail) != (self.activity, self.detail):
            self.activity, self.detail, self.since = activity, detail, event.at

    def _count(self, event: PromptSent) -> None:
        self.context_tokens, self.context_size, self.context_is_exact = event.tokens, event.context_size, False

    def _count_exactly(self, event: ModelCallEnded) -> None:
        if event.usage is not None and event.usage.input_tokens:
            self.context_tokens = event.usage.input_tokens + event.usage.output_tokens
            self.context_is_exact = True


_ACTIVITY_OF_BLOCK: dict[str, Activity] = {"text": "answering", "thinking": "thinking", "tool_call": "calling"}
