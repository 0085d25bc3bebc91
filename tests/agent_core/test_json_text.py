"""JSON objects as models write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.json_text import load_object, objects_in, valid_object_text

NESTED = '{"a":' * 100_000
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_a_valid_text_comes_back_byte_for_byte():
    text = '{ "path":"a.md",  "n": 1.50 }'
    assert valid_object_text(text) == text


@pytest.mark.parametrize(
    "text", ["{", '{"type": user"}', "[1]", '"a"', "no", '{"a": NaN}', '{"a": Infinity}', NESTED, '{"a":1}{"b":2}']
)
def test_what_cannot_be_used_is_kept_as_text_in_a_valid_object(text):
    assert json.loads(valid_object_text(text)) == {"raw_arguments": text}


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_becomes_the_empty_object(text):
    assert valid_object_text(text) == "{}"


def test_raw_line_breaks_in_strings_are_read_and_written_as_json_wants_them():
    text = '{"content": "one\ntwo"}'
    assert load_object(text) == {"content": "one\ntwo"}
    assert json.loads(valid_object_text(text)) == {"content": "one\ntwo"}


@pytest.mark.parametrize("text", ['{}{"a": 1}', ' { }\n{"a": 1}'])
def test_an_empty_object_that_a_proxy_puts_first_is_passed_over(text):
    """S23, S27: in every call of such an endpoint, whatever the model writes."""
    assert load_object(text) == {"a": 1}
    assert json.loads(valid_object_text(text)) == {"a": 1}


def test_the_place_of_a_mistake_counts_what_is_passed_over():
    with pytest.raises(json.JSONDecodeError) as caught:
        load_object('{}{"a": no}')
    assert caught.value.pos == 8


def test_an_escaped_lone_surrogate_does_not_go_out_again():
    written = valid_object_text(r'{"a": "hi \ud83d", "b": "\ud83d\ude00"}')
    assert json.loads(written) == {"a": "hi \ufffd", "b": "😀"}


@given(st.dictionaries(st.text(), VALUES))
def test_every_object_survives(value):
    assert json.loads(valid_object_text(json.dumps(value))) == json.loads(json.dumps(value))


@given(st.text(alphabet='{}[]",:\\u0dx \n'))
def test_whatever_is_written_every_server_can_parse_it(text):
    written = valid_object_text(text)
    assert isinstance(json.loads(written), dict)
    written.encode()


@pytest.mark.parametrize(
    "text",
    [
        'Here it is:\n```json\n{"a": "one\ntwo"}\n```\nand {"b": 2}.',
        r'\frac{x}{y} {"a": "one\ntwo"} { "b": 1 {"b": 2}',
    ],
)
def test_objects_are_found_whatever_is_around_them(text):
    """C09: a summary in a code fence, behind prose with braces of its own."""
    assert list(objects_in(text)) == [{"a": "one\ntwo"}, {"b": 2}]


@pytest.mark.parametrize("text", ["{" * 200_000, '{"a":' * 100_000, '{"a":' + "[" * 100_000, '{"a":' + "9" * 5_000])
def test_looking_for_objects_takes_bounded_work_in_any_text(text):
    assert list(objects_in(text)) == []
