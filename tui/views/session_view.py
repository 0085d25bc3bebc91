"""All views of one session, fed by one subscription."""

from __future__ import annotations

from agent_core.agent import Agent
from agent_core.event import Event
from tui.views.chat import ChatView
from tui.views.status import StatusView
from tui.views.view import View


class SessionView:
    """The views of an agent's trace, folded from what it holds already and kept in step by `apply`.

    Attributes:
        dirty: names of the views that have changed since they were drawn last.
    """

    def __init__(self, agent: Agent) -> None:
        self.chat = ChatView()
        self.status = StatusView()
        self._views: dict[str, View] = {"chat": self.chat, "status": self.status}
        self.dirty: set[str] = set()
        for event in agent.trace:
            self.apply(event)
        self.dirty.update(self._views)

    def apply(self, event: Event) -> None:
        """Let every view take in one event."""
        for name, view in self._views.items():
            if view.apply(event):
                self.dirty.add(name)

    def take_dirty(self) -> set[str]:
        """The names of the views to be drawn, which then count as drawn."""
        dirty, self.dirty = self.dirty, set()
        return dirty
