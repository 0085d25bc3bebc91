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
    "```tool_code\nprint(default_api.Read(path='a.md'))\n```",
    'Let me look.\n\nRead("a.md")',
    "Sure:\n[Read(path='a.md')]",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Read\n",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="Read">',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:0<|tool_call_argument_begin|>{"path": "a"}',
    '<|channel|>commentary to=functions.Read <|constrain|>json<|message|>{"path": "a"}',
    '<minimax:tool_call>\n<invoke name="save">',
    "<tool_use>\n<name>Read</name>",
    "<Read>\n<path>a</path>\n</Read>",
    '<TOOLCALL>[{"name": "Read", "argum',
    "<start_function_call>call:Read{path:a}",
    '[TOOL_CALLS]Read[ARGS]{"path": "a"}',
    'functools[{"name": "Read"',
    '>>>Read\n{"path": "a"}',
    'Thought: look\nAction: Read\nAction Input: {"path": "a"}',
    '{"action": "Read", "action_input": {"path": "a"}}',
    '{"tool_uses": [{"recipient_name": "functions.Read", "parameters": {"path": "a"}}]}',
    '{"name": "save", "arguments": {"text": "cut sho',
    "{'name': 'save', 'arguments': {'text': 'a'}}",
    '{"arguments": {"text": "a"}, "name": "functions.save"}',
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
    "[tools] are there to Read files",
    "Read(path) gives the text. It is useful.",
    "Action: Read more books.",
    "<Read> more, <b>save</b> less",
]


@pytest.mark.parametrize("text", PRINTED)
def test_printed_calls_are_recognised(text):
    assert looks_like_printed_tool_call(text, TOOLS)


@pytest.mark.parametrize("text", NOT_PRINTED)
def test_ordinary_text_is_not_taken_for_a_call(text):
    assert not looks_like_printed_tool_call(text, TOOLS)


def test_without_tools_nothing_is_a_call():
    assert not looks_like_printed_tool_call(PRINTED[0], ())


@pytest.mark.parametrize(
    "text",
    [
        'save {"a":' * 20_000,
        "save " + "{" * 200_000,
        "<tool_call>" * 50_000 + "sav",
        "<tool" + "l" * 200_000 + "save",
        "save(x=" + ")" * 200_000 + "z",
        "save(x=\n" * 30_000,
        "Action: save" + "\n" * 200_000,
        '"name":' + " " * 200_000 + "save",
    ],
)
def test_hostile_text_takes_bounded_work(text):
    assert not looks_like_printed_tool_call(text, TOOLS)
