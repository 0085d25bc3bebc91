"""What of a conversation is worth remembering: the exchange that a reply has completed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_core.event import Event, ReplyEnded, ReplyStarted
from agent_core.marks import Entry
from agent_core.message import HintBlock, Msg
from memory.mem0.outbox import Message

_GO_ON = frozenset(
    """
    go on|go ahead|continue|carry on|proceed|keep going|please continue|please go on|resume|yes go on|ok go on|try again
    继续|请继续|接着说|接着|继续吧|往下说|再试一次|再来
    """.replace("\n", "|").split("|")
)


class Exchange(NamedTuple):
    """What the user said and what was finally answered."""

    said: str
    answer: str

    @property
    def messages(self) -> list[Message]:
        """Both as mem0 takes them."""
        return [{"role": "user", "content": self.said}, {"role": "assistant", "content": self.answer}]


def said_in(messages: Iterable[Msg]) -> str:
    """The user's own words; words that only ask to go on are none."""
    texts = [(msg.get_text_content() or "").strip() for msg in messages if msg.role == "user"]
    return "\n".join(text for text in texts if text and not says_go_on(text))


def says_go_on(text: str) -> bool:
    """Whether a text says no more than to go on with what was begun."""
    return " ".join(text.lower().replace(",", " ").replace("，", " ").strip(" .!。！").split()) in {
        phrase.strip() for phrase in _GO_ON if phrase.strip()
    }


def final_answer(entries: Sequence[Entry], before: str | None) -> str:
    """The text of the last message of the assistant behind the one of id `before`; empty when it was cut short."""
    for msg, _ in reversed(entries):
        if msg.id == before:
            break
        if msg.role == "assistant" and not msg.get_content_blocks(HintBlock):
            return "" if msg.get_metadata("cut_short") else (msg.get_text_content() or "").strip()
    return ""


def unfinished_inputs(events: Iterable[Event], reply_id: str | None) -> list[tuple[str, ...]]:
    """The ids of the messages that the replies before this one began with and did not come to an end with.

    Newest first, back to the last reply that was completed.
    """
    unfinished: list[tuple[str, ...]] = []
    started: dict[str | None, tuple[str, ...]] = {}
    for event in events:
        if isinstance(event, ReplyStarted):
            started[event.reply_id] = event.inputs
        elif isinstance(event, ReplyEnded) and event.reply_id != reply_id:
            if event.finish == "completed":
                unfinished.clear()
            else:
                unfinished.insert(0, started.get(event.reply_id, ()))
    return unfinished


def said_before(unfinished: Iterable[Sequence[str]], entries: Iterable[Entry]) -> str:
    """The newest question that was begun and not answered, for a reply that goes on with it."""
    by_id = {msg.id: msg for msg, _ in entries}
    for ids in unfinished:
        if said := said_in(by_id[one] for one in ids if one in by_id):
            return said
    return ""
