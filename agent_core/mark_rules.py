"""Rules that set marks on messages as they are stored."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from agent_core.marks import normalize_marks
from agent_core.message import HintBlock, Msg, ToolCallBlock, ToolResultBlock
from agent_core.pattern_search import PatternTooSlow, found_in


class MarkRule(Struct, frozen=True, omit_defaults=True):
    """Set `mark` on every message that fits all of the conditions given.

    Args:
        mark: what is set.
        role: `user`, `assistant` or `system`.
        tool: the name of a tool: calls of it, and their results.
        pattern: a regular expression that is found somewhere in the text, upper and lower case being the same; it
            looks at the first 100,000 characters, and for 0.2 seconds at most.

    Raises:
        ValueError: the mark is empty, there is no condition, or the pattern is not a regular expression.
    """

    mark: str
    role: str | None = None
    tool: str | None = None
    pattern: str | None = None

    def __post_init__(self) -> None:
        normalize_marks(self.mark, "mark")
        if self.role is None and self.tool is None and self.pattern is None:
            raise ValueError(f"the rule for mark {self.mark!r} needs a role, a tool or a pattern")
        if self.pattern is not None:
            try:
                # What Python would say about a later version of itself is no matter of the person who wrote the rule.
                with warnings.catch_warnings(action="ignore", category=FutureWarning):
                    re.compile(self.pattern, re.IGNORECASE)
            # The last two are raised for repetitions and groups beyond what the library can count.
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"{self.pattern!r} is not a regular expression: {error}") from None

    def fits(self, msg: Msg) -> bool:
        """Whether the rule speaks of this message.

        Raises:
            PatternTooSlow: the pattern backtracks for too long on it.
        """
        if self.role is not None and msg.role != self.role:
            return False
        if self.tool is not None and self.tool not in _tools(msg):
            return False
        return self.pattern is None or found_in(self.pattern, _text(msg))


class Ruled(NamedTuple):
    """What rules make of a message: the marks that they set, and the rules that could not tell in time."""

    marks: tuple[str, ...]
    too_slow: tuple[MarkRule, ...]


def apply_rules(msg: Msg, rules: Iterable[MarkRule]) -> Ruled:
    """Ask every rule about a message; each mark comes once, in the order of the rules."""
    marks: dict[str, None] = {}
    too_slow = []
    for rule in rules:
        try:
            if rule.fits(msg):
                marks[rule.mark] = None
        except PatternTooSlow:
            too_slow.append(rule)
    return Ruled(tuple(marks), tuple(too_slow))


def _tools(msg: Msg) -> set[str]:
    return {block.name for block in msg.blocks if isinstance(block, ToolCallBlock | ToolResultBlock)}


def _text(msg: Msg) -> str:
    texts = [msg.get_text_content() or ""]
    texts += [block.text() for block in msg.get_content_blocks(ToolResultBlock)]
    texts += [block.hint for block in msg.get_content_blocks(HintBlock)]
    return "\n".join(texts)
