"""The screen on which two filters are read side by side."""

from __future__ import annotations

from agent_core.marks import MemoryFilter
from tui.screens.reading import ReadingScreen
from tui.views.comparison import comparison_sections, put_side_by_side
from tui.views.stored import StoredMessages


def comparing_screen(stored: StoredMessages, first: MemoryFilter, second: MemoryFilter) -> ReadingScreen[None]:
    """A reading screen with two filters over what is stored now."""
    beside = put_side_by_side(stored.entries, first, second, has_summary=bool(stored.summary))
    return ReadingScreen("Two filters side by side", comparison_sections(beside))
