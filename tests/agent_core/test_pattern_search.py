"""A pattern that somebody wrote cannot stall the program."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_core import pattern_search
from agent_core.event import Noticed
from agent_core.mark_rules import MarkRule, apply_rules
from agent_core.message import UserMsg
from agent_core.pattern_search import PatternTooSlow, found_in
from agent_core.search_process import SearchProcess
from tests.agent_core.agents import make_agent

SLOW = [
    (r"(a+)+$", "a" * 50 + "b"),
    (r"(a|aa)+$", "a" * 60 + "b"),
    (r"(\w+\s*)+!", "words and words and words and words and words and words"),
    (r"(.*a){25}", "a" * 24 + "b" * 200),
    (r"\s+$", " " * 90_000 + "x"),
    (r"(x?){60}x{60}$", "x" * 59 + "y"),
]
CHEAP = ["due", r"\bdue\b", r"\b(due|deadline)\b", r"plan\.md$", "截止|到期"]


@pytest.mark.parametrize(("pattern", "text"), SLOW, ids=[pattern for pattern, _ in SLOW])
def test_a_pattern_that_backtracks_without_end_is_stopped_and_the_next_search_goes_on(pattern: str, text: str) -> None:
    with pytest.raises(PatternTooSlow):
        found_in(pattern, text)
    assert found_in("(?i:DUE)", "\ud83d 记住 due\n")


def test_ordinary_patterns_are_found_in_long_texts_and_not_beyond_the_beginning() -> None:
    assert found_in(r"\bdue\b", "x " * 40_000 + "due")
    assert not found_in("due", "x" * 100_000 + "due")


def test_the_rule_is_told_apart_and_the_others_still_set_their_marks() -> None:
    pattern, text = SLOW[0]
    rules = [MarkRule("slow", pattern=pattern), MarkRule("user", role="user")]
    assert apply_rules(UserMsg("u", text), rules) == (("user",), (rules[0],))


async def test_the_agent_goes_on_without_a_rule_that_took_too_long_and_says_so() -> None:
    pattern, text = SLOW[0]
    agent = make_agent("ok")
    agent.mark_rules = (MarkRule("slow", pattern=pattern), MarkRule("mine", role="user"))
    await agent.observe(text)
    assert [marks for _, marks in await agent.memory.entries()] == [("mine",)]
    assert [rule.mark for rule in agent.mark_rules] == ["mine"]
    (notice,) = agent.trace.of(Noticed)
    assert notice.text == "The rule that sets mark 'slow' is off now: '(a+)+$' takes too long on a message."


def test_threads_find_what_the_main_thread_finds() -> None:
    texts = ["due", "Due\ntomorrow", "x" * 99_997 + "due", "x" * 100_000 + "due", "", "\x00due", "nothing"]
    patterns = [r"\bdue", "due$", "^$", "(?s)due.t", "du?e$"]
    cases = [(pattern, text) for pattern in patterns for text in texts]
    with ThreadPoolExecutor(4) as pool:
        there = list(pool.map(lambda case: found_in(*case), cases))
    assert there == [found_in(*case) for case in cases]


def test_where_no_process_can_be_begun_the_rule_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_search, "_elsewhere", SearchProcess())
    for executable in ("", "/nowhere/python"):
        monkeypatch.setattr("sys.executable", executable)
        with pytest.raises(PatternTooSlow):
            found_in("a+", "a")


@pytest.mark.parametrize("pattern", CHEAP)
def test_a_pattern_that_cannot_backtrack_for_long_needs_no_process(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern_search, "_elsewhere", SearchProcess())
    monkeypatch.setattr("sys.executable", "")
    assert not found_in(pattern, "nothing " * 100)


@pytest.mark.parametrize("pattern", ["(a|a)" * 20 + "b", r"(aa)(\1\1)(\2\2)(\3\3)b", "a" * 1_000])
def test_a_pattern_is_limited_also_when_nothing_in_it_repeats(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_search, "_elsewhere", SearchProcess())
    monkeypatch.setattr("sys.executable", "")
    with pytest.raises(PatternTooSlow):
        found_in(pattern, "a")


def test_a_process_that_has_gone_is_begun_again() -> None:
    process = SearchProcess()
    assert process.is_found("a", "A", 1.0)
    process._process.kill()
    process._process.wait()
    assert not process.is_found("a", "b", 1.0)
    process.close()
