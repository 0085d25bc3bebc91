"""What is told of one message."""

from __future__ import annotations

import pytest

from agent_core.event import RecalledMemory
from agent_core.marks import Entry
from agent_core.prompt_ledger import PromptHistory
from memory.agentic.hint import hint_message
from tui.views.content import Row
from tui.views.message_details import message_sections


@pytest.mark.parametrize(
    ("origin", "told"),
    [("user", "your own words"), ("model", "the model"), ("tool", "a tool's result"), ("outside", "another program")],
)
def test_a_recalled_memory_says_in_its_message_where_it_came_from(origin: str, told: str) -> None:
    memory = RecalledMemory("/w/Memory/tea.md", "h", "Likes oolong.", "chosen", origin=origin)
    row = Row(0, 1, Entry(hint_message(memory, "tea.md"), ("hint",)), True, "")
    facts = message_sections(row, PromptHistory())[0].text
    assert "/w/Memory/tea.md" in facts
    (line,) = (line for line in facts.splitlines() if line.startswith("came from"))
    assert told in line
