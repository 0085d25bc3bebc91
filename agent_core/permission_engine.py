"""Deciding on a call: first every path is resolved, then rules, tool and mode are asked in a fixed order.

1. a deny rule denies;
2. mode explore denies what would change something;
3. an ask rule asks;
4. reading in a working directory is allowed;
5. the tool's own check, where it allows or denies;
6. an allow rule allows; for a sensitive file only one that names just this file;
7. mode bypass allows;
8. the tool's own check, where it asks; then the mode: allow, or ask.

In mode dont_ask, whatever would ask denies. What cannot be resolved or checked is denied.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent_core.paths import escape, is_literal, is_sensitive, matches, one_line, split_pattern
from agent_core.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from agent_core.text import first_line
from agent_core.tool.backend import BackendBase
from agent_core.tool.base import ToolBase
from agent_core.tool.local_backend import LocalBackend

_ALLOW, _DENY, _ASK = PermissionBehavior.ALLOW, PermissionBehavior.DENY, PermissionBehavior.ASK


class Call(Struct, frozen=True):
    """What is decided on: a tool, whether it may change something, and the resolved path that it is about."""

    tool: str
    changes: bool
    path: str | None = None
    in_working_directory: bool = False

    @property
    def sensitive(self) -> bool:
        """Whether the path holds secrets, or settings that make other programs run something."""
        return self.path is not None and is_sensitive(self.path)

    def __str__(self) -> str:
        return self.tool if self.path is None else f"{self.tool} on {one_line(self.path)}"


async def decide_permission(
    tool: ToolBase, arguments: dict[str, Any], context: PermissionContext
) -> PermissionDecision:
    """Decide whether a call may be made; see the order above. Never raises for what the call or the tool brings."""
    call = Call(tool.name, not tool.is_read_only)
    try:
        backend = tool.backend or LocalBackend()
        folders = await _working_directories(context, backend)
        path = await tool.resolve_path(arguments)
        inside = path is not None and any(backend.contains(folder, path) for folder in folders)
        call = replace(call, path=path, in_working_directory=inside)
        rules = [
            resolved
            for rule in context.rules
            if rule.tool_name == tool.name
            for resolved in await _resolved_rules(rule, folders, backend)
        ]
        decision = decide_by_rules(call, context.mode, rules)
        if decision is None:
            opinion = await tool.check_permissions(arguments, context)
            decision = decide_with_opinion(call, context.mode, rules, opinion)
    except Exception as error:
        # Whatever goes wrong while deciding, be it a loop of links or a fault in a tool, must not let the call through.
        decision = _decision(_DENY, call, first_line(str(error)) or type(error).__name__)
    return _without_asking(decision, call) if context.mode is PermissionMode.DONT_ASK else decision


def decide_by_rules(call: Call, mode: PermissionMode, rules: Sequence[PermissionRule]) -> PermissionDecision | None:
    """Steps 1 to 4; None when they leave it open. Patterns in `rules` are resolved."""
    if rule := _first_match(_DENY, call, rules):
        return _decision(_DENY, call, _told(rule))
    if mode is PermissionMode.EXPLORE and call.changes:
        return _decision(_DENY, call, "nothing may be changed in mode explore")
    if rule := _first_match(_ASK, call, rules):
        return _decision(_ASK, call, _told(rule))
    if call.in_working_directory and not call.changes:
        return _decision(_ALLOW, call, "it reads in a working directory")
    return None


def decide_with_opinion(
    call: Call, mode: PermissionMode, rules: Sequence[PermissionRule], opinion: PermissionDecision
) -> PermissionDecision:
    """Steps 5 to 8, with what the tool's own check said."""
    if opinion.behavior in (_ALLOW, _DENY):
        reason = opinion.decision_reason or opinion.message or f"{call.tool} says so itself"
        return _decision(opinion.behavior, call, reason, message=opinion.message)
    if rule := _first_match(_ALLOW, call, rules):
        return _decision(_ALLOW, call, _told(rule))
    if mode is PermissionMode.BYPASS:
        return _decision(_ALLOW, call, "mode bypass")
    suggested = _suggested(call)
    if opinion.behavior is _ASK:
        reason = opinion.decision_reason or opinion.message or f"{call.tool} wants to be asked about"
        return _decision(_ASK, call, reason, opinion.suggested_rules or suggested, opinion.message)
    behavior, reason = _by_mode(call, mode)
    return _decision(behavior, call, reason, suggested if behavior is _ASK else ())


