"""Commands about the session: a new one, the model, what tools may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agent_core.permission import PermissionMode
from tui.config import is_base_url
from tui.handlers.errors import CommandError

if TYPE_CHECKING:
    from tui.app import MnemoscopeApp
    from tui.screens.main import MainScreen


async def new(main: MainScreen, argument: str) -> None:
    """Begin a new session; the one before is kept."""
    await cast("MnemoscopeApp", main.app).show_new_session()


async def model(main: MainScreen, argument: str) -> None:
    """Show or change the model and its endpoint."""
    words = argument.split()
    if len(words) > 2:
        raise CommandError("/model takes a name and, if you like, a base URL: /model NAME [BASE_URL].")
    if len(words) == 2 and not is_base_url(words[1]):
        raise CommandError(f"The base URL must start with http:// or https://, not {words[1]}.")
    if words:
        main.runtime.set_model(words[0], words[1] if len(words) == 2 else None)
        main.draw({"status"})
    now = main.agent.model
    main.app.notify(f"The model is {now.model} at {now.endpoint}. /model NAME [BASE_URL] changes it.")


async def mode(main: MainScreen, argument: str) -> None:
    """Show or change what tools may do without asking."""
    context = main.agent.state.permission_context
    if argument:
        try:
            context.mode = PermissionMode(argument)
        except ValueError:
            raise CommandError(f"There is no mode {argument}; there are {', '.join(PermissionMode)}.") from None
        main.draw({"status"})
    main.app.notify(f"Mode {context.mode.value}: {_MEANINGS[context.mode]}")


_MEANINGS = {
    PermissionMode.DEFAULT: "reading in the working folders is allowed, everything else asks.",
    PermissionMode.ACCEPT_EDITS: "reading and changing files in the working folders is allowed, the rest asks.",
    PermissionMode.EXPLORE: "nothing may be changed.",
    PermissionMode.BYPASS: "everything is allowed that no rule denies.",
    PermissionMode.DONT_ASK: "what would ask is refused.",
}
