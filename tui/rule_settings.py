"""The mark rules in the settings file: read, and refused with their line where they make no sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from agent_core.mark_rules import MarkRule
from agent_core.message import Role
from tui.config_file import ConfigError, ConfigFile

NAME = "mark_rules"
_CONDITIONS = ("role", "tool", "pattern")
_EXAMPLE = '[[mark_rules]] with marks = "plan" and role = "user", tool = "Read" or pattern = "deadline"'


def read_rules(file: ConfigFile, tables: Sequence[object]) -> tuple[MarkRule, ...]:
    """The rules of the file, one for each mark that a table sets, in order.

    Raises:
        ConfigError: a table is not a rule; names the line.
    """
    rules: list[MarkRule] = []
    for number, table in enumerate(tables):
        if not isinstance(table, Mapping):
            raise ConfigError(f"{file.place(NAME)}: {NAME} must be tables: {_EXAMPLE}")
        rules += _rules_of(file, number, table)
    return tuple(rules)


def _rules_of(file: ConfigFile, number: int, table: Mapping[str, object]) -> list[MarkRule]:
    def refuse(key: str, problem: str) -> ConfigError:
        return ConfigError(f"{file.place_in_table(NAME, number, key)}: {problem}")

    for key in table:
        if key not in ("marks", *_CONDITIONS):
            raise refuse(key, f"a mark rule has no {key!r}; it has marks, {', '.join(_CONDITIONS)}.")
    given = table.get("marks")
    marks = [given] if isinstance(given, str) else given
    if not isinstance(marks, list) or not marks or not all(isinstance(mark, str) and mark for mark in marks):
        raise refuse("marks", 'marks must be a mark in quotes, or several: marks = ["plan", "a b"]')
    conditions: dict[str, str] = {}
    for key in _CONDITIONS:
        value = table.get(key, "-")
        if not isinstance(value, str) or not value:
            raise refuse(key, f"{key} must be text in quotes.")
        if key in table:
            conditions[key] = value
    if "role" in conditions and conditions["role"] not in get_args(Role):
        raise refuse("role", f"role must be one of {', '.join(get_args(Role))}, not {conditions['role']!r}.")
    try:
        return [MarkRule(mark, **conditions) for mark in marks]
    except ValueError as error:
        raise refuse("pattern" if "pattern" in conditions else "", f"{error}.") from None
