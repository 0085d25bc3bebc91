"""What the chat consists of: one item for each thing that is seen as one.

Items change while they stream in; `revision` grows with every change, so that a widget can tell whether it is up to
date.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ToolState = Literal["writing", "waiting", "asking", "running", "success", "error", "interrupted", "denied"]
"""`writing`: the call still streams in; `waiting`: it is complete and not yet made."""
NoticeLevel = Literal["information", "warning", "error"]


@dataclass(kw_only=True, eq=False)
class ChatItem:
    """Base of all items; `deleted` says that what it shows is no longer in memory."""

    revision: int = field(default=0, init=False)
    deleted: bool = False

    def touch(self) -> None:
        """Say that something about the item has changed."""
        self.revision += 1


@dataclass(eq=False)
class UserItem(ChatItem):
    """What somebody said."""

    name: str
    text: str
    marks: tuple[str, ...] = ()


@dataclass(eq=False)
class AnswerItem(ChatItem):
    """Text of the model, in Markdown; `label` says what is wrong with it, if anything."""

    text: str = ""
    is_live: bool = False
    label: str = ""


@dataclass(eq=False)
class ThinkingItem(ChatItem):
    """Reasoning of the model; `seconds` once it is known how long it took."""

    text: str = ""
    is_live: bool = False
    started: float = 0.0
    seconds: float | None = None


@dataclass(eq=False)
class ToolItem(ChatItem):
    """A tool call, from its first letter to its result. `arguments` is JSON text, valid or not."""

    call_id: str
    name: str
    arguments: str = ""
    state: ToolState = "writing"
    result: str = ""
    diff: str = ""
    seconds: float | None = None
    note: str = ""


@dataclass(eq=False)
class HintItem(ChatItem):
    """A memory that was given to the model from the side."""

    source: str
    text: str


@dataclass(eq=False)
class NoticeItem(ChatItem):
    """One line about what happened and what can be done."""

    text: str
    level: NoticeLevel = "information"
