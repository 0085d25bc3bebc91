"""The arguments of a tool call, or what is wrong with them."""

import json

import pytest

from agent_core.errors import ToolError
from agent_core.tool.arguments import parse_arguments

WINDOWS_PATH = r"C:\data\uface\ubeef1.md"


@pytest.mark.parametrize("raw", ["", "  ", "null", "{}"])
def test_nothing_means_no_arguments(raw):
    assert parse_arguments(raw, "tool_calls") == {}


def test_complete_arguments_are_taken_whatever_the_finish():
    """S18: a call without a finish runs when its arguments parse."""
    for finish in (None, "stop", "tool_calls", "length"):
        assert parse_arguments('{"path": "a.md"}', finish) == {"path": "a.md"}


@pytest.mark.parametrize("raw", ['{"path":"a.md","content":"lo', '{"path":"a.md"', "{", "", '{"a": "b\\', '{"a": tr'])
def test_arguments_cut_by_the_limit_are_never_taken_as_empty(raw):
    """S23: cut arguments are an error that says so."""
    with pytest.raises(ToolError, match=r"truncated.*limit of output tokens"):
        parse_arguments(raw, "length")


@pytest.mark.parametrize("raw", ["{", '{"path":"a.md","content":"lo', '{"a": 1,', '{"a": [1, 2'])
def test_cut_arguments_are_recognised_though_the_finish_denies_it(raw):
    """S25: the finish says `tool_calls`, and still the arguments end too early."""
    with pytest.raises(ToolError, match=f"truncated, they end after {len(raw)} characters"):
        parse_arguments(raw, "tool_calls")


def test_malformed_arguments_are_told_with_their_position():
    """S27: not cut but wrong; nothing is said of length."""
    with pytest.raises(ToolError, match=r"malformed JSON at position 9, near 'user") as caught:
        parse_arguments('{"type": user"}', "tool_calls")
    assert "truncated" not in str(caught.value)


@pytest.mark.parametrize("raw", ['{"a": 1} {"b": 2}', "{'a': 1}", '{"a" 1}', "path=a.md", '{"a": 1,}'])
def test_other_malformed_arguments(raw):
    """S27: the kind, not the example."""
    with pytest.raises(ToolError, match=r"malformed JSON at position \d+"):
        parse_arguments(raw, "tool_calls")


@pytest.mark.parametrize(("raw", "kind"), [("[1]", "a list"), ('"a"', "a string"), ("3", "a number"), ("true", "true")])
def test_other_json_than_an_object_is_refused_by_name(raw, kind):
    with pytest.raises(ToolError, match=kind):
        parse_arguments(raw, "tool_calls")


def test_absurd_nesting_and_numbers_are_refused_calmly():
    with pytest.raises(ToolError, match="nested too deeply"):
        parse_arguments('{"a":' + "[" * 100_000, "tool_calls")
    with pytest.raises(ToolError):
        parse_arguments('{"a":' + "9" * 10_000 + "}", "tool_calls")


def test_windows_paths_are_kept_exactly():
    """F20: only JSON's own escapes are decoded, and only once."""
    assert parse_arguments(json.dumps({"path": WINDOWS_PATH}), "tool_calls") == {"path": WINDOWS_PATH}
    assert parse_arguments('{"path": "C:/data/uface"}') == {"path": "C:/data/uface"}


def test_a_windows_path_with_bare_backslashes_is_refused_rather_than_guessed_at():
    """F20: the model is told how to write it."""
    with pytest.raises(ToolError, match=r"position 12.*a backslash is written \\\\ in JSON"):
        parse_arguments('{"path": "C:\\data\\uface"}', "tool_calls")
