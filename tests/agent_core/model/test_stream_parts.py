"""Raw chunks to deltas, whatever shape the chunks have."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.event import Usage
from agent_core.model.base import Finished, ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta
from agent_core.model.stream_parts import StreamParts


def delta(**fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def piece(id=None, name=None, arguments=None, **fields):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**({"id": id} if id is not None else {}), **fields, "function": function}


def call_chunks(*pieces):
    return [delta(tool_calls=[one]) for one in pieces]


def collect(chunks, parts=None) -> list[ModelDelta]:
    parts = parts or StreamParts()
    return [delta for chunk in chunks for delta in parts.feed(chunk)] + parts.close()


def calls_of(chunks, parts=None) -> list[tuple[str, str, str]]:
    calls: dict[str, tuple[str, str]] = {}
    for one in collect(chunks, parts):
        if isinstance(one, ToolCallDelta):
            name, arguments = calls.setdefault(one.id, (one.name, ""))
            assert name == one.name
            calls[one.id] = (name, arguments + one.arguments)
    return [(call_id, *call) for call_id, call in calls.items()]


class TestToolCalls:
    @pytest.mark.parametrize("index", [{}, {"index": None}])
    def test_without_any_index(self, index):
        """S01, S06: pieces without an index belong together, and nothing is lost."""
        chunks = call_chunks(
            piece("c1", "f", "", **index), piece(None, None, "{", **index), piece(None, None, "}", **index)
        )
        assert calls_of(chunks) == [("c1", "f", "{}")]

    def test_two_ids_under_one_index_are_two_calls(self):
        """S03: a new id on a seen index starts a new call."""
        chunks = call_chunks(piece("a", "read", '{"p":"1"}', index=0), piece("b", "read", '{"p":"2"}', index=0))
        assert calls_of(chunks) == [("a", "read", '{"p":"1"}'), ("b", "read", '{"p":"2"}')]

    def test_two_ids_under_one_index_in_pieces(self):
        """S03: later pieces without an id go to the newest call of their index."""
        chunks = call_chunks(
            piece("a", "read", "{", index=0),
            piece(None, None, "}", index=0),
            piece("b", "read", "[", index=0),
            piece(None, None, "]", index=0),
        )
        assert calls_of(chunks) == [("a", "read", "{}"), ("b", "read", "[]")]

    @pytest.mark.parametrize("no_id", [None, ""])
    def test_an_id_that_never_comes_is_made_up_and_stays(self, no_id):
        """S04: one call with a made-up id, the same in each delta."""
        chunks = call_chunks(piece(no_id, "f", '{"q":', index=0), piece(no_id, None, "1}", index=0))
        [(call_id, name, arguments)] = calls_of(chunks)
        assert (name, arguments) == ("f", '{"q":1}')
        assert call_id

    def test_made_up_ids_differ(self):
        """S04: parallel calls without ids."""
        chunks = call_chunks(piece(None, "f", "{}", index=0), piece(None, "f", "{}", index=1))
        assert len(calls_of(chunks)) == 2

    def test_an_index_that_is_written_as_a_fraction(self):
        chunks = call_chunks(
            piece("a", "f", "{", index=0.0),
            piece("b", "g", "{", index=1.0),
            piece(None, None, "}", index=0.0),
            piece(None, None, "}", index=1.0),
        )
        assert calls_of(chunks) == [("a", "f", "{}"), ("b", "g", "{}")]

    def test_whole_arguments_in_one_late_chunk(self):
        """S19: name and 6 KB of arguments at once."""
        arguments = json.dumps({"content": "x" * 6000})
        assert calls_of(call_chunks(piece("c", "Write", arguments, index=0))) == [("c", "Write", arguments)]

    def test_an_index_that_starts_at_one(self):
        chunks = call_chunks(
            piece("a", "f", "{", index=1), piece(None, None, "}", index=1), piece("b", "g", "{}", index=2)
        )
        assert calls_of(chunks) == [("a", "f", "{}"), ("b", "g", "{}")]

    def test_interleaved_parallel_calls(self):
        chunks = call_chunks(
            piece("a", "f", "", index=0),
            piece("b", "g", "", index=1),
            piece(None, None, "{1", index=0),
            piece(None, None, "{2", index=1),
            piece(None, None, "}", index=0),
        )
        assert calls_of(chunks) == [("a", "f", "{1}"), ("b", "g", "{2")]

    @pytest.mark.parametrize("id", ["a", None])
    @pytest.mark.parametrize("index", [{"index": 0}, {}])
    def test_a_name_repeated_in_each_delta_is_one_call(self, id, index):
        chunks = call_chunks(
            piece(id, "f", '{"a"', **index), piece(id, "f", ": 1", **index), piece(id, "f", "}", **index)
        )
        assert [call[1:] for call in calls_of(chunks)] == [("f", '{"a": 1}')]

    def test_whole_calls_without_id_and_index_are_kept_apart(self):
        chunks = [delta(tool_calls=[piece(None, "f", '{"a":1}'), piece(None, "f", '{"a":2}'), piece(None, "g", "{}")])]
        assert [call[1:] for call in calls_of(chunks)] == [("f", '{"a":1}'), ("f", '{"a":2}'), ("g", "{}")]

    def test_whole_calls_that_all_claim_index_zero_are_kept_apart(self):
        chunks = call_chunks(piece(None, "f", '{"a":1}', index=0), piece(None, "g", "{}", index=0))
        assert [call[1:] for call in calls_of(chunks)] == [("f", '{"a":1}'), ("g", "{}")]

    def test_a_fresh_id_in_every_delta_of_one_call(self):
        """S03, the other way round: an id without a name starts nothing."""
        chunks = call_chunks(piece("a", "f", "{", index=0), piece("b", None, "}", index=0))
        assert calls_of(chunks) == [("a", "f", "{}")]

    def test_one_id_for_two_calls_becomes_two_ids(self):
        chunks = call_chunks(piece("a", "f", "{}", index=0), piece("a", "g", "{}", index=1))
        (first, *_), (second, *_) = calls_of(chunks)
        assert first == "a"
        assert second != "a"

    def test_an_id_that_an_earlier_answer_used_is_replaced(self):
        [(call_id, name, _)] = calls_of(call_chunks(piece("call_0", "f", "{}")), StreamParts({"call_0"}))
        assert name == "f"
        assert call_id != "call_0"

    def test_nothing_is_told_before_the_name_is_known(self):
        parts = StreamParts()
        assert parts.feed(delta(tool_calls=[piece("a", None, '{"x"', index=0)])) == []
        assert parts.feed(delta(tool_calls=[piece(None, "f", ": 1}", index=0)])) == [
            ToolCallDelta("a", "f", '{"x": 1}')
        ]
        assert parts.close() == []

    def test_arguments_of_a_call_without_a_name_do_not_vanish(self):
        """S06: what nobody can place is handed on, so that an error can be shown."""
        assert collect(call_chunks(piece("a", None, "{}", index=0))) == [ToolCallDelta("a", "", "{}")]

    def test_an_id_that_comes_after_the_index_changes_nothing(self):
        chunks = call_chunks(piece(None, None, "", index=0), piece("a", "f", "{}", index=0))
        assert [call[1:] for call in calls_of(chunks)] == [("f", "{}")]

    @pytest.mark.parametrize("starts", [({"index": "0"}, {"index": "1"}), ({}, {}), ({"index": None}, {"index": None})])
    def test_interleaved_calls_whose_index_changes_its_form(self, starts):
        first, second = starts
        chunks = call_chunks(
            piece("a", "f", "", **first),
            piece("b", "f", "", **second),
            *(piece(None, None, text, index=index) for text in "{}" for index in (0, 1)),
        )
        assert calls_of(chunks) == [("a", "f", "{}"), ("b", "f", "{}")]

    def test_the_older_form_of_a_call(self):
        chunks = [
            delta(function_call={"name": "f", "arguments": ""}),
            delta(function_call={"arguments": "{"}),
            delta(function_call={"arguments": "}"}),
        ]
        assert [call[1:] for call in calls_of(chunks)] == [("f", "{}")]

    def test_a_call_without_its_inner_object(self):
        assert calls_of([delta(tool_calls=[{"id": "a", "name": "f", "arguments": "{}"}])]) == [("a", "f", "{}")]

    def test_arguments_given_as_an_object(self):
        [(_, name, arguments)] = calls_of(call_chunks(piece("a", "f", {"x": [1]})))
        assert (name, json.loads(arguments)) == ("f", {"x": [1]})

    def test_text_between_the_pieces_of_a_call_waits_for_the_end(self):
        chunks = [
            delta(content="before", tool_calls=[piece("a", "f", "{", index=0)]),
            delta(content="after", tool_calls=[piece(None, None, "}", index=0)]),
        ]
        assert collect(chunks) == [
            TextDelta("before"),
            ToolCallDelta("a", "f", "{"),
            ToolCallDelta("a", "f", "}"),
            TextDelta("after"),
        ]


class TestText:
    def test_null_and_empty_content_is_no_text(self):
        chunks = [delta(role="assistant", content=None), delta(content=""), delta(content="a"), delta(content=None)]
        assert collect(chunks) == [TextDelta("a")]

    @pytest.mark.parametrize(
        "field", ["reasoning_content", "reasoning", "reasoning_text", "thinking", "thought", "reasoning_details"]
    )
    def test_reasoning_in_either_field(self, field):
        chunks = [delta(**{field: "hm"}), delta(content="", **{field: None}), delta(content="a")]
        assert collect(chunks) == [ThinkingDelta("hm"), TextDelta("a")]

    def test_reasoning_in_both_fields_counts_once(self):
        assert collect([delta(reasoning="hm", reasoning_content="hm")]) == [ThinkingDelta("hm")]

    def test_content_in_parts(self):
        parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]
        assert collect([delta(content=parts)]) == [ThinkingDelta("hm"), TextDelta("a")]

    @pytest.mark.parametrize(
        "thought", ["hm", ["h", "m"], {"content": "hm"}, [{"type": "reasoning.text", "text": "h"}, {"summary": "m"}]]
    )
    def test_reasoning_however_it_is_wrapped(self, thought):
        assert collect([delta(reasoning=thought)]) == [ThinkingDelta("hm")]

    @pytest.mark.parametrize("content", [["a", "b"], {"text": "ab"}, [{"type": "text", "text": {"value": "ab"}}]])
    def test_text_however_it_is_wrapped(self, content):
        said = [one for one in collect([delta(content=content)]) if isinstance(one, TextDelta)]
        assert "".join(one.text for one in said) == "ab"

    def test_a_refusal_is_text(self):
        assert collect([delta(refusal="I cannot.")]) == [TextDelta("I cannot.")]

    def test_a_character_whose_halves_come_in_two_chunks_is_whole(self):
        """S30: the kind on its way in."""
        chunks = [
            delta(content="hi \ud83d"),
            delta(content="\ude00!"),
            delta(reasoning="\ud83d"),
            delta(reasoning="\ude00"),
        ]
        assert collect(chunks) == [TextDelta("hi "), TextDelta("😀!"), ThinkingDelta("😀")]

    def test_a_lone_half_is_replaced(self):
        assert collect([delta(content="a\ud83d")]) == [TextDelta("a"), TextDelta("\ufffd")]
        assert collect([delta(content="\ude00a")]) == [TextDelta("\ufffda")]

    def test_an_answer_in_one_piece(self):
        message = {"role": "assistant", "content": "a", "tool_calls": [piece("c", "f", "{}")]}
        chunk = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        assert collect([chunk]) == [TextDelta("a"), ToolCallDelta("c", "f", "{}")]

    def test_an_answer_in_one_piece_beside_a_delta_that_is_null(self):
        chunk = {"choices": [{"delta": None, "message": {"content": "a"}, "finish_reason": "stop"}]}
        assert collect([chunk]) == [TextDelta("a")]

    def test_a_message_beside_the_deltas_is_not_said_twice(self):
        chunk = {"choices": [{"delta": {}, "message": {"content": "all of it"}, "finish_reason": "stop"}]}
        assert collect([chunk]) == []


class TestEnd:
    @pytest.mark.parametrize("first", [0, 1])
    def test_of_several_choices_the_one_that_came_first_counts(self, first):
        def choice(index, text, finish=None):
            return {"index": index, "delta": {"content": text}, "finish_reason": finish}

        parts = StreamParts()
        chunks = [
            {"choices": [choice(first, "a")]},
            {"choices": [choice(1 - first, "x", "length")]},
            {"choices": [choice(1 - first, "y"), choice(first, "b", "stop")]},
        ]
        assert collect(chunks, parts) == [TextDelta("a"), TextDelta("b")]
        assert parts.finished() == Finished("stop", None)

    def test_chunks_without_choices(self):
        """S07: filter information first, usage last; the text stays, the usage is noted."""
        parts = StreamParts()
        chunks = [
            {"choices": [], "prompt_filter_results": []},
            delta(content="a"),
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
        ]
        assert collect(chunks, parts) == [TextDelta("a")]
        assert parts.finished() == Finished("stop", Usage(7, 2))

    def test_a_finish_that_never_comes_is_none(self):
        """S18: the last finish_reason is null."""
        parts = StreamParts()
        collect([delta(content="a")], parts)
        assert parts.finished() == Finished(None, None)

    @pytest.mark.parametrize(
        ("said", "means"),
        [
            ("MAX_TOKENS", "length"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("SAFETY", "content_filter"),
            ("sensitive", "content_filter"),
            ("length", "length"),
            ("eos", "eos"),
        ],
    )
    def test_an_end_that_a_vendor_calls_otherwise(self, said, means):
        """S23: what is cut must be known for that, whatever the endpoint's word for it."""
        parts = StreamParts()
        parts.feed({"choices": [{"delta": {"content": "a"}, "finish_reason": said}]})
        assert parts.finished().reason == means

    @pytest.mark.parametrize(
        "details", [{"prompt_tokens_details": {"cached_tokens": 5}}, {"prompt_cache_hit_tokens": 5}]
    )
    def test_cached_tokens_wherever_they_are_told(self, details):
        parts = StreamParts()
        parts.feed({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, **details}})
        assert parts.usage == Usage(7, 2, 5)

    @pytest.mark.parametrize(
        "reports",
        [
            [{"usage": {"input_tokens": 7, "output_tokens": 2}}],
            [{"x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}}],
            [{"usage": {"prompt_tokens": 7}}, {"usage": {"completion_tokens": 2}}],
            [{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}, {"usage": {"prompt_tokens": 0}}],
            [{"usage": {"prompt_tokens": 7.0, "completion_tokens": 2.0}}],
        ],
    )
    def test_usage_wherever_and_however_often_it_is_told(self, reports):
        parts = StreamParts()
        collect([{"choices": [], **report} for report in reports], parts)
        assert parts.usage == Usage(7, 2)

    @pytest.mark.parametrize("count", [-7, 10**30, float("nan"), float("inf"), "many", [7]])
    def test_what_is_no_count_is_none(self, count):
        parts = StreamParts()
        parts.feed({"choices": [], "usage": {"prompt_tokens": count, "completion_tokens": 2}})
        assert parts.usage == Usage(0, 2)

    def test_usage_of_every_chunk_the_last_counts(self):
        parts = StreamParts()
        parts.feed({**delta(content="a"), "usage": {"prompt_tokens": 7, "completion_tokens": 1}})
        parts.feed({"choices": [{"delta": {}, "usage": {"prompt_tokens": 7, "completion_tokens": 3}}], "usage": None})
        assert parts.usage == Usage(7, 3)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "tool_calls", "function", "usage", "id", "index"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "error"]), JUNK | st.lists(JUNK), max_size=3)))
def test_no_shape_of_chunk_raises(chunks):
    """S01, S06, S07: fields missing, null or of another type."""
    parts = StreamParts()
    for one in collect(chunks, parts):
        assert all(isinstance(field, str) for field in one)
    parts.finished()


@pytest.mark.parametrize(
    "nothing", [None, {}, {"index": 0, "id": "c1", "function": None}, {"index": 0, "function": {}}]
)
def test_a_call_of_which_nothing_is_said_is_none(nothing):
    """S01, S06: beside text it would be a call of a tool without a name."""
    assert collect([delta(content="hi", tool_calls=[nothing]), delta(content="!")])[0] == TextDelta("hi")
    assert calls_of([delta(tool_calls=[nothing])]) == []


def test_a_single_object_stands_for_a_list_of_it():
    """S06: nothing of it vanishes."""
    call = piece(id="c1", name="f", arguments="{}")
    assert calls_of([{"choices": {"delta": {"tool_calls": call}}}]) == [("c1", "f", "{}")]
    assert collect([delta(content={"type": "text", "text": "hi"})]) == [TextDelta("hi")]
