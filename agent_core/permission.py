"""Permissions: modes, rules, working directories, and the types of a decision."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field


class PermissionMode(str, Enum):
    """How calls are treated that no rule speaks of."""

    DEFAULT = "default"
    """Reading in working directories is allowed; everything else asks."""
    ACCEPT_EDITS = "accept_edits"
    """As default, and changing files in working directories is allowed."""
    EXPLORE = "explore"
    """Reading in working directories is allowed, reading outside asks; nothing may be changed."""
    BYPASS = "bypass"
    """Everything is allowed that no rule denies."""
    DONT_ASK = "dont_ask"
    """What would ask is denied."""


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
    """A standing answer for a tool. `rule_content` is a path pattern (`**` crosses folders); None means every call."""

    tool_name: str
    rule_content: str | None = None
    behavior: PermissionBehavior = PermissionBehavior.ALLOW
    source: str = ""


class PermissionDecision(Struct, frozen=True):
    """What is to be done with a call, and why. `suggested_rules` is what "always" would add."""

    behavior: PermissionBehavior
    message: str = ""
    decision_reason: str = ""
    suggested_rules: tuple[PermissionRule, ...] = ()


class PermissionContext(Struct):
    """What an agent is allowed: assignable `mode`, working directories by path, and rules."""

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, AdditionalWorkingDirectory] = field(default_factory=dict)
    rules: list[PermissionRule] = field(default_factory=list)
