"""Deleting a memory for good, as the index pane asks for it; a session may end by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from agent_core.errors import MnemoscopeError
from agent_core.event import Noticed
from tui.screens.confirm import ConfirmScreen
from tui.views.figures import plural

if TYPE_CHECKING:
    from tui.app import MnemoscopeApp
    from tui.for_good import ForGood, Gone
    from tui.screens.main import MainScreen


async def delete_for_good(main: MainScreen, path: str, done: Callable[[], None]) -> None:
    """Ask, delete the memory at `path` in every place, and tell what was there. Waits for a person: use a worker."""
    app = cast("MnemoscopeApp", main.app)
    if main.chat.is_working:
        app.notify("A reply is running; delete for good when it has ended, or Esc stops it.", severity="warning")
        return
    try:
        async with main.runtime.deleting_memory(path) as deletion:
            if not await app.push_screen_wait(ConfirmScreen(_question(deletion))):
                return
            gone = await app.delete_memory(deletion)
    except MnemoscopeError as error:
        app.notify(str(error), severity="error")
    else:
        app.main.agent.trace.append(Noticed(text=_told(gone), level="information"))
        app.notify(f"{path} is gone for good; the chat says what was deleted.")
    done()


def _question(deletion: ForGood) -> str:
    others = len(deletion.sessions) - deletion.tells_here
    places = [f"{plural(deletion.changes, 'change')} of its history"]
    places += [f"what {plural(others, 'other session says', 'other sessions say')} of it"] if others else []
    stored = plural(deletion.stored_sessions, "session in the memory store says", "sessions in the memory store say")
    places += [f"what {stored} of it"] if deletion.stored_sessions else []
    here = " This session tells of it too: it ends, and an empty one begins." if deletion.tells_here else ""
    return f"Delete {deletion.path} for good, with {' and '.join(places)}? Nothing brings it back.{here} (y/n)"


def _told(gone: Gone) -> str:
    return f"Deleted {gone.path} for good: {'; '.join(f'{place}: {what}' for place, what in gone.lines)}."
