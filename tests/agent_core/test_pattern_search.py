"""A pattern that somebody wrote cannot stall the program."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from agent_core.event import Noticed
from agent_core.mark_rules import MarkRule, apply_rules
from agent_core.message import UserMsg
from agent_core.pattern_search import PatternTooSlow, found_in
from agent_core.time_limit import TimeLimitExceeded, limits_here, time_limit
from tests.agent_core.agents import make_agent

SLOW = [
    (r"(a+)+$", "a" * 50 + "b"),
    (r"(a|aa)+$", "a" * 60 + "b"),
    (r"(\w+\s*)+!", "words and words and words and words and words and words"),
    (r"(.*a){25}", "a" * 24 + "b" * 200),
    (r"\s+$", " " * 90_000 + "x"),
    (r"(x?){60}x{60}$", "x" * 59 + "y"),
]
needs_limit = pytest.mark.skipif(not limits_here(), reason="time cannot be limited here")


@needs_limit
@pytest.mark.parametrize(("pattern", "text"), SLOW, ids=[pattern for pattern, _ in SLOW])
def test_a_pattern_that_backtracks_without_end_is_stopped(pattern: str, text: str) -> None:
    with pytest.raises(PatternTooSlow):
        found_in(pattern, text)


def test_ordinary_patterns_are_found_in_long_texts_and_not_beyond_the_beginning() -> None:
    assert found_in(r"\bdue\b", "x " * 40_000 + "due")
    assert not found_in("due", "x" * 100_000 + "due")


@needs_limit
def test_the_rule_is_told_apart_and_the_others_still_set_their_marks() -> None:
    pattern, text = SLOW[0]
    rules = [MarkRule("slow", pattern=pattern), MarkRule("user", role="user")]
    assert apply_rules(UserMsg("u", text), rules) == (("user",), (rules[0],))


@needs_limit
async def test_the_agent_goes_on_without_a_rule_that_took_too_long_and_says_so() -> None:
    pattern, text = SLOW[0]
    agent = make_agent("ok")
    agent.mark_rules = (MarkRule("slow", pattern=pattern), MarkRule("mine", role="user"))
    await agent.observe(text)
    assert [marks for _, marks in await agent.memory.entries()] == [("mine",)]
    assert [rule.mark for rule in agent.mark_rules] == ["mine"]
    (notice,) = agent.trace.of(Noticed)
    assert notice.text == "The rule that sets mark 'slow' is off now: '(a+)+$' takes too long on a message."


@needs_limit
async def test_the_event_loop_and_earlier_handlers_are_as_before() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(PatternTooSlow):
        found_in(*SLOW[0])
    assert signal.getsignal(signal.SIGALRM) is before
    await asyncio.sleep(0)
    with pytest.raises(TimeLimitExceeded), time_limit(0.01):
        while True:
            pass


def test_where_time_cannot_be_limited_the_text_is() -> None:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.extend(found_in("due", "x" * 400 + text) for text in ("due", "")))
    thread.start()
    thread.join()
    assert answers == [True, False]
