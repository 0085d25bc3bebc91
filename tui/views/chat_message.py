"""What of a stored message is shown in the chat."""

from __future__ import annotations

from collections.abc import Collection

from agent_core.event import CompressionEnded
from agent_core.marks import HINT, MEMORY
from agent_core.message import DataBlock, HintBlock, Msg, TextBlock, ToolResultBlock
from tui.views.chat_items import HintItem, NoticeItem
from tui.views.figures import plural

_LABELS = {
    "interrupted": "interrupted",
    "error": "cut off by an error",
    "max_iters": "stopped at the limit of rounds",
    "length": "cut: the length limit was reached",
}


def text_of(msg: Msg) -> str:
    """The message's text, with a stand-in for everything that is not text."""
    return "\n".join(
        block.text if isinstance(block, TextBlock) else _stand_in(block)
        for block in msg.blocks
        if isinstance(block, TextBlock | DataBlock)
    )


def result_text(block: ToolResultBlock) -> str:
    """What a call gave, with a stand-in for everything that is not text."""
    if isinstance(block.output, str):
        return block.output
    return "\n".join(part.text if isinstance(part, TextBlock) else _stand_in(part) for part in block.output)


def is_recalled(msg: Msg, marks: Collection[str]) -> bool:
    """Whether a long-term memory has put the message in."""
    return HINT in marks or MEMORY in marks or bool(msg.get_content_blocks(HintBlock))


def hint_item(msg: Msg) -> HintItem:
    """What was recalled, and from where."""
    hints = msg.get_content_blocks(HintBlock)
    sources = [hint.source.removeprefix("memory:") for hint in hints if hint.source]
    text = "\n\n".join(hint.hint for hint in hints) or text_of(msg)
    return HintItem(", ".join(sources) or msg.name, text)


def cut_label(msg: Msg) -> str:
    """What kept an answer from being complete, in words; empty for one that is."""
    return _LABELS.get(str(msg.get_metadata("cut_short") or msg.get_metadata("finish_reason") or ""), "")


def compression_notice(event: CompressionEnded) -> NoticeItem:
    """What became of a compression."""
    if event.error == "interrupted":
        return NoticeItem("Stopped: the conversation was not summarised, and nothing has changed.", "warning")
    if event.error:
        return NoticeItem(f"The conversation was not summarised: {event.error}", "warning")
    is_one = event.covered == 1
    covered = f"{plural(event.covered, 'older message')} {'is' if is_one else 'are'} summarised"
    kept = "it is kept" if is_one else "they are kept"
    return NoticeItem(f"{covered} in ≈{event.summary_tokens} tokens; {kept}, marked compressed.")


def _stand_in(block: DataBlock) -> str:
    return f"[{block.name or block.url or block.media_type}]"
