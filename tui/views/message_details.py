"""One message whole, in sections to be read and copied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from agent_core.event import PromptPart
from agent_core.tokens import estimate_message_tokens
from tui.mark_syntax import format_marks
from tui.views.content import Row
from tui.views.figures import estimated
from tui.views.message_text import block_text, block_title


class Section(NamedTuple):
    """A heading and the text below it."""

    heading: str
    text: str


def message_sections(row: Row, last_part: PromptPart | None) -> list[Section]:
    """A stored message with all that is known of it.

    Args:
        row: the message, its marks, and whether it is in the next prompt.
        last_part: what became of it in the last prompt; None when it was not considered there.
    """
    msg, marks = row.entry
    facts = [
        ("id", msg.id),
        ("role", msg.role),
        ("name", msg.name),
        ("created", moment(msg.created_at)),
        ("marks", format_marks(marks) or "none"),
        ("tokens", estimated(estimate_message_tokens(msg))),
        ("next prompt", verdict(row.included, row.reason)),
        ("last prompt", _last_verdict(last_part)),
    ]
    if msg.metadata:
        facts.append(("metadata", json.dumps(msg.metadata, ensure_ascii=False, default=str)))
    return [
        Section("", "\n".join(f"{name:<12}{value}" for name, value in facts)),
        *(Section(block_title(block), block_text(block)) for block in msg.blocks),
    ]


def as_text(sections: Sequence[Section]) -> str:
    """Sections as plain text."""
    return "\n\n".join(f"{section.heading}\n{section.text}".strip("\n") for section in sections)


def verdict(included: bool, reason: str) -> str:
    """Whether something is sent, and why (not)."""
    word = "✓ sent" if included else "✗ not sent"
    return f"{word}: {reason}" if reason else word


def moment(at: float) -> str:
    """A moment in local time."""
    try:
        return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "unknown"


def _last_verdict(part: PromptPart | None) -> str:
    return "not part of it" if part is None else verdict(part.included, part.reason)
