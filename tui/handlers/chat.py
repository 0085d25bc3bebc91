"""Commands about the chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import TextArea

from tui.handlers.errors import CommandError

if TYPE_CHECKING:
    from tui.screens.main import MainScreen

_UNFINISHED = ("error", "interrupted", "max_iters")


async def interrupt(main: MainScreen, argument: str) -> None:
    """Escape: close what is open, else stop what runs, else go to the prompt."""
    if main.chat.prompt.close_completions() or main.chat.interrupt():
        return
    main.show_tab("chat")


async def retry(main: MainScreen, argument: str) -> None:
    """Go on from what is stored, after a reply that did not end well."""
    if main.chat.is_working:
        raise CommandError("A reply is running; Esc stops it.")
    if main.views.status.last_finish not in _UNFINISHED:
        raise CommandError("There is nothing to try again: the last reply is complete.")
    main.chat.run(main.chat.conversation.retry)


async def details(main: MainScreen, argument: str) -> None:
    """Open or fold everything that can be folded."""
    main.chat.toggle_details()


async def copy(main: MainScreen, argument: str) -> None:
    """Copy the last answer."""
    answer = main.views.chat.last_answer
    if answer is None:
        raise CommandError("There is no answer to copy yet.")
    main.app.copy_to_clipboard(answer.text)
    size = f"{len(answer.text):,} characters"
    main.app.notify(f"{size} are sent to the clipboard; some terminals do not let a program write there.")


async def stop_or_quit(main: MainScreen, argument: str) -> None:
    """Ctrl+C: copy a selection, else stop what runs, else quit when pressed again at once."""
    focused = main.focused
    selected = focused.selected_text if isinstance(focused, TextArea) else ""
    if text := selected or main.get_selected_text():
        main.app.copy_to_clipboard(text)
        main.clear_selection()
    elif not main.chat.interrupt():
        await main.ask_to_quit()
