"""All views of a session, from one subscription."""

from __future__ import annotations

from tests.agent_core.agents import make_agent
from tui.views.session_view import SessionView


async def test_a_view_of_a_session_that_is_there_already_starts_with_all_of_it() -> None:
    agent = make_agent("Hello.")
    await agent.reply("hi")
    view = SessionView(agent)
    assert len(view.chat.items) == 2
    assert {"chat", "status"} <= view.take_dirty()


async def test_only_what_an_event_changes_is_to_be_drawn() -> None:
    agent = make_agent("Hello.")
    view = SessionView(agent)
    view.take_dirty()
    agent.trace.subscribe(view.apply)
    await agent.observe("hi")
    dirty = view.take_dirty()
    assert "chat" in dirty
    assert "status" not in dirty
    assert view.take_dirty() == set()
