"""The message that is streaming in now: not stored yet, known from its events only."""

from __future__ import annotations

from agent_core.event import BlockDelta, BlockStarted
from agent_core.text import first_line
from agent_core.tokens import MESSAGE_OVERHEAD, estimate_tokens

_HEAD_LENGTH = 400
_DOING = {"text": "writing", "thinking": "thinking", "tool_call": "calling"}


class Flight:
    """One message in flight. Keeps the start of its text only; the rest is counted.

    Attributes:
        doing: what is happening: `writing`, `thinking`, `calling Read`.
        tokens: an estimate of what it will cost, reasoning left out.
    """

    def __init__(self) -> None:
        self.doing = "writing"
        self.tokens = MESSAGE_OVERHEAD
        self._heads = {"text": "", "thinking": "", "tool_call": ""}

    def begin(self, event: BlockStarted) -> None:
        """A block of it begins."""
        self.doing = f"{_DOING[event.kind]} {event.name}".strip()
        if event.kind == "tool_call":
            self.tokens += estimate_tokens(event.name)
            self._heads["tool_call"] = f"{event.name} "

    def grow(self, event: BlockDelta) -> None:
        """More of a block has come."""
        head = self._heads[event.kind]
        self._heads[event.kind] = head + event.text[: max(0, _HEAD_LENGTH - len(head))]
        if event.kind != "thinking":
            self.tokens += estimate_tokens(event.text)

    @property
    def preview(self) -> str:
        """The first line so far: of the answer, else of the call, else of the reasoning."""
        lines = (first_line(self._heads[kind]) for kind in ("text", "tool_call", "thinking"))
        return next((line for line in lines if line), "")
