"""What is taken out of the events of a session, and what stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.agentic.purge import Trail
from tui.redaction import MARK, Redaction
from tui.telling_phrases import Phrases

FILE = "/m/Memory/tea.md"
HEADER = "---\nname: Tea\ndescription: prefers oolong over all green teas\n---\n\n"
TEXT = f"{HEADER}- Drinks it at four o'clock. 只喝杭州龙井茶。\n"


def redaction(**ids: tuple[str, ...]) -> Redaction:
    return Redaction(Trail(("tea.md",), (TEXT,), **ids), {FILE})


def redacted(event: dict[str, Any], **ids: tuple[str, ...]) -> dict[str, Any]:
    return redaction(**ids).event(event)


@pytest.mark.parametrize(
    "text",
    [
        "they say: Prefers  oolong\nover all GREEN teas!",
        "“drinks it at four o'clock”",
        "记忆：只喝杭州龙井茶，对吗",
        "- [A cup](tea.md) — whatever it says",
        json.dumps({"content": "- Drinks it at four o'clock. 只喝杭州龙井茶。"}),
    ],
)
def test_what_repeats_the_memory_is_replaced(text: str) -> None:
    without = redaction().text(text)
    assert MARK in without
    assert not any(word in without.lower() for word in ("oolong", "four", "龙井", "whatever"))


@pytest.mark.parametrize(
    "text",
    [
        "Tea",
        "green teas are fine",
        "four o'clock",
        "- [Other](other.md) — tea",
        "{not json",
        "[]",
        "",
        '{"a": [1, null]}',
    ],
)
def test_what_only_resembles_it_stays(text: str) -> None:
    assert redaction().text(text) == text


def test_a_text_that_was_told_in_pieces_is_found_across_them() -> None:
    pieces = ["so one prefer", "s ool", "ong over all", " green teas, right?"]
    events = [
        {"type": "block_delta", "block_id": "b", "kind": "text", "text": text, "seq": n}
        for n, text in enumerate(pieces)
    ]
    one = redaction()
    one.learn(events)
    texts = [one.event(event)["text"] for event in events]
    assert texts == [f"so one {MARK}, right?", "", "", ""]


def test_the_message_that_made_it_and_the_reply_are_emptied_whole() -> None:
    def added(msg: dict[str, Any]) -> dict[str, Any]:
        entry = {"position": 0, "msg": msg, "marks": ["m"]}
        return {"type": "memory_changed", "reply_id": "r", "change": {"type": "added", "entries": [entry]}}

    said = {"id": "u", "role": "user", "content": "paraphrased beyond recognition", "metadata": {}}
    answered = {
        "id": "a",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_call", "id": "c", "name": "Write", "input": json.dumps({"file_path": FILE, "content": "x"})},
        ],
        "metadata": {},
    }
    one = redaction(msg_ids=("u",), reply_ids=("r",), call_ids=("c",))
    first = one.event(added(said))["change"]["entries"][0]
    assert first == {"position": 0, "msg": {**said, "content": MARK}, "marks": ["m"]}
    assert one.prompts == {"paraphrased beyond recognition"}
    blocks = one.event(added(answered))["change"]["entries"][0]["msg"]["content"]
    assert blocks[0]["thinking"] == MARK
    assert json.loads(blocks[1]["input"]) == {"file_path": FILE, "content": MARK}
    assert one.passages == 2


def test_calls_on_its_file_are_emptied_wherever_they_were_made() -> None:
    started = {"type": "tool_started", "call_id": "c", "tool": "Read", "arguments": {"file_path": FILE, "offset": 1}}
    result = {"type": "tool_result", "id": "c", "name": "Read", "output": "1\tshort", "state": "success"}
    msg = {"id": "t", "role": "system", "content": [result], "metadata": {}}
    changed = {
        "type": "memory_changed",
        "change": {"type": "added", "entries": [{"position": 0, "msg": msg, "marks": []}]},
    }
    one = redaction()
    one.learn([started, changed])
    assert one.event(started) == started
    assert one.event(changed)["change"]["entries"][0]["msg"]["content"][0]["output"] == MARK
    ended = {"type": "tool_ended", "call_id": "c", "diff": "+short"}
    assert one.event(ended)["diff"] == ""


@pytest.mark.parametrize(
    "event",
    [
        {"type": "retrieval_ended", "memories": [{"path": FILE, "text": "short"}]},
        {"type": "file_changed", "path": FILE, "diff": "+short"},
        {"type": "index_read", "text": "- [Short](tea.md)\n- [B](b.md)"},
        {"type": "memory_changed", "change": {"type": "summary_changed", "before": "", "after": TEXT}},
        {"type": "one of a newer program", "deep": [{"er": "prefers oolong over all green teas"}]},
    ],
)
def test_every_event_that_may_tell_of_it_is_looked_into(event: dict[str, Any]) -> None:
    text = json.dumps(redacted(event), ensure_ascii=False)
    assert "short" not in text.lower()
    assert "oolong" not in text


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": None},
        {"type": "memory_changed"},
        {"type": "memory_changed", "change": {"entries": [{"msg": 3}]}},
        {"type": "tool_started", "call_id": 1, "arguments": None},
        {"type": "block_delta"},
        {"type": "noticed", "text": "tea"},
    ],
)
def test_events_of_any_shape_pass_unchanged_where_they_do_not_tell_of_it(event: dict[str, Any]) -> None:
    one = redaction()
    one.learn([event])
    assert one.event(event) == event
    assert one.passages == 0


def test_names_and_dates_around_a_line_do_not_hide_it() -> None:
    phrases = Phrases(["1. **Why:** reads mail on a phone (2026-11-30)\n"])
    assert phrases.replaced("because she reads mail on a phone.", "…") == "because she …."
