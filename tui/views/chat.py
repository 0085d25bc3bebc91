"""The chat as a fold over events: what was said, thought, called and recalled, in order.

While a round streams in, its items grow from deltas. When its message is stored, they take over what the message
holds, so that a chat folded from a restored trace, which has no deltas any more, is the same as the one that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from agent_core.change import Added, Cleared, Deleted, Inserted, Marked, MemoryChange, Snapshot
from agent_core.event import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    CompressionEnded,
    Event,
    MemoryChanged,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    StoreFailed,
    StoreRecovered,
    ToolEnded,
    ToolStarted,
)
from agent_core.message import ContentBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from agent_core.text import first_line
from tui.views.chat_items import AnswerItem, ChatItem, NoticeItem, ThinkingItem, ToolItem, UserItem
from tui.views.chat_message import compression_notice, cut_label, hint_item, is_recalled, result_text, text_of
from tui.views.store_text import store_notice

Item = TypeVar("Item", bound=ChatItem)

_TITLE_LENGTH = 60
_ANSWERS = {"always": "allowed from now on", "no": "refused"}
_TRY_AGAIN = "What you said is kept; /retry tries again."


class ChatView:
    """The items of the chat, oldest first."""

    def __init__(self) -> None:
        self.items: list[ChatItem] = []
        self._by_message: dict[str, list[ChatItem]] = {}
        self._tools: dict[str, ToolItem] = {}
        self._open: dict[str, ChatItem] = {}
        self._round: list[ChatItem] = []
        self._reply_start = 0

    @property
    def title(self) -> str:
        """What the session may be called: the first line that somebody said; empty before."""
        said = next((item for item in self.items if isinstance(item, UserItem)), None)
        return first_line(said.text, _TITLE_LENGTH) if said else ""

    @property
    def last_answer(self) -> AnswerItem | None:
        """The newest answer that says something."""
        return next((item for item in reversed(self.items) if isinstance(item, AnswerItem) and item.text), None)

    def apply(self, event: Event) -> bool:
        """Take in one event; whether the chat has changed."""
        match event:
            case ReplyStarted():
                self._reply_start = len(self.items)
                return False
            case RoundStarted():
                self._round = []
                return False
            case BlockStarted():
                self._begin(event)
            case BlockDelta():
                return self._grow(event)
            case BlockEnded():
                return self._end(event)
            case MemoryChanged(change=change):
                return self._remember(change)
            case PermissionAsked() | PermissionAnswered() | ToolStarted() | ToolEnded():
                return self._follow_call(event)
            case CompressionEnded():
                self._add(compression_notice(event))
            case Noticed(text=text, level=level):
                self._add(NoticeItem(text, level))
            case StoreFailed():
                self._add(NoticeItem(store_notice(event), "error"))
            case StoreRecovered():
                self._add(NoticeItem(store_notice(event)))
            case ReplyEnded():
                return self._finish(event)
            case _:
                return False
        return True

    def _add(self, item: Item) -> Item:
        self.items.append(item)
        return item

    def _begin(self, event: BlockStarted) -> None:
        item: ChatItem
        if event.kind == "text":
            item = AnswerItem(is_live=True)
        elif event.kind == "thinking":
            item = ThinkingItem(is_live=True, started=event.at)
        else:
            item = self._tools[event.block_id] = ToolItem(event.block_id, event.name)
        self._open[event.block_id] = item
        self._round.append(self._add(item))

    def _grow(self, event: BlockDelta) -> bool:
        item = self._open.get(event.block_id)
        if isinstance(item, AnswerItem | ThinkingItem):
            item.text += event.text
        elif isinstance(item, ToolItem):
            item.arguments += event.text
        else:
            return False
        item.touch()
        return True

    def _end(self, event: BlockEnded) -> bool:
        item = self._open.pop(event.block_id, None)
        if isinstance(item, ThinkingItem):
            item.seconds = event.at - item.started
        if isinstance(item, AnswerItem | ThinkingItem):
            item.is_live = False
        elif isinstance(item, ToolItem):
            item.state = "waiting"
        else:
            return False
        item.touch()
        return True

    def _remember(self, change: MemoryChange) -> bool:
        match change:
            case Added(entries) | Inserted(entries):
                for entry in entries:
                    self._store(entry.msg, entry.marks)
            case Deleted(entries) | Cleared(entries=entries):
                self._set_deleted((entry.msg.id for entry in entries), True)
            case Snapshot(entries):
                present = {entry.msg.id for entry in entries}
                self._set_deleted((msg_id for msg_id in self._by_message if msg_id not in present), True)
                for entry in entries:
                    self._store(entry.msg, entry.marks)
            case Marked(changes):
                for each in changes:
                    self._set_marks(each.msg_id, each.after)
            case _:
                return False
        return True

    def _store(self, msg: Msg, marks: Sequence[str]) -> None:
        if msg.id in self._by_message:
            self._set_deleted([msg.id], False)
            self._set_marks(msg.id, marks)
        else:
            self._by_message[msg.id] = list(self._items_of(msg, marks))

    def _items_of(self, msg: Msg, marks: Sequence[str]) -> Iterable[ChatItem]:
        """The items that show a message: those that streamed in for it, or new ones."""
        if results := msg.get_content_blocks(ToolResultBlock):
            return [self._take_result(block) for block in results]
        if is_recalled(msg, marks):
            return [self._add(hint_item(msg))]
        if msg.role == "assistant":
            return self._take_answer(msg)
        return [self._add(UserItem(msg.name, text_of(msg), tuple(marks)))]

    def _take_answer(self, msg: Msg) -> list[ChatItem]:
        waiting, self._round = self._round, []
        items = [item for block in msg.blocks if (item := self._take_block(block, waiting)) is not None]
        texts = [item for item in items if isinstance(item, AnswerItem)]
        if texts:
            texts[-1].label = cut_label(msg)
        _drop_calls(waiting)
        return items

    def _take_block(self, block: ContentBlock, waiting: list[ChatItem]) -> ChatItem | None:
        item: AnswerItem | ThinkingItem | ToolItem
        match block:
            case TextBlock(text):
                item = _taken(waiting, AnswerItem) or self._add(AnswerItem())
                item.text, item.is_live = text, False
            case ThinkingBlock(text):
                item = _taken(waiting, ThinkingItem) or self._add(ThinkingItem())
                item.text, item.is_live = text, False
            case ToolCallBlock():
                item = _taken(waiting, ToolItem, block.id) or self._add(ToolItem(block.id, block.name))
                item.name, item.arguments, item.state = block.name, block.input, "waiting"
                self._tools[block.id] = item
            case _:
                return None
        item.touch()
        return item

    def _take_result(self, block: ToolResultBlock) -> ToolItem:
        item = self._tools.get(block.id)
        if item is None:
            item = self._tools[block.id] = self._add(ToolItem(block.id, block.name, "{}"))
        item.result, item.state = result_text(block), block.state
        item.touch()
        return item

    def _follow_call(self, event: PermissionAsked | PermissionAnswered | ToolStarted | ToolEnded) -> bool:
        item = self._tools.get(event.call_id)
        if item is None:
            return False
        match event:
            case PermissionAsked(diff=diff):
                item.state, item.diff = "asking", diff
            case PermissionAnswered(answer=answer, reason=reason):
                item.state = "denied" if answer == "no" else "waiting"
                item.note = "" if answer == "once" else reason or _ANSWERS[answer]
            case ToolStarted():
                item.state = "running"
            case ToolEnded(state=state, seconds=seconds, diff=diff):
                item.state, item.seconds, item.diff = state, seconds, diff or item.diff
        item.touch()
        return True

    def _finish(self, event: ReplyEnded) -> bool:
        _drop_calls(self._round)
        self._round = []
        if event.finish == "error":
            # An answer that was cut says itself how to go on.
            advice = "" if self._shows_cut_answer() else f" {_TRY_AGAIN}"
            self._add(NoticeItem(f"{_sentence(event.error)}{advice}", "error"))
        elif event.finish == "interrupted" and not self._shows_cut_answer():
            self._add(NoticeItem(f"Interrupted. {_TRY_AGAIN}", "warning"))
        else:
            return False
        return True

    def _shows_cut_answer(self) -> bool:
        shown = self.items[self._reply_start :]
        return any(isinstance(item, AnswerItem) and item.label for item in shown)

    def _set_deleted(self, msg_ids: Iterable[str], deleted: bool) -> None:
        for msg_id in msg_ids:
            for item in self._by_message.get(msg_id, ()):
                if item.deleted != deleted:
                    item.deleted = deleted
                    item.touch()

    def _set_marks(self, msg_id: str, marks: Sequence[str]) -> None:
        for item in self._by_message.get(msg_id, ()):
            if isinstance(item, UserItem) and item.marks != tuple(marks):
                item.marks = tuple(marks)
                item.touch()


def _sentence(text: str) -> str:
    """A text with the stop behind it that words of an endpoint may lack."""
    return text if text.rstrip().endswith((".", "!", "?", "…", "。", "！", "？")) else f"{text.rstrip()}."


def _taken(waiting: list[ChatItem], kind: type[Item], call_id: str | None = None) -> Item | None:
    """The first waiting item of a kind, removed; of calls the one with this id."""
    for item in waiting:
        if isinstance(item, kind) and (call_id is None or (isinstance(item, ToolItem) and item.call_id == call_id)):
            waiting.remove(item)
            return item
    return None


def _drop_calls(items: Iterable[ChatItem]) -> None:
    """Say of calls that no stored message holds that they were not made."""
    for item in items:
        if isinstance(item, ToolItem):
            item.state, item.note = "interrupted", "not made: the answer broke off"
            item.touch()
