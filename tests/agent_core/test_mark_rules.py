from __future__ import annotations

import pytest

from agent_core.mark_rules import MarkRule, apply_rules
from agent_core.message import AssistantMsg, HintBlock, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg

CALL = AssistantMsg("a", [ToolCallBlock("1", "Write")])
RESULT = SystemMsg("Write", [ToolResultBlock("1", "Write", "wrote plan.md")])
HINT = AssistantMsg("memory", [HintBlock("likes Tea")])


@pytest.mark.parametrize(
    ("rule", "fitting"),
    [
        (MarkRule("m", role="user"), ["hello Tea"]),
        (MarkRule("m", tool="Write"), ["call", "result"]),
        (MarkRule("m", tool="Write", role="system"), ["result"]),
        (MarkRule("m", pattern=r"\btea\b"), ["hello Tea", "hint"]),
        (MarkRule("m", pattern="plan\\.md"), ["result"]),
        (MarkRule("m", tool="Read"), []),
    ],
)
def test_a_rule_fits_what_meets_all_of_its_conditions(rule: MarkRule, fitting: list[str]) -> None:
    messages: dict[str, Msg] = {"hello Tea": UserMsg("u", "hello Tea"), "call": CALL, "result": RESULT, "hint": HINT}
    assert [name for name, msg in messages.items() if rule.fits(msg)] == fitting


def test_marks_of_several_rules_come_once_and_in_order() -> None:
    rules = [MarkRule("b", role="user"), MarkRule("a", pattern="x"), MarkRule("b", pattern="x")]
    assert apply_rules(UserMsg("u", "x"), rules).marks == ("b", "a")
    assert apply_rules(CALL, rules).marks == ()


@pytest.mark.parametrize("options", [{}, {"pattern": "("}, {"mark": "", "role": "user"}])
def test_a_rule_without_sense_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        MarkRule(**{"mark": "m", **options})


@pytest.mark.parametrize("pattern", ["a{99999999999999}", "x{1,4294967295}", "(" * 3000 + ")" * 3000])
def test_a_pattern_beyond_what_can_be_counted_is_refused_as_any_other(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a regular expression"):
        MarkRule("m", pattern=pattern)


def test_a_pattern_that_python_may_read_otherwise_some_day_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    assert apply_rules(UserMsg("u", "[a]"), [MarkRule("m", pattern="[[a]")]).marks == ("m",)
    assert not recwarn.list
