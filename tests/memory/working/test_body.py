"""What a store keeps of a message is the message; what is no message is refused, since nothing else checks it."""

from __future__ import annotations

import pytest

from agent_core.message import HintBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from memory.working.body import decode_body, encode_body

GOOD = '"id": "m", "name": "u", "role": "user", "created_at": 1.5'


BLOCKS = [
    ThinkingBlock("hm"),
    TextBlock("é日\n"),
    HintBlock("remember", "memory:x.md"),
    ToolCallBlock("c", "Read", "{}"),
    ToolResultBlock("c", "Read", [TextBlock("text")], "error"),
]


@pytest.mark.parametrize(
    "msg",
    [
        Msg("u", "", "user"),
        Msg("u", "é日\n\0", "user", {"a": [1, {"b": None}], "c": 2.5}, id="m", created_at=3),
        Msg("a", BLOCKS, "assistant"),
        Msg("a", [], "assistant"),
    ],
)
def test_a_message_is_read_as_it_was_written(msg: Msg) -> None:
    again = decode_body(encode_body(msg))
    assert again == msg
    assert again.to_dict() == msg.to_dict()
    assert again.content_hash == msg.content_hash


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        f"{{{GOOD}}}",
        f'{{{GOOD}, "content": "\\ud800"}}',
        f'{{{GOOD}, "content": "x\\udfffx"}}',
        f'{{{GOOD}, "content": 1}}',
        f'{{{GOOD}, "content": [{{"type": "nothing"}}]}}',
        f'{{{GOOD}, "content": "x", "metadata": {{"a": 1e999}}}}',
        f'{{{GOOD}, "content": "x", "metadata": []}}',
        f'{{{GOOD}, "content": "x"}}'.replace("user", "nobody"),
        f'{{{GOOD}, "content": "x"}}'.replace("1.5", "NaN"),
        f'{{{GOOD}, "content": "x"}}'.replace('"m"', "1"),
    ],
)
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode_body(text)
