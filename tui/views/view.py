"""What every view is: a fold over the events of a trace, with no screen in it."""

from __future__ import annotations

from typing import Protocol

from agent_core.event import Event


class View(Protocol):
    """Holds what one part of the screen shows."""

    def apply(self, event: Event) -> bool:
        """Take in one event, at a cost that does not grow with the session; whether what is shown has changed."""
