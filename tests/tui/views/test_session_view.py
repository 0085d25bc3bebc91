"""All views of a session, from one subscription."""

from __future__ import annotations

import pytest

from agent_core.event import Event
from tests.agent_core.agents import make_agent
from tui.views.content import ContentView
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


async def test_a_view_that_fails_is_left_out_and_told_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ContentView):
        def apply(self, event: Event) -> bool:
            raise RuntimeError("a fault")

    agent = make_agent("Hello.")
    view = SessionView(agent)
    view._views["content"] = Broken()
    agent.trace.subscribe(view.apply)
    await agent.reply("hi")
    assert view.broken == ["content"]
    assert len(view.chat.items) == 2
    assert "the view content failed on" in caplog.text
