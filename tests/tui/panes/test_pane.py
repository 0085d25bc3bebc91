from textual.app import App, ComposeResult
from textual.widgets import TabbedContent, TabPane

from agent_core.agent import Agent
from tests.tui.views.events import agent_with
from tui.panes.content import ContentPane
from tui.panes.memory_editor import MemoryEditor
from tui.views.session_view import SessionView


class Counted(ContentPane):
    """Counts how often it is drawn."""

    drawings = 0

    def draw(self) -> None:
        self.drawings += 1
        super().draw()


class TwoTabs(App[None]):
    """The pane in a tab, and another tab in front."""

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self.views = SessionView(agent)
        self.pane = Counted(agent, self.views.content, self.views.filter, MemoryEditor(agent))

    def compose(self) -> ComposeResult:
        with TabbedContent(initial="other"):
            yield TabPane("Other", id="other")
            with TabPane("Content", id="content"):
                yield self.pane


async def test_a_pane_that_is_not_seen_is_drawn_only_when_it_comes_into_sight():
    agent = agent_with()
    app = TwoTabs(agent)
    async with app.run_test() as pilot:
        await pilot.pause()
        before = app.pane.drawings
        agent.trace.subscribe(app.views.apply)
        await agent.observe("hello")
        app.pane.show()
        assert app.pane.drawings == before
        app.query_one(TabbedContent).active = "content"
        await pilot.pause()
        assert app.pane.drawings > before
        assert "hello" in app.pane._rows.render_line(0).text
