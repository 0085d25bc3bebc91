"""S21: a tool call that the model printed as text is recognised, so that a person can be told."""

import pytest

from agent_core.model.printed_call import looks_like_printed_tool_call

TOOLS = ("Read", "save")

PRINTED = [
    '{"name":"save","arguments":{"path":"a.md"}}',
    'Sure, I will do it.\n```json\n{"name": "save", "parameters": {"x": 1}}\n```',
    '<tool_call>\n{"name": "Read", "arguments": {"path": "a"}}\n</tool_call>',
    '<tool_call>{"name": "Read", "arguments": {"path": "a',
    "<function=Read>\n<parameter=path>a</parameter>\n</function>",
    '<invoke name="Read"><parameter name="path">a</parameter></invoke>',
    '[TOOL_CALLS][{"name": "save", "arguments": {}}]',
    '{"tool_calls": [{"type": "function", "function": {"name": "save", "arguments": "{}"}}]}',
    '[{"name": "save", "arguments": {}}]',
    '{"tool": "save", "input": {"a": 1}}',
    '{"function": "save", "args": {}}',
    'Read(path="a.md")',
    '[Read(path="a.md"), save(text="b")]',
    "```tool_code\nRead(path='a.md')\n```",
]
NOT_PRINTED = [
    "",
    "I can Read files and save notes.",
    '{"name": "Ana", "arguments": ["for", "against"]}',
    '{"name": "save"}',
    '{"name": "other", "arguments": {}}',
    "To save, call the save tool.",
    "Read (the book) is good",
    "{ save { Read",
    "I used a <tool_call> once.",
]


@pytest.mark.parametrize("text", PRINTED)
def test_printed_calls_are_recognised(text):
    assert looks_like_printed_tool_call(text, TOOLS)


@pytest.mark.parametrize("text", NOT_PRINTED)
def test_ordinary_text_is_not_taken_for_a_call(text):
    assert not looks_like_printed_tool_call(text, TOOLS)


def test_without_tools_nothing_is_a_call():
    assert not looks_like_printed_tool_call(PRINTED[0], ())


@pytest.mark.parametrize("text", ['save {"a":' * 20_000, "save " + "{" * 200_000, "<tool_call>" * 50_000 + "sav"])
def test_hostile_text_takes_bounded_work(text):
    assert not looks_like_printed_tool_call(text, TOOLS)
