"""Permissions: modes, rules, working directories, and the types of a decision."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct, field


class PermissionMode(str, Enum):
    """How calls are treated that no rule speaks of.

    Tools that say of themselves that they change nothing and that touch no file are allowed in every mode.
    """

    DEFAULT = "default"
    """Reading in working directories is allowed; everything else asks."""
    ACCEPT_EDITS = "accept_edits"
    """As default, and changing files in working directories is allowed, sensitive ones excepted."""
    EXPLORE = "explore"
    """Reading in working directories is allowed, reading outside asks; nothing may be changed, whatever rules allow."""
    BYPASS = "bypass"
    """Everything is allowed that no rule denies and no rule wants to be asked."""
    DONT_ASK = "dont_ask"
    """As default, but what would ask is denied."""


class PermissionBehavior(str, Enum):
    """What is to be done with a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASSTHROUGH = "passthrough"


class AdditionalWorkingDirectory(Struct, frozen=True):
    """A folder in which the agent may work; `source` says who named it."""

    path: str
    source: str = ""


class PermissionRule(Struct, frozen=True):
    """A standing answer for the tool of that name.

    `rule_content` is a pattern for the path that the call is about, links resolved on both sides; None: every call.
    `*`, `?` and `[...]` stay within one folder, `**` crosses folders, a `/` at the end means the folder and all in it.
    A pattern that starts with neither `/`, `~` nor `**` is taken from every working directory. A pattern never matches
    the calls of tools that are about no path.
    """

    tool_name: str
    rule_content: str | None = None
    behavior: PermissionBehavior = PermissionBehavior.ALLOW
    source: str = ""


class PermissionDecision(Struct, frozen=True):
    """What is to be done with a call, and why.

    Args:
        behavior: what is to be done.
        message: one line: the question for a person when it asks, the refusal for the model when it denies.
        decision_reason: why, in one line for people.
        suggested_rules: what "always" would add; empty where "always" would have no effect.
        path: the resolved path that was decided on; None for calls about no path.
    """

    behavior: PermissionBehavior
    message: str = ""
    decision_reason: str = ""
    suggested_rules: tuple[PermissionRule, ...] = ()
    path: str | None = None


class PermissionContext(Struct):
    """What an agent is allowed: assignable `mode`, working directories by path, and rules.

    Raises:
        ValueError: there is no such mode; the name of one will do.
    """

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, AdditionalWorkingDirectory] = field(default_factory=dict)
    rules: list[PermissionRule] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mode = PermissionMode(self.mode)

    def __setattr__(self, name: str, value: Any) -> None:
        # Modes are told apart by identity, so that a bare name would count as no mode at all.
        super().__setattr__(name, PermissionMode(value) if name == "mode" else value)
