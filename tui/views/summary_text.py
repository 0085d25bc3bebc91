"""The summary as it is read: what it covers, its text, and how it fared in the prompts."""

from __future__ import annotations

from agent_core.text import first_line
from tui.views.content import ContentView
from tui.views.message_details import Section
from tui.views.prompt_story import story_lines, verdict

_SWITCHED_OFF = "the summary is switched off"


def summary_sections(view: ContentView, trigger_ratio: float, context_size: int | None) -> list[Section]:
    """All there is to say about the summary; why there is none, when there is none. Arguments as of `summary_line`."""
    line = view.summary_line(trigger_ratio, context_size)
    if not view.stored.summary:
        return [Section("", f"{line}\n/compact makes one now.")]
    is_on = view.memory_filter.prepend_summary
    story = story_lines(view.prompts, "summary", verdict(is_on, "" if is_on else _SWITCHED_OFF))
    return [
        Section("", line),
        Section("what the model reads for these messages", view.stored.summary),
        Section("in the prompts", "\n".join(story)),
    ]


def summary_excerpt(summary: str, limit: int) -> str:
    """How it begins, in one line and below its heading; empty without a summary."""
    paragraphs = [first_line(paragraph) for paragraph in summary.split("\n\n")]
    return first_line(" ".join(paragraphs[1:] or paragraphs), limit)
