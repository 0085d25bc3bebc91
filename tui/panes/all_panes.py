"""The panes beside the chat. A module of its own, so that the first paint need not wait for its imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_core.agent import Agent
from memory.agentic.middleware import AgenticMemoryMiddleware
from tui.panes.content import ContentPane
from tui.panes.filter import FilterPane
from tui.panes.hints import HintsPane
from tui.panes.index import IndexPane
from tui.panes.memory_editor import MemoryEditor
from tui.panes.pane import Pane
from tui.views.arrangement import FACTS
from tui.views.session_view import SessionView

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware


def make_panes(
    agent: Agent, views: SessionView, editor: MemoryEditor, memory: AgenticMemoryMiddleware | None
) -> dict[str, Pane]:
    """All panes by name, in the order in which they stand; `memory` is the long-term memory, where there is one."""
    panes: dict[str, Pane] = {
        "content": ContentPane(agent, views.content, views.filter, editor, id="content"),
        "filter": FilterPane(agent, views.filter, id="filter"),
        "index": IndexPane(agent, views.index, memory, id="index"),
        "hints": HintsPane(agent, views.hints, memory, id="hints"),
    }
    for pane in panes.values():
        pane.border_title = pane.TITLE
    return panes


def make_facts_pane(agent: Agent, views: SessionView, middleware: Mem0Middleware) -> Pane:
    """The pane of the memory of facts."""
    from tui.panes.facts import FactsPane

    pane = FactsPane(agent, views.facts, middleware, id=FACTS)
    pane.border_title = pane.TITLE
    return pane