def _by_mode(call: Call, mode: PermissionMode) -> tuple[PermissionBehavior, str]:
    if not call.changes:
        if call.path is None:
            return _ALLOW, "it changes nothing and reads no file"
        return _ASK, "it reads outside the working directories"
    if call.path is None:
        return _ASK, "it may change something"
    if call.sensitive:
        return _ASK, "it changes a sensitive file"
    if not call.in_working_directory:
        return _ASK, "it changes a file outside the working directories"
    if mode is PermissionMode.ACCEPT_EDITS:
        return _ALLOW, "edits in working directories are accepted"
    return _ASK, "it changes a file"


def _first_match(behavior: PermissionBehavior, call: Call, rules: Sequence[PermissionRule]) -> PermissionRule | None:
    return next((rule for rule in rules if rule.behavior is behavior and _speaks_of(rule, call)), None)


def _speaks_of(rule: PermissionRule, call: Call) -> bool:
    pattern = rule.rule_content
    if rule.behavior is _ALLOW and call.sensitive and (pattern is None or not is_literal(pattern)):
        # "Always allow this folder" was not said with the keys in it in mind.
        return False
    if pattern is None:
        return True
    return call.path is not None and matches(pattern, call.path)


def _suggested(call: Call) -> tuple[PermissionRule, ...]:
    """What "always" adds: the file's folder; the file alone where a folder would be too much; else the tool."""
    if call.path is None:
        return (PermissionRule(call.tool, None, _ALLOW, "always"),)
    folder = os.path.dirname(call.path)
    too_much = call.sensitive or folder == os.path.dirname(folder)
    pattern = escape(call.path) if too_much else f"{escape(folder)}/**"
    return (PermissionRule(call.tool, pattern, _ALLOW, "always"),)


def _decision(
    behavior: PermissionBehavior,
    call: Call,
    reason: str,
    suggested: tuple[PermissionRule, ...] = (),
    message: str = "",
) -> PermissionDecision:
    if not message and behavior is _ASK:
        message = f"Allow {call}? ({reason})"
    elif not message and behavior is _DENY:
        message = f"{call} is not allowed: {reason}."
    return PermissionDecision(behavior, message, reason, suggested, call.path)


def _without_asking(decision: PermissionDecision, call: Call) -> PermissionDecision:
    if decision.behavior is not _ASK:
        return decision
    return _decision(_DENY, call, f"{decision.decision_reason}, and mode dont_ask denies what would ask")


def _told(rule: PermissionRule) -> str:
    scope = "" if rule.rule_content is None else f" for {one_line(rule.rule_content)}"
    origin = f" ({one_line(rule.source)})" if rule.source else ""
    return f"a rule says {rule.behavior.value}{scope}{origin}"


async def _working_directories(context: PermissionContext, backend: BackendBase) -> list[str]:
    resolved = []
    for directory in context.working_directories.values():
        try:
            resolved.append(await backend.resolve(directory.path))
        except OSError:
            # Links in a loop lead to no folder, so nothing can be inside.
            continue
    return resolved


async def _resolved_rules(rule: PermissionRule, folders: Sequence[str], backend: BackendBase) -> list[PermissionRule]:
    """The rule with its pattern as the disk sees it: one rule, or for a relative pattern one for each folder."""
    if rule.rule_content is None or rule.rule_content.startswith("**"):
        return [rule]
    front, rest = split_pattern(rule.rule_content)
    if front.endswith("/") and not rest:
        rest = "**"
    absolute = front.startswith("~") or os.path.isabs(front)
    fronts = [front] if absolute else [f"{folder}/{front}" for folder in folders]
    patterns = [f"{escape(await _resolved(each, backend)).rstrip('/')}/{rest}" for each in fronts]
    return [replace(rule, rule_content=pattern) for pattern in patterns]


async def _resolved(path: str, backend: BackendBase) -> str:
    try:
        return await backend.resolve(path)
    except OSError:
        # No call can be about what lies behind a loop of links, so any text will do.
        return backend.absolute(path)
