from __future__ import annotations

import pytest

from memory.mem0.json_answer import Extracted, extracted_in

NOTHING = [
    "[]",
    '{"memory": []}',
    '{"memory": null}',
    '{"facts": []}',
    '```json\n{"memory": []}\n```',
    'Sure: {"memory": []}.',
    '{"memory": [{"id": "0", "text": "known", "event": "NONE"}, {"id": "1", "text": "gone", "event": "delete"}]}',
    '{"text": "known", "event": "NONE"}',
]
USELESS = [
    "",
    "not json",
    "null",
    "{}",
    "[1, 2]",
    '[{"a": 1}]',
    '{"memory": [1, 2]}',
    '{"memory": [{"text": 123}]}',
    '{"memory": [{"text": ""}]}',
    '{"memory": [{"text": "first"}, {"text": "cut o',
    "{" * 100_000,
    "[" * 100_000,
    "<think>" + '{"memory": [{"text": "only thought of"}]}' + "</think>",
]
TEXTS = {
    '{"memory": [{"text": "a"}, {"text": "b"}]}': ["a", "b"],
    '{"memory": [{"text": "a"}, {"text": "b"},]}': ["a", "b"],
    '{"memory": [{"text": "a, ]"},],}': ["a, ]"],
    '{"memory": ["plain", "strings"]}': ["plain", "strings"],
    '{"memory": {"text": "one object"}}': ["one object"],
    '{"memory": "one string"}': ["one string"],
    '{"facts": ["old form"]}': ["old form"],
    '[{"text": "bare list"}]': ["bare list"],
    '["bare strings"]': ["bare strings"],
    '{"text": "alone"}': ["alone"],
    '{"memory": [{"text": "a", "event": "NONE"}, {"text": "b", "event": "ADD"}, {"text": "c"}]}': ["b", "c"],
    '{"memory": [{"fact": "a"}, {"memory": "b"}, {"content": "c"}]}': ["a", "b", "c"],
    'Here it is:\n```json\n{"memory": [{"text": "fenced"}]}\n```\nAnything else?': ["fenced"],
    'I have {many} thoughts. {"memory": [{"text": "prose"}]} Done [1].': ["prose"],
    '<think>{"memory": [{"text": "no"}]}</think>{"memory": [{"text": "yes"}]}': ["yes"],
    'the tag was cut {"memory": ["no"]}</think>{"memory": [{"text": "yes"}]}': ["yes"],
    '{"memory": [{"text": "C:\\dir and \\u12 and \\x"}]}': ["C:\\dir and \\u12 and \\x"],
    '{"memory": [{"text": "kept: \\n \\u4f60 \\\\ \\""}]}': ['kept: \n 你 \\ "'],
    '{"memory": [{"text": "a\nraw line break"}]}': ["a\nraw line break"],
    '{"memory": [{"text": "half \\ud83d"}]}': ["half \ufffd"],
    '{"memory": [{"text": "whole \\ud83d\\ude00"}]}': ["whole 😀"],
    '{"memory": [{"text": "kept"}, {"text": 7}, null]}': ["kept"],
    '{"memory": [{"text": "用户住在杭州"}]}': ["用户住在杭州"],
}  # fmt: skip


@pytest.mark.parametrize("answer", NOTHING)
def test_that_there_is_nothing_is_said_in_many_ways(answer: str) -> None:
    assert extracted_in(answer) == []


@pytest.mark.parametrize("answer", USELESS)
def test_what_says_nothing_is_not_taken_for_nothing_to_remember(answer: str) -> None:
    assert extracted_in(answer) is None


@pytest.mark.parametrize("answer", TEXTS)
def test_memories_are_found_in_whatever_form(answer: str) -> None:
    found = extracted_in(answer)
    assert found is not None
    assert [one.text for one in found] == TEXTS[answer]


def test_what_is_replaced_and_who_said_it_is_taken_over_where_it_makes_sense() -> None:
    answer = (
        '{"memory": [{"text": "a", "replaces": ["0", 2, {}], "attributed_to": "user"}, {"text": "b", "replaces": 1}]}'
    )
    assert extracted_in(answer) == [Extracted("a", ("0", "2"), "user"), Extracted("b", ("1",))]
    assert extracted_in('{"memory": [{"text": "a", "replaces": null, "attributed_to": 3}]}') == [Extracted("a")]


def test_a_model_that_is_stuck_in_its_reasoning_costs_no_time() -> None:
    """D14: quadratic in the number of beginnings, this would take minutes."""
    assert extracted_in("<think>" * 28_000) is None
    assert extracted_in("<think>" * 20_000 + '</think>{"memory": ["a"]}') == [Extracted("a")]


@pytest.mark.parametrize("stuck", ['\\"', "\\n", "\\", '"', ',"', ", ", '{"text": "', "[{"])
def test_a_model_that_is_stuck_inside_a_string_costs_no_time(stuck: str) -> None:
    """D14: a string that never ends was looked at from each of its quotes anew, which took minutes."""
    extracted_in('{"memory": [{"text": "' + stuck * (180_000 // len(stuck)))


@pytest.mark.parametrize(
    "answer",
    [
        '<think>{"memory": ["no"]}</think>{"memory": ["a"]}',
        '{"memory": ["no"]}</think>{"memory": ["a"]}',
        '<think>x<reasoning>{"memory": ["no"]}</reasoning>y</think>{"memory": ["a"]}',
        '<think>{"memory": ["no"]}</reasoning>{"memory": ["a"]}',
        '<THINK>one</think> {"memory": ["a"]} <Thinking>{"memory": ["no"]}</thinking>',
    ],
)
def test_only_what_stands_outside_of_reasoning_counts(answer: str) -> None:
    assert extracted_in(answer) == [Extracted("a")]
