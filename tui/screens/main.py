"""The one screen: the chat, and beside it what the agent holds, sends and recalls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from agent_core.agent import Agent
from agent_core.event import Event
from tui.app_runtime import AppRuntime
from tui.commands import COMMANDS
from tui.panes.chat import ChatPane
from tui.panes.pane import Pane
from tui.panes.views_changed import ViewsChanged
from tui.prompt_history import PromptHistory
from tui.redraw import Redraw
from tui.screens.selection import character_at
from tui.slash_choices import SlashChoices
from tui.views.arrangement import CHAT, FACTS, PANES, arrangement
from tui.views.session_view import SessionView
from tui.views.status_text import StatusFacts
from tui.widgets.status_line import StatusLine
from tui.widgets.tab_bar import Tab, TabBar

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware
    from tui.panes.facts import FactsPane
    from tui.panes.filter import FilterPane
    from tui.panes.index_keys import IndexKeys
    from tui.panes.memory_editor import MemoryEditor

_CHAT_INTERVAL = 0.08
_PANES_INTERVAL = 0.1
"""Seconds between two redraws while a lot happens. Chat and panes are drawn apart: Textual paints all that lies between
what has changed."""
_CHAT_VIEWS = {"chat", "status", "approvals"}
_QUIT_SECONDS = 2.0
"""Within so long ctrl+c must be pressed again to quit."""
_FINISHING_SECONDS = 60.0
"""So long the end waits for what is being written, at most; a language model takes a while to extract something."""
_FINISHING_SECONDS_ON_SIGNAL = 5.0


class MainScreen(Screen[None]):
    """Shows one session. It listens to the agent's trace, and draws what has changed.

    Args:
        runtime: the agent and its session.
        history: the prompts that were typed before.
    """

    CSS_PATH = "main.tcss"
    AUTO_FOCUS = "#prompt"
    TITLE = "mnemoscope"

    def __init__(self, runtime: AppRuntime, history: PromptHistory) -> None:
        super().__init__()
        self.runtime = runtime
        self.agent: Agent = runtime.agent
        self.views = SessionView(self.agent)
        self.chat = ChatPane(self.agent, self.views, history, SlashChoices(self), id="chat")
        # Made after the first paint; until then there is room for them, and nothing in it.
        self._panes: dict[str, Pane] = {}
        self._pane_names: tuple[str, ...] = PANES
        self._mem0: Mem0Middleware | None = None
        self._status = StatusLine(self.views.status, id="status")
        self._side = Vertical(id="side")
        self._tabs = TabBar(_tabs(PANES), id="tabs")
        self._tab = CHAT
        self._tab_wanted = ""
        self._last_pane = PANES[0]
        # From the first moment on: between building and mounting events may come as well.
        self._unsubscribe = self.agent.trace.subscribe(self._take)
        self._redraw_chat = Redraw(self, self._draw_chat, _CHAT_INTERVAL)
        self._redraw_panes = Redraw(self, self._draw_panes, _PANES_INTERVAL)
        self._told_broken = 0
        self._quit_asked = float("-inf")
        self._finishing: asyncio.Task[int] | None = None

    @property
    def pane_helps(self) -> list[tuple[str, str]]:
        """Title and purpose of each pane."""
        return [(pane.TITLE, pane.HELP) for name, pane in self._panes.items() if name in self._pane_names]

    @cached_property
    def editor(self) -> MemoryEditor:
        """What a person's changes to the working memory go through, so that they can be undone."""
        from tui.panes.memory_editor import MemoryEditor

        return MemoryEditor(self.agent)

    def compose(self) -> ComposeResult:
        """Tabs, the chat beside the panes, the status, the keys."""
        yield self._tabs
        with Horizontal(id="body"):
            yield self.chat
            yield self._side
        yield self._status
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Draw what there is, and be there to be asked."""
        self.agent.approve = self.chat.approve
        self.draw(self.views.take_dirty())
        # By way of the app: while that is mounted itself it paints nothing, and "after refresh" would be before.
        self.app.call_later(self.call_after_refresh, self._begin_with_panes)

    async def on_unmount(self) -> None:
        """Stop following the trace."""
        self._unsubscribe()

    def on_resize(self) -> None:
        """Arrange anew."""
        self._arrange()

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """The widget at a cell, and the place in its text of the character that is seen there."""
        widget, offset = super().get_widget_and_offset_at(x, y)
        if widget is None or offset is None or not widget.content_region.contains(x, y):
            return widget, offset
        left, top = widget.content_region.offset
        return widget, character_at(widget.render_line(y - top), x - left) or offset

    def show_tab(self, tab: str) -> None:
        """Bring the chat or a pane into view, and the focus into it."""
        self._follow_facts()
        if tab in self._panes and tab in self._pane_names:
            self._last_pane = tab
        elif tab != CHAT:
            # Asked for before there are panes, it is shown as soon as they are there.
            self._tab_wanted = tab if not self._panes else ""
            return
        self._tab_wanted = ""
        self._tab = tab
        self._arrange()
        self.draw({tab})
        if tab == CHAT:
            self.chat.prompt.input.focus()
        else:
            self._panes[tab].take_focus()

    def draw(self, names: set[str]) -> None:
        """Draw the views of these names."""
        if not self.chat.children:
            # The program is being left, and the parts of the screen are gone before it.
            return
        self._follow_facts()
        self.chat.show(names)
        if "status" in names or "chat" in names:
            self._status.show(self._facts())
        for name in names & self._panes.keys():
            self._panes[name].show()

    async def ask_to_quit(self) -> None:
        """Quit when asked twice within a short time."""
        now = time.monotonic()
        if self._finishing is not None or now - self._quit_asked <= _QUIT_SECONDS:
            await self.quit()
        else:
            self._quit_asked = now
            self.app.notify("Press ctrl+c again to quit.", timeout=_QUIT_SECONDS)

    async def quit(self, return_code: int = 0) -> None:
        """Stop what runs, so that it leaves everything in order, and leave; when asked again, without waiting."""
        if self._finishing is not None:
            self._finishing.cancel()
            return
        await self.chat.stop()
        seconds = _FINISHING_SECONDS if return_code == 0 else _FINISHING_SECONDS_ON_SIGNAL
        self._finishing = asyncio.create_task(self.runtime.finish_writing(seconds, self._show_finishing))
        # In a worker: whoever presses a key meanwhile must be heard.
        self.app.run_worker(self._leave(self._finishing, return_code))

    async def _leave(self, finishing: asyncio.Task[int], return_code: int) -> None:
        await asyncio.wait([finishing])
        self.app.exit(return_code=return_code)

    def _show_finishing(self, remaining: int) -> None:
        from tui.screens.leaving import LeavingScreen

        screen = self.app.screen
        if isinstance(screen, LeavingScreen):
            screen.show(remaining)
        elif remaining:
            self.app.push_screen(LeavingScreen(remaining))

    def _take(self, event: Event) -> None:
        self.views.apply(event)
        if self.is_mounted:
            self._draw_soon()

    def _draw_soon(self) -> None:
        if self.views.dirty & _CHAT_VIEWS or len(self.views.broken) > self._told_broken:
            self._redraw_chat.soon()
        if self.views.dirty - _CHAT_VIEWS:
            self._redraw_panes.soon()

    def _draw_chat(self) -> None:
        self.draw(self.views.take_dirty(_CHAT_VIEWS))
        self._tell_broken()

    def _draw_panes(self) -> None:
        self.draw(self.views.take_dirty(self.views.dirty - _CHAT_VIEWS))

    def _tell_broken(self) -> None:
        broken = self.views.broken[self._told_broken :]
        self._told_broken = len(self.views.broken)
        if broken:
            names = ", ".join(broken)
            self.app.notify(
                f"{names}: this part of the screen has failed and stands still; the chat goes on. "
                f"Why is in {self.runtime.log_path}.",
                severity="error",
            )

    def _arrange(self) -> None:
        width, height = self.app.size
        arranged = arrangement(width, height, self._tab, self._last_pane, self._pane_names)
        self.chat.display = arranged.chat
        self._side.display = bool(arranged.panes)
        if self._panes:
            self.set_class(len(arranged.panes) > 1, "-several-panes")
            self.set_class(arranged.panes == self._pane_names, "-all-panes")
            for name, pane in self._panes.items():
                pane.display = name in arranged.panes
            self._mount_panes(arranged.panes)
        self._tabs.show(_tabs(self._pane_names), [*([CHAT] if arranged.chat else []), *arranged.panes])

    def _begin_with_panes(self) -> None:
        """Make the panes, and mount those that are seen: after the first paint, for a person can type before that."""
        if not self._side.is_attached:
            # Who typed has begun a new session, or left.
            return
        from tui.panes.all_panes import make_panes

        self._panes = make_panes(self.agent, self.views, self.editor, self.runtime.memory)
        self._follow_facts()
        self._arrange()
        self._draw_queue()
        if self._tab_wanted:
            self.show_tab(self._tab_wanted)

    def _follow_facts(self) -> None:
        """Have the pane of the facts there as long as mem0 is used, and have it show the memory in use."""
        facts = self.runtime.facts
        if facts is self._mem0 or not self._panes:
            return
        self._mem0 = facts
        self._pane_names = (*PANES, FACTS) if facts is not None else PANES
        if facts is not None and FACTS in self._panes:
            cast("FactsPane", self._panes[FACTS]).use(facts)
        elif facts is not None:
            from tui.panes.all_panes import make_facts_pane

            self._panes[FACTS] = make_facts_pane(self.agent, self.views, facts)
        elif self._last_pane == FACTS:
            self._last_pane = PANES[0]
        self.set_class(facts is not None, "-with-facts")
        if self._tab in (CHAT, *self._pane_names):
            self._arrange()
        else:
            self.show_tab(CHAT)

    def _mount_panes(self, names: tuple[str, ...]) -> None:
        """Mount panes that have not been seen before, each in its place."""
        if not self._side.is_attached:
            # The program is being left.
            return
        for name in names:
            if not self._panes[name].is_attached:
                later = self._pane_names[self._pane_names.index(name) + 1 :]
                following = next((self._panes[one] for one in later if self._panes[one].is_attached), None)
                self._side.mount(self._panes[name], before=following)

    def _facts(self) -> StatusFacts:
        model = self.agent.model
        return StatusFacts(
            model=model.model,
            endpoint=model.endpoint,
            context_size=model.context_size or self.views.status.context_size,
            counts_are_exact=model.is_language_model,
            mode=self.agent.state.permission_context.mode.value,
            session=self.views.chat.title,
            queued=len(self.chat.conversation.queued),
            is_unsaved=bool(self.runtime.session.problem),
            store_trouble=getattr(self.agent.memory, "trouble", ""),
        )

    @on(ViewsChanged)
    def _draw_changed(self, event: ViewsChanged) -> None:
        self.draw(set(event.names))

    @on(ChatPane.QueueChanged)
    def _draw_queue(self) -> None:
        if self._panes:
            cast("FilterPane", self._panes["filter"]).sticky_marks = self.chat.marks
        self._status.show(self._facts())

    def on_filter_pane_sticky_marks_changed(self, event: FilterPane.StickyMarksChanged) -> None:
        """Take the marks over that were chosen in the pane. Found by its name, since the pane is imported late."""
        self.chat.marks = event.marks

    def on_index_keys_for_good_asked(self, event: IndexKeys.ForGoodAsked) -> None:
        """Delete a memory for good. Found by its name, too."""
        from tui.handlers.for_good import delete_for_good

        # Of the app, for this screen may be gone before it is done.
        self.app.run_worker(delete_for_good(self, event.path, event.done))

    @on(TabBar.Chosen)
    def _choose_tab(self, event: TabBar.Chosen) -> None:
        self.show_tab(event.tab_id)


def _tabs(panes: Sequence[str]) -> list[Tab]:
    keys = {command.id: command.keys for command in COMMANDS}
    return [Tab(name, name.capitalize(), keys[f"show_{name}"]) for name in (CHAT, *panes)]
