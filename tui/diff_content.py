"""A unified diff in colours; the signs at the start of its lines do without them."""

from __future__ import annotations

from textual.content import Content

from tui.views.tool_text import split_diff
from tui.widgets.literal import literal

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent", "[": "italic $text-muted"}
_HEAD_STYLE = "$text-muted"


def diff_content(diff: str) -> Content:
    """The diff, line by line in the style of what the line says."""
    head, body = split_diff(diff)
    lines = [literal(line, _HEAD_STYLE) for line in head]
    lines += [literal(line, _STYLES.get(line[:1], "")) for line in body]
    return Content("\n").join(lines)
