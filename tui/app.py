"""`MnemoscopeApp`: the Textual app around one runtime."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual import on
from textual.app import App
from textual.driver import Driver
from textual.notifications import SeverityLevel

from agent_core.errors import MnemoscopeError
from tui.app_runtime import AppRuntime
from tui.commands import APP, Command, bindings
from tui.handlers import HANDLERS
from tui.handlers.errors import CommandError
from tui.lasting_output import is_terminal, with_lasting_output
from tui.lenient_input import reading_leniently
from tui.literal_text import visible
from tui.log import write_down
from tui.panes.chat import ChatPane
from tui.prompt_history import PromptHistory
from tui.screens.main import MainScreen
from tui.theme import faded_variables
from tui.unsent import Unsent
from tui.unsent_keeper import UnsentKeeper
from tui.widgets.prompt_area import PromptArea

if TYPE_CHECKING:
    from textual.command import Provider

    from tui.draft import Draft
    from tui.for_good import ForGood, Gone
    from tui.forgetting import Forgotten

_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")


def _table_commands() -> type[Provider]:
    from tui.palette import TableCommands

    return TableCommands


class MnemoscopeApp(App[None]):
    """Shows a runtime until a person leaves, or a signal ends it; `return_code` is then what the process exits with.

    Args:
        runtime: the agent and its session; whoever made it closes it.

    Attributes:
        draft: what a person edits outside; None while nobody does.
        kept_texts: what to say, once the screen is gone, of texts that were being edited when a signal came.
    """

    TITLE = "mnemoscope"
    BINDINGS = bindings(APP)
    COMMANDS: ClassVar = {_table_commands}
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, runtime: AppRuntime) -> None:
        super().__init__()
        self._runtime = runtime
        self._last_words = ""
        self.draft: Draft | None = None
        self.kept_texts: list[str] = []
        self._away: asyncio.Task[object] | None = None
        self._is_leaving = False
        self._history = PromptHistory(runtime.history_path)
        self._main = MainScreen(runtime, self._history)
        self._keeper = UnsentKeeper(self._main.chat, runtime.unsent)

    @property
    def main(self) -> MainScreen:
        """The screen of the current session."""
        return self._main

    async def show_new_session(self) -> None:
        """Begin a new session, and show it in place of the one before."""
        unsent = await self._leave_session()
        await self._runtime.new_session()
        await self._show_session(unsent)

    async def forget_user(self) -> Forgotten:
        """Have everything about the user forgotten, and show the new session that begins with it.

        Raises:
            MnemoscopeError: the facts could not be deleted.
        """
        unsent = await self._leave_session()
        try:
            return await self._runtime.forget(self._history)
        finally:
            await self._show_session(unsent)

    async def delete_memory(self, deletion: ForGood) -> Gone:
        """Have a memory deleted for good, and show the new session that begins when this one tells of it.

        Raises:
            MnemoscopeError: something could not be deleted.
        """
        if not deletion.tells_here:
            return await self._runtime.delete_memory(deletion, self._history)
        unsent = await self._leave_session()
        try:
            return await self._runtime.delete_memory(deletion, self._history)
        finally:
            await self._show_session(unsent)

    async def _leave_session(self) -> Unsent:
        """Stop what runs; what is typed already and not sent goes on into the next session."""
        await self._main.chat.stop()
        return self._keeper.hand_over()

    async def _show_session(self, unsent: Unsent) -> None:
        self._main = MainScreen(self._runtime, self._history)
        self._keeper = UnsentKeeper(self._main.chat, self._runtime.unsent, unsent)
        await self.switch_screen(self._main)

    def get_driver_class(self) -> type[Driver]:
        """The usual driver, which does not give up at bytes that are no text, nor when its terminal goes away."""
        return with_lasting_output(reading_leniently(super().get_driver_class()))

    def get_css_variables(self) -> dict[str, str]:
        """The variables of the theme, mended."""
        variables = super().get_css_variables()
        variables.update(faded_variables(variables))
        return variables

    async def on_mount(self) -> None:
        """Show the session; start the runtime once that is to be seen."""
        self._answer_signals()
        await self.push_screen(self._main)
        self.call_later(self.call_after_refresh, self.run_worker, self._start)

    async def _start(self) -> None:
        try:
            await self._runtime.start()
        except MnemoscopeError as error:
            self.notify(str(error), severity="error")
        self._main.draw({"facts"})

    async def action_command(self, id: str, argument: str = "") -> None:
        """Carry a command out; what cannot be done is told. A screen with a text to lose may take it for itself."""
        # At the very beginning there is no screen yet.
        take = getattr(self.screen_stack[-1], "take_command", None) if self.screen_stack else None
        if take is not None and take(id):
            return
        try:
            await HANDLERS[id](self.main, argument)
        except (CommandError, MnemoscopeError) as error:
            self.notify(str(error), severity="warning")

    def on_unmount(self) -> None:
        """Keep what is still typed when a person leaves."""
        self._keeper.keep()

    @on(PromptArea.Changed)
    def _keep_soon(self) -> None:
        self._keeper.keep_soon()

    @on(ChatPane.QueueChanged)
    def _keep_now(self) -> None:
        self._keeper.keep()

    @on(PromptArea.Called)
    async def _carry_out(self, event: PromptArea.Called) -> None:
        await self.action_command(event.call.command.id, event.call.argument)

    def choose(self, command: Command) -> None:
        """Carry out a command that was chosen in the palette, or begin to type it where more may be said."""
        if command.usage:
            self.main.show_tab("chat")
            self.main.chat.prompt.begin(f"/{command.slash} ")
        else:
            self.call_later(self.action_command, command.id)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a message for a while: literally, whatever is in it."""
        super().notify(visible(message), title=visible(title), severity=severity, timeout=timeout, markup=False)

    def _answer_signals(self) -> None:
        """Leave on signals as a person would: everything in order, the terminal as it was, 128 + n as exit code."""
        loop = asyncio.get_running_loop()
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is None:
                continue
            try:
                loop.add_signal_handler(number, self._leave_on_signal, number)
            except (NotImplementedError, RuntimeError, ValueError):
                # Windows has no handlers in the loop, and other threads than the main one may not set any.
                return

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Leave the terminal to another program. What happens meanwhile is drawn afterwards, and ctrl+c is for it."""
        self._away = asyncio.current_task()
        try:
            with self.batch_update(), super().suspend():
                yield
        finally:
            self._away = None

    def _leave_on_signal(self, number: int) -> None:
        if self._away is not None and number == signal.SIGINT:
            return
        if self._is_leaving and number == signal.SIGHUP:
            # The end of a terminal is told in several ways.
            return
        self._is_leaving = True
        self._keep_texts()
        self.run_worker(self._quit(128 + number))

    async def _quit(self, return_code: int) -> None:
        """Take the terminal back from another program, and leave."""
        if self._away is not None:
            self._away.cancel()
            # Otherwise it would be given back, and standard error with it, after everything else is over.
            await asyncio.wait([self._away])
        await self.main.quit(return_code)

    def _keep_texts(self) -> None:
        """Keep what is being edited and not saved, in any screen or outside, and what is typed, before the end."""
        self._keeper.keep()
        for place in (*self.screen_stack, self.draft):
            if (unsaved := getattr(place, "unsaved", None)) is not None:
                from tui.kept_texts import keep_text

                self.kept_texts.append(keep_text(self._runtime.settings.data_dir, *unsaved))

    def _handle_exception(self, error: Exception) -> None:
        """End after an error; while the program is being left anyway, only write it down.

        Parts of the screen go one after the other then, and what still runs may look for one that is gone.
        """
        if self._exit:
            write_down(error, self._runtime.log_path)
        else:
            super()._handle_exception(error)

    def panic(self, *renderables: RenderableType) -> None:
        """End after an error that is only known by how it looks: like any other, in one line.

        The end of a terminal is told in this way too.
        """
        if not (self.is_headless or is_terminal(sys.__stdin__)):
            self._leave_on_signal(signal.SIGHUP)
            return
        from tui.drawn_error import drawn, kind_of_drawn

        self._last_words = self._last_words or self._told(drawn(renderables), kind_of_drawn(renderables))
        self._fatal_error()

    def _fatal_error(self) -> None:
        """End after an internal error: of it one line is shown, once the screen is gone; the rest is in the log."""
        self._return_code = 1
        if not self._is_leaving:
            self._keep_texts()
        error = self._exception
        self._last_words = self._last_words or self._told(error or "unknown", type(error).__name__)
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        """Print what is left to be said, in one line however long, now that the screen is gone."""
        if self._last_words:
            print(self._last_words, file=sys.stderr)

    def _told(self, error: Exception | str, kind: str) -> str:
        """Write the error down, and give the line that says where."""
        place = write_down(error, self._runtime.log_path)
        return f"mnemoscope: internal error: {kind}. The session is saved. Details are in {place}."
