"""What is told of the store of the working memory."""

from __future__ import annotations

from agent_core.event import StoreFailed, StoreRecovered


def store_notice(event: StoreFailed | StoreRecovered) -> str:
    """One line for people: what has happened, and what becomes of what is said."""
    if isinstance(event, StoreRecovered):
        return "The memory store is back; everything is written there."
    error = event.error if event.error.endswith((".", "?", "!")) else f"{event.error}."
    return f"{error} The chat goes on; the session file keeps it, and the store gets it once it can be written."
