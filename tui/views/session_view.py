"""All views of one session, fed by one subscription."""

from __future__ import annotations

import logging
from collections.abc import Set

from agent_core.agent import Agent
from agent_core.event import Event
from tui.views.approvals import ApprovalsView
from tui.views.chat import ChatView
from tui.views.content import ContentView
from tui.views.facts import FactsView
from tui.views.filter import FilterView
from tui.views.hints import HintsView
from tui.views.index import IndexView
from tui.views.status import StatusView
from tui.views.view import View

_log = logging.getLogger(__name__)


class SessionView:
    """The views of an agent's trace, folded from what it holds already and kept in step by `apply`.

    A view that fails is left out from then on: it must not take the others, or the recording, with it.

    Attributes:
        dirty: names of the views that have changed since they were drawn last.
        broken: names of the views that have failed; why is in the log.
    """

    def __init__(self, agent: Agent) -> None:
        self.chat = ChatView()
        self.status = StatusView()
        self.approvals = ApprovalsView()
        self.content = ContentView()
        self.filter = FilterView(self.content)
        self.index = IndexView()
        self.hints = HintsView()
        self.facts = FactsView(self.hints)
        # The filter reads what the content holds, and the facts what the hints hold, so they come after those.
        self._views: dict[str, View] = {
            "chat": self.chat,
            "status": self.status,
            "approvals": self.approvals,
            "content": self.content,
            "filter": self.filter,
            "index": self.index,
            "hints": self.hints,
            "facts": self.facts,
        }
        self.dirty: set[str] = set()
        self.broken: list[str] = []
        for event in agent.trace:
            self.apply(event)
        self.facts.end_open()
        self.dirty.update(self._views)

    def apply(self, event: Event) -> None:
        """Let every view take in one event."""
        for name, view in tuple(self._views.items()):
            try:
                if view.apply(event):
                    self.dirty.add(name)
            except Exception:
                _log.exception("the view %s failed on %s", name, type(event).__name__)
                del self._views[name]
                self.broken.append(name)

    def take_dirty(self, names: Set[str] | None = None) -> set[str]:
        """Those of `names`, of all when None, that are to be drawn; they then count as drawn."""
        taken = self.dirty & (self.dirty if names is None else names)
        self.dirty -= taken
        return taken
