from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from agent_core.message import (
    AssistantMsg,
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)


def test_text_content_reads_back_as_text() -> None:
    msg = Msg(name="user", content="你好", role="user")
    assert msg.content == "你好"
    assert msg.get_text_content() == "你好"
    assert msg.get_content_blocks("text") == [TextBlock("你好")]


def test_blocks_read_back_as_a_list_that_the_caller_may_change_freely() -> None:
    blocks = [TextBlock("a"), HintBlock("b", source="c")]
    msg = AssistantMsg("a", blocks)
    blocks.append(TextBlock("later"))
    returned = msg.content
    assert isinstance(returned, list)
    returned.clear()
    assert msg.content == [TextBlock("a"), HintBlock("b", source="c")]


@pytest.mark.parametrize("name", ["content", "id", "role", "metadata", "anything"])
def test_a_message_cannot_be_changed(name: str) -> None:
    msg = UserMsg("u", "hi")
    with pytest.raises(AttributeError):
        setattr(msg, name, "x")
    with pytest.raises(AttributeError):
        del msg.name


def test_metadata_is_copied_both_ways() -> None:
    facts = {"a": {"b": [1]}}
    msg = UserMsg("u", "hi", metadata=facts)
    facts["a"]["b"].append(2)
    msg.metadata["a"]["b"].append(3)
    msg.get_metadata("a")["b"].append(4)
    assert msg.metadata == {"a": {"b": [1]}}
    assert msg.get_metadata("missing", 7) == 7
    assert UserMsg("u", "hi").metadata == {}


def test_copies_are_the_message_itself_and_pickles_are_equal() -> None:
    msg = AssistantMsg("a", [TextBlock("x"), ToolCallBlock("c1", "Read", '{"a": 1}')], metadata={"k": 1})
    assert copy.copy(msg) is msg
    assert copy.deepcopy(msg) is msg
    assert pickle.loads(pickle.dumps(msg)) == msg


@pytest.mark.parametrize(
    "content",
    [
        "",
        "text",
        [],
        [
            TextBlock("t"),
            ThinkingBlock("th"),
            HintBlock("h"),
            DataBlock("image/png", data="aGk=", name="pic"),
            ToolCallBlock("c", "Write", "{broken"),
            ToolResultBlock("c", "Write", "ok"),
            ToolResultBlock("d", "See", (TextBlock("x"), DataBlock("image/png", url="http://x")), "error"),
        ],
    ],
)
def test_dictionary_round_trip(content: object) -> None:
    msg = Msg("n", content, "assistant", metadata={"k": [1, {"z": None}]})  # type: ignore[arg-type]
    again = Msg.from_dict(msg.to_dict())
    assert again == msg
    assert again.created_at == msg.created_at
    assert type(again.content) is type(msg.content)


def test_agentscope_1_dictionaries_are_read() -> None:
    msg = Msg.from_dict(
        {
            "id": "abc",
            "name": "friday",
            "role": "assistant",
            "timestamp": "2026-01-02 03:04:05.678",
            "metadata": None,
            "content": [
                {"type": "text", "text": "let me look"},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"where": "左"}},
                {"type": "tool_result", "id": "c1", "name": "look", "output": [{"type": "text", "text": "nothing"}]},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "video", "source": {"type": "url", "url": "http://x/y.mp4"}},
            ],
        }
    )
    assert msg.id == "abc"
    assert msg.get_content_blocks("tool_call") == [ToolCallBlock("c1", "look", '{"where": "左"}')]
    assert msg.get_content_blocks(ToolResultBlock)[0].text() == "nothing"
    assert [block.media_type for block in msg.get_content_blocks(DataBlock)] == ["image/png", "video/*"]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"name": "a", "role": "user"},
        {"name": "a", "role": "judge", "content": ""},
        {"name": "a", "role": "user", "content": 5},
        {"name": "a", "role": "user", "content": [{"type": "nonsense"}]},
        {"name": "a", "role": "user", "content": ["x"]},
        {"name": "a", "role": "user", "content": [{"type": "image", "source": "http://x/y.png"}]},
        {"name": "a", "role": "user", "content": [{"type": "audio", "source": None}]},
        {"name": "a", "role": "user", "content": [{"type": "tool_result", "id": "1", "name": "t", "output": ["x"]}]},
        {"name": "a", "role": "user", "content": "", "created_at": 10**400},
    ],
)  # fmt: skip
def test_what_is_not_a_message_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Msg.from_dict(data)


