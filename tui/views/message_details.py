"""One message whole, in sections to be read and copied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from agent_core.message import Msg
from agent_core.prompt_ledger import PromptHistory
from agent_core.tokens import estimate_message_tokens
from memory.agentic.hint import FILE, ORIGIN
from tui.mark_syntax import format_marks
from tui.views.content import Row
from tui.views.figures import estimated
from tui.views.message_text import block_text, block_title
from tui.views.moments import moment
from tui.views.origins import told_origin
from tui.views.prompt_story import story_lines, verdict


class Section(NamedTuple):
    """A heading and the text below it, which may be a unified diff."""

    heading: str
    text: str
    is_diff: bool = False


def message_sections(row: Row, prompts: PromptHistory, rules: str = "") -> list[Section]:
    """A stored message with all that is known of it.

    Args:
        row: the message, its marks, and whether it is in the next prompt.
        prompts: all prompts that were sent.
        rules: the rules that explain marks of it, in words.
    """
    msg, marks = row.entry
    facts = [
        ("id", msg.id),
        ("role", msg.role),
        ("name", msg.name),
        ("created", moment(msg.created_at)),
        ("marks", format_marks(marks) or "none"),
        ("tokens", estimated(estimate_message_tokens(msg))),
    ]
    facts += _recalled(msg)
    if rules:
        facts.append(("by rules", rules))
    if msg.metadata:
        facts.append(("metadata", json.dumps(msg.metadata, ensure_ascii=False, default=str)))
    return [
        Section("", "\n".join(f"{name:<12}{value}" for name, value in facts)),
        Section("in the prompts", "\n".join(story_lines(prompts, msg.id, verdict(row.included, row.reason)))),
        *(Section(block_title(block), block_text(block)) for block in msg.blocks),
    ]


def _recalled(msg: Msg) -> list[tuple[str, str]]:
    """Of a recalled memory, the file that it is from and where what that says came from."""
    path, origin = msg.get_metadata(FILE), msg.get_metadata(ORIGIN)
    found = [("file", str(path))] if path else []
    return [*found, *([("came from", told_origin(origin))] if path and origin else [])]


def as_text(sections: Sequence[Section]) -> str:
    """Sections as plain text."""
    return "\n\n".join(f"{section.heading}\n{section.text}".strip("\n") for section in sections)
