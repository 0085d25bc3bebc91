"""C09: the object that was asked for is found in whatever a model writes around it."""

import pytest

from agent_core.errors import StructuredOutputError
from agent_core.model.base import parse_object

FREE = {"type": "object", "properties": {"task": {"type": "string"}}, "required": []}
STRICT = {**FREE, "required": ["task"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"task": "tea"}',
        'Sure!\n```json\n{"task": "tea"}\n```\nThat is all, {really}.',
        '<think>Maybe {} or {"task": "coffee"}?</think>{"task": "tea"}',
        'the beginning is lost {"task": "coffee"}</think>{"task": "tea"}',
        'First {}, then {"other": 1}, then {"task": "tea"}',
        '{"summary": {"task": "tea"}}',
        '[{"task": "tea"}]',
    ],
)
@pytest.mark.parametrize("schema", [FREE, STRICT])
def test_what_the_schema_describes_is_found(text, schema):
    assert parse_object(text, schema) == {"task": "tea"}


def test_an_object_of_other_things_fits_where_nothing_is_required_and_there_is_no_better_one():
    assert parse_object('Here: {"other": 1}', FREE) == {"other": 1}


@pytest.mark.parametrize("text", ["", "tea", '{"other": 1}', '{"task": "te', "[1]", '{"a":' * 100_000])
def test_nothing_that_fits_is_an_error(text):
    with pytest.raises(StructuredOutputError):
        parse_object(text, STRICT)