def test_a_source_that_agentscope_would_not_write_is_named() -> None:
    with pytest.raises(ValueError, match="type 'image' must be a dict, not 'http://x"):
        Msg.from_dict({"name": "a", "role": "user", "content": [{"type": "image", "source": "http://x/y.png"}]})


def test_wrong_arguments_name_the_value() -> None:
    with pytest.raises(ValueError, match="judge"):
        Msg("n", "x", "judge")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="5"):
        Msg("n", 5, "user")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'x'"):
        Msg("n", ["x"], "user")  # type: ignore[list-item]
    with pytest.raises(ValueError, match="nonsense"):
        UserMsg("u", "x").get_content_blocks("nonsense")


def test_lone_surrogates_never_get_in() -> None:
    """T20: input with half a surrogate pair can be stored; a whole pair becomes its character."""
    msg = Msg("n\ud83d", [TextBlock("hi \ud83d"), ToolResultBlock("c", "t", "\udc00")], "user")
    assert msg.get_text_content() == "hi \ufffd"
    assert msg.name == "n\ufffd"
    assert UserMsg("u", "\ud83d\ude00").content == "😀"
    str(msg.to_dict()).encode()


def test_the_content_hash_tells_contents_apart_and_not_copies() -> None:
    assert UserMsg("u", "x").content_hash == UserMsg("u", "x").content_hash
    assert UserMsg("u", "x").content_hash != UserMsg("u", "y").content_hash
    assert UserMsg("u", "x").content_hash != SystemMsg("u", "x").content_hash


def test_text_of_several_blocks_is_joined_and_no_text_is_none() -> None:
    assert AssistantMsg("a", [TextBlock("x"), HintBlock("no"), TextBlock("y")]).get_text_content(" ") == "x y"
    assert AssistantMsg("a", [HintBlock("no")]).get_text_content() is None
    assert AssistantMsg("a", [TextBlock("x"), HintBlock("h")]).get_content_blocks(["hint", "thinking"]) == [
        HintBlock("h")
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"id": 5},
        {"id": ["5"]},
        {"id": b"5"},
        {"created_at": "yesterday"},
        {"created_at": True},
        {"metadata": ["a"]},
        {"metadata": "text"},
        {"metadata": {1: "a"}},
        {"metadata": {"a": {1, 2}}},
        {"metadata": {"a": [b"bytes"]}},
        {"metadata": {"a": {"b": object()}}},
    ],
)
def test_what_no_store_could_give_back_is_named(options: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"must (be|hold)"):
        UserMsg("u", "text", **options)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_for_which_json_has_no_word_are_named(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        UserMsg("u", "text", metadata={"score": [number]})
    with pytest.raises(ValueError, match="finite"):
        UserMsg("u", "text", created_at=number)
    with pytest.raises(ValueError, match="finite"):
        UserMsg("u", "text", created_at=10**400)


def test_metadata_may_not_hold_itself() -> None:
    facts: dict[str, object] = {}
    facts["facts"] = facts
    with pytest.raises(ValueError, match="deep"):
        UserMsg("u", "text", metadata=facts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TextBlock(5),  # type: ignore[arg-type]
        lambda: TextBlock(None),  # type: ignore[arg-type]
        lambda: ThinkingBlock(["a"]),  # type: ignore[arg-type]
        lambda: HintBlock("a", source=5),  # type: ignore[arg-type]
        lambda: DataBlock("image/png", data=b"x"),  # type: ignore[arg-type]
        lambda: ToolCallBlock("c", "Read", {"path": "a"}),  # type: ignore[arg-type]
        lambda: ToolCallBlock("c", None),  # type: ignore[arg-type]
        lambda: ToolResultBlock("c", "Read", None),  # type: ignore[arg-type]
        lambda: ToolResultBlock("c", "Read", ("text",)),  # type: ignore[arg-type]
        lambda: ToolResultBlock("c", "Read", [ThinkingBlock("x")]),  # type: ignore[arg-type]
    ],
)
def test_blocks_name_what_they_cannot_hold(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="must be a str"):
        make()


def test_the_state_of_a_result_is_one_of_four() -> None:
    with pytest.raises(ValueError, match="state must be one of"):
        ToolResultBlock("c", "Read", "text", "broken")  # type: ignore[arg-type]


def test_what_a_caller_does_with_the_output_that_he_gave_reaches_no_block() -> None:
    output = [TextBlock("a")]
    block = ToolResultBlock("c", "Read", output)  # type: ignore[arg-type]
    output.append(TextBlock("later"))
    assert block.output == (TextBlock("a"),)
