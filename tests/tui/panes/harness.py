"""A small app around one pane, fed by an agent's trace as the whole app is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Footer, Input

from agent_core.agent import Agent
from agent_core.event import Event
from memory import AgenticMemoryMiddleware
from tui.panes.content import ContentPane
from tui.panes.facts import FactsPane
from tui.panes.filter import FilterPane
from tui.panes.hints import HintsPane
from tui.panes.index import IndexPane
from tui.panes.memory_editor import MemoryEditor
from tui.panes.pane import Pane
from tui.panes.views_changed import ViewsChanged
from tui.views.session_view import SessionView
from tui.widgets.ask_line import AskLine
from tui.widgets.literal import Literal
from tui.widgets.row_list import RowList

MakePane = Callable[[Agent, SessionView], Pane]


def content_pane(agent: Agent, views: SessionView) -> Pane:
    return ContentPane(agent, views.content, views.filter, MemoryEditor(agent))


def filter_pane(agent: Agent, views: SessionView) -> Pane:
    return FilterPane(agent, views.filter)


def memory_of(agent: Agent) -> AgenticMemoryMiddleware | None:
    return next((one for one in agent.middlewares if isinstance(one, AgenticMemoryMiddleware)), None)


def index_pane(agent: Agent, views: SessionView) -> Pane:
    return IndexPane(agent, views.index, memory_of(agent))


def hints_pane(agent: Agent, views: SessionView) -> Pane:
    return HintsPane(agent, views.hints, memory_of(agent))


def facts_pane(agent: Agent, views: SessionView) -> Pane:
    (middleware,) = agent.middlewares
    return FactsPane(agent, views.facts, middleware)


class PaneApp(App[None]):
    """Shows one pane; with a footer, which is most of what there is to draw, only where that is looked at."""

    def __init__(self, agent: Agent, make_pane: MakePane, has_footer: bool = False) -> None:
        super().__init__()
        self.agent = agent
        self.views = SessionView(agent)
        self.pane = make_pane(agent, self.views)
        self.told: list[str] = []
        self.sticky: list[tuple[str, ...]] = []
        self._is_due = False
        self._has_footer = has_footer

    def compose(self) -> ComposeResult:
        yield self.pane
        if self._has_footer:
            yield Footer()

    async def on_mount(self) -> None:
        self.agent.trace.subscribe(self.take)
        await self.agent.start()
        self.pane.take_focus()

    def take(self, event: Event) -> None:
        self.views.apply(event)
        self.draw_soon()

    def draw_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self.call_later(self._draw)

    def _draw(self) -> None:
        self._is_due = False
        if self.is_running:
            self.pane.show()

    def on_views_changed(self, event: ViewsChanged) -> None:
        self.draw_soon()

    def on_filter_pane_sticky_marks_changed(self, event: FilterPane.StickyMarksChanged) -> None:
        self.sticky.append(event.marks)

    def notify(self, message: str, **options) -> None:
        self.told.append(message)
        super().notify(message, **options)


class Driver:
    """Presses keys and reads what is on the screen."""

    def __init__(self, app: PaneApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.agent = app.agent

    async def press(self, *keys: str) -> None:
        """Press keys and wait until all that they lead to is drawn."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Paste text in the place of what stands in the line, then press enter."""
        line = self.app.focused
        assert isinstance(line, Input), line
        line.clear()
        self.app.post_message(Paste(text))
        await self.press("enter")

    async def settle(self) -> None:
        """Wait until nothing is left to be done but to wait for a person."""
        while any(worker.is_running and worker.group != "watch" for worker in self.app.workers) and not self.is_asking:
            await self.pilot.pause()
        await self.pilot.pause()

    async def until(self, seen: Callable[[], object]) -> None:
        """Wait until something is so, such as that a look at the folder has shown something."""
        while not seen():
            await self.pilot.pause(0.001)

    @property
    def is_asking(self) -> bool:
        asks = [*self.app.pane.query(AskLine), *self.app.screen.query(AskLine)]
        return any(ask.display for ask in asks)

    @property
    def ask(self) -> AskLine:
        return self.app.pane.query_one(AskLine)

    @property
    def rows(self) -> RowList:
        return self.app.pane.query(RowList).first()

    @property
    def lines(self) -> list[str]:
        """What the list shows, blank lines left out."""
        lines = [self.rows.render_line(y).text.rstrip() for y in range(self.rows.size.height)]
        return [line for line in lines if line]

    @property
    def screen(self) -> str:
        """All text on the screen."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    def text(self, selector: str) -> str:
        return str(self.app.pane.query_one(selector, Literal).content)


@asynccontextmanager
async def driving(agent: Agent, make_pane: MakePane, size: tuple[int, int] = (100, 24), has_footer: bool = False):
    app = PaneApp(agent, make_pane, has_footer)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.settle()
        yield driver
