"""Mark rules in the settings file, from the file to the marks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent_core.mark_rules import MarkRule
from tui.config import describe, load_settings
from tui.config_file import ConfigError
from tui.runtime import Runtime

GOOD = """\
model = "m"

[[mark_rules]]
marks = ["deadline", "a b"]
role = "user"
pattern = '\\b(due|deadline)\\b'

[[mark_rules]]
marks = "file"
tool = "Read"
"""


def test_rules_are_read_in_order_one_for_each_mark(config: Path) -> None:
    config.write_text(GOOD)
    pattern = r"\b(due|deadline)\b"
    assert load_settings().mark_rules == (
        MarkRule("deadline", role="user", pattern=pattern),
        MarkRule("a b", role="user", pattern=pattern),
        MarkRule("file", tool="Read"),
    )
    config.write_text('mark_rules = [{ marks = "x", role = "user" }]')
    assert load_settings().mark_rules == (MarkRule("x", role="user"),)
    config.write_text("mark_rules = []")
    assert load_settings().mark_rules == ()


def test_what_config_prints_holds_the_same_rules(config: Path) -> None:
    config.write_text(GOOD)
    settings = load_settings()
    printed = describe(settings)
    assert f"# from {config}, line 3" in printed
    assert len(tomllib.loads(printed)["mark_rules"]) == 3
    config.write_text(printed)
    assert load_settings().mark_rules == settings.mark_rules


@pytest.mark.parametrize(
    ("table", "line", "problem"),
    [
        ('marks = "a"\n', 7, "needs a role, a tool or a pattern"),
        ('role = "user"\n', 7, "marks must be a mark in quotes"),
        ('role = "user"\nmarks = ""\n', 9, "marks must be a mark in quotes"),
        ('role = "user"\nmarks = []\n', 9, "marks must be a mark in quotes"),
        ('role = "user"\nmarks = [1]\n', 9, "marks must be a mark in quotes"),
        ('marks = "a"\nrole = "robot"\n', 9, "role must be one of user, assistant, system, not 'robot'"),
        ('marks = "a"\n\npattern = "("\n', 10, "'(' is not a regular expression"),
        ('marks = "a"\npattern = 3\n', 9, "pattern must be text in quotes"),
        ('marks = "a"\ntool = ""\n', 9, "tool must be text in quotes"),
        ('marks = "a"\nregex = "x"\n', 9, "a mark rule has no 'regex'; it has marks, role, tool, pattern"),
    ],
)
def test_a_rule_without_sense_is_refused_with_its_line(config: Path, table: str, line: int, problem: str) -> None:
    """The second of two rules is the wrong one, so that it is not the first place that is named."""
    text = f'theme = "nord"\n\n[[mark_rules]]\nmarks = "fine"\nrole = "user"\n\n[[mark_rules]]\n{table}'
    config.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_settings()
    assert str(error.value).startswith(f"{config}, line {line}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize("text", ["mark_rules = 3", 'mark_rules = ["x"]', "[mark_rules]\nmarks = 'a'"])
def test_anything_but_tables_is_refused_with_its_line(config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError, match="line 1: mark_rules must be"):
        load_settings()


async def test_the_agent_of_the_program_sets_marks_by_them_in_every_session(config: Path) -> None:
    config.write_text(GOOD)
    runtime = Runtime(load_settings())
    await runtime.prepare()
    for _ in range(2):
        await runtime.agent.observe("the report is DUE on friday")
        await runtime.agent.observe("hello")
        assert [marks for _, marks in await runtime.agent.memory.entries()] == [("deadline", "a b"), ()]
        await runtime.new_session()
    await runtime.aclose()
