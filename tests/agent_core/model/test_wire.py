"""Messages in the form of the API, and never a history that a server refuses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from agent_core.model.base import ToolSchema
from agent_core.model.profile import EndpointProfile
from agent_core.model.wire import wire_messages, wire_tools
from tests.fake_server.strictness import Strictness, history_complaint

PLAIN = EndpointProfile()
IMAGE = DataBlock("image/png", data="aGk=")
IMAGE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def wire(*messages: Msg, **quirks):
    return wire_messages(messages, EndpointProfile(**quirks))


def call(id="c1", name="Read", input='{"path": "a.md"}'):
    return ToolCallBlock(id, name, input)


def calling(*calls, text=""):
    return AssistantMsg("bot", [*([TextBlock(text)] if text else []), *calls])


def result(id="c1", output="done", name="Read", **fields):
    return SystemMsg(name, [ToolResultBlock(id, name, output, **fields)])


def wired_result(id="c1", content="done"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def test_texts_of_each_role():
    assert wire(SystemMsg("s", "be brief"), UserMsg("ana", "hi"), AssistantMsg("bot", "hello")) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]


def test_system_texts_at_the_start_are_one_message_and_later_ones_are_the_users():
    messages = wire(SystemMsg("s", "one"), SystemMsg("s", "two"), UserMsg("u", "hi"), SystemMsg("s", "three"))
    assert messages == [
        {"role": "system", "content": "one\n\ntwo"},
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "three"},
    ]


def test_a_hint_is_a_user_message():
    hint = AssistantMsg("memory", [HintBlock("Ana lives in Hangzhou", "memory")])
    assert wire(UserMsg("u", "where?"), hint)[1] == {"role": "user", "content": "Ana lives in Hangzhou"}


def test_a_call_and_its_result():
    assert wire(UserMsg("u", "read it"), calling(call()), result())[1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": '{"path": "a.md"}'}}
            ],
        },
        wired_result(),
    ]


@pytest.mark.parametrize("content", [None, ""])
def test_the_content_of_a_message_that_only_calls_is_the_endpoints_choice(content):
    """S28: one server refuses null, another the empty string."""
    assert wire(calling(call()), result(), call_only_content=content)[0]["content"] == content


def test_text_beside_a_call_goes_along():
    assert wire(calling(call(), text="Reading."), result())[0]["content"] == "Reading."


@pytest.mark.parametrize("broken", ["{", '{"path":"a.md","content":"lo', '{"type": user"}', "[1]", "\x00"])
def test_broken_arguments_go_out_as_valid_json_that_keeps_them(broken):
    """S25: the server accepts the history, and the model sees what it wrote."""
    messages = wire(calling(call(input=broken)), result(output="truncated", state="error"))
    arguments = json.loads(messages[0]["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"raw_arguments": broken}
    assert history_complaint(messages) is None


@pytest.mark.parametrize(("name", "sent"), [("my.read it", "my_read_it"), ("", "unnamed"), ("x" * 99, "x" * 64)])
def test_a_name_that_no_server_takes_is_made_one_that_it_takes(name, sent):
    """S25: the kind; a name that the model made up must not get every later request refused."""
    messages = wire(calling(call(name=name)), result(output="there is no such tool", state="error"))
    assert messages[0]["tool_calls"][0]["function"]["name"] == sent
    assert history_complaint(messages) is None


def test_windows_paths_in_arguments_are_kept_exactly():
    """F20: byte for byte, as the model wrote them."""
    written = json.dumps({"path": r"C:\data\uface\ubeef1.md"})
    assert wire(calling(call(input=written)), result())[0]["tool_calls"][0]["function"]["arguments"] == written


class TestReasoning:
    THOUGHT = AssistantMsg("bot", [ThinkingBlock("hm"), call()])

    def test_stays_here_as_a_rule(self):
        assert "hm" not in json.dumps(wire(self.THOUGHT, result()))

    def test_goes_back_with_its_calls_where_the_endpoint_wants_it(self):
        """S12: carried back within the tool loop."""
        messages = wire(UserMsg("u", "q"), self.THOUGHT, result(), reasoning_field="reasoning_content")
        assert messages[1]["reasoning_content"] == "hm"

    def test_a_call_without_reasoning_has_the_field_too(self):
        """S12: a server that checks for it finds it."""
        messages = wire(calling(call()), result(), reasoning_field="reasoning_content")
        assert Strictness(need_reasoning="reasoning_content").complaint({"messages": messages}) is None

    def test_does_not_go_back_without_calls(self):
        answer = AssistantMsg("bot", [ThinkingBlock("hm"), TextBlock("a")])
        assert wire(answer, reasoning_field="reasoning") == [{"role": "assistant", "content": "a"}]

    def test_alone_is_no_message(self):
        assert wire(UserMsg("u", "q"), AssistantMsg("bot", [ThinkingBlock("hm")])) == [{"role": "user", "content": "q"}]


class TestPairs:
    def test_what_came_between_a_call_and_its_results_goes_behind_them(self):
        """C01: servers refuse anything else between a call and its result."""
        hint = AssistantMsg("memory", [HintBlock("by the way")])
        messages = wire(calling(call("a"), call("b")), result("b"), hint, UserMsg("u", "hurry"), result("a"))
        assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "user", "user"]
        assert history_complaint(messages) is None

    def test_a_call_without_a_result_gets_one_that_says_so(self):
        """C01, C02: interrupted while tool 1 of 2 ran, then `hi`."""
        messages = wire(UserMsg("u", "go"), calling(call("a"), call("b")), result("a"), UserMsg("u", "hi"))
        assert messages[2:] == [
            wired_result("a"),
            wired_result("b", "Interrupted: this call did not finish."),
            {"role": "user", "content": "hi"},
        ]

    def test_results_that_were_computed_are_sent(self):
        """C05: four parallel calls, then the network fails and the user says `continue`."""
        calls = [call(f"c{number}") for number in range(4)]
        results = [result(one.id, f"r{one.id}") for one in calls]
        messages = wire(UserMsg("u", "go"), calling(*calls), *results, UserMsg("u", "continue"))
        assert messages[2:6] == [wired_result(one.id, f"r{one.id}") for one in calls]
        assert history_complaint(messages) is None

    def test_a_result_without_its_call_stays_here(self):
        assert wire(result("gone"), UserMsg("u", "hi")) == [{"role": "user", "content": "hi"}]

    def test_a_second_result_of_a_call_stays_here(self):
        assert len(wire(calling(call()), result(), result(output="again"))) == 2

    def test_an_id_twice_in_one_message_is_one_call(self):
        assert history_complaint(wire(calling(call(), call()), result())) is None

    def test_the_same_id_in_two_rounds_is_two_pairs(self):
        messages = wire(calling(call()), result(output="1"), calling(call()), result(output="2"))
        assert [message["content"] for message in messages if message["role"] == "tool"] == ["1", "2"]
        assert history_complaint(messages) is None

    def test_an_empty_result_says_that_it_is_empty(self):
        assert wire(calling(call()), result(output=""))[1]["content"] == "(no output)"


class TestData:
    def test_an_image_is_a_part(self):
        content = wire(UserMsg("u", [TextBlock("what is this?"), IMAGE]))[0]["content"]
        assert content == [{"type": "text", "text": "what is this?"}, IMAGE_PART]

    def test_an_image_by_address(self):
        content = wire(UserMsg("u", [DataBlock("image/jpeg", url="https://x.invalid/a.jpg")]))[0]["content"]
        assert content == [{"type": "image_url", "image_url": {"url": "https://x.invalid/a.jpg"}}]

    def test_sound_is_a_part(self):
        content = wire(UserMsg("u", [DataBlock("audio/wav", data="aGk=")]))[0]["content"]
        assert content == [{"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}]

    def test_another_file_is_mentioned(self):
        [message] = wire(UserMsg("u", [DataBlock("application/zip", data="aGk=", name="a.zip")]))
        assert message["content"] == [{"type": "text", "text": "[a.zip (application/zip), not shown]"}]

    def test_an_image_in_a_result_follows_all_results(self):
        messages = wire(calling(call("a"), call("b")), result("a", [TextBlock("here"), IMAGE]), result("b"))
        assert messages[1:] == [
            wired_result("a", "here"),
            wired_result("b"),
            {"role": "user", "content": [{"type": "text", "text": "From the result of Read:"}, IMAGE_PART]},
        ]


class TestEmptyAndTurns:
    def test_messages_that_say_nothing_are_not_sent(self):
        assert wire(UserMsg("u", " "), AssistantMsg("bot", ""), AssistantMsg("bot", []), UserMsg("u", "hi")) == [
            {"role": "user", "content": "hi"}
        ]

    def test_text_goes_out_exactly_as_it_is(self):
        text = "  [/x] \x1b[2J\n\n  "
        assert wire(UserMsg("u", text))[0]["content"] == text

    def test_alternating_roles_where_a_template_insists(self):
        messages = [
            SystemMsg("s", "brief"),
            UserMsg("u", "one"),
            AssistantMsg("memory", [HintBlock("two")]),
            UserMsg("u", [TextBlock("three"), IMAGE]),
            AssistantMsg("bot", "a"),
            calling(call()),
            result(),
            UserMsg("u", "four"),
        ]
        merged = wire(*messages, alternating_roles=True)
        assert Strictness(alternating_roles=True).complaint({"messages": merged}) is None
        assert merged[1]["content"] == [
            {"type": "text", "text": "one\n\ntwo"},
            {"type": "text", "text": "three"},
            IMAGE_PART,
        ]
        assert merged[2]["content"] == "a"
        assert merged[2]["tool_calls"]

    def test_lone_surrogates_stay_out_of_the_prompt(self):
        """S30: also out of tool schemas and escaped arguments."""
        messages = wire(UserMsg("u", "hi \ud83d"), calling(call(input=r'{"a": "\ud83d"}')), result(output="x\udc00"))
        tools = wire_tools([ToolSchema("f", "about \ud83d", {"type": "object", "enum": ["\ud83d"]})])
        json.dumps([messages, tools], ensure_ascii=False).encode()
        assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == {"a": "\ufffd"}


IDS = st.sampled_from(["a", "b", "c"])
BLOCKS = st.one_of(
    st.builds(TextBlock, st.sampled_from(["", "text"])),
    st.builds(HintBlock, st.just("hint")),
    st.builds(ThinkingBlock, st.just("hm")),
    st.just(IMAGE),
    st.builds(ToolCallBlock, IDS, st.sampled_from(["Read", "", "my.read 读"]), st.sampled_from(["{}", "{", ""])),
    st.builds(ToolResultBlock, IDS, st.just("Read"), st.sampled_from(["", "out", (TextBlock("x"), IMAGE)])),
)
MESSAGES = st.builds(Msg, st.just("n"), st.lists(BLOCKS, max_size=4), st.sampled_from(["user", "assistant", "system"]))


@given(st.lists(MESSAGES, max_size=8), st.booleans(), st.sampled_from([None, ""]))
def test_no_messages_make_a_history_that_a_strict_server_refuses(messages, alternating, content):
    """C01, C02, C05, S25: the kind."""
    strict = Strictness(
        refuse_null_content=content is not None,
        refuse_empty_content=content is None,
        need_reasoning="reasoning",
        alternating_roles=alternating,
    )
    profile = EndpointProfile(alternating_roles=alternating, call_only_content=content, reasoning_field="reasoning")
    written = wire_messages(messages, profile)
    assert not written or strict.complaint({"messages": written}) is None


def test_short_ids_keep_calls_apart_and_those_that_are_short_already():
    first, second = "call_" + "a" * 60, "call_" + "a" * 60 + "b"
    sent = wire(calling(call(first), call(second), call("aB3dE6gH9")), result(first), short_call_ids=True)
    ids = [one["id"] for one in sent[0]["tool_calls"]]
    assert len(set(ids)) == 3
    assert ids[2] == "aB3dE6gH9"
    assert [message["tool_call_id"] for message in sent[1:]] == ids
