"""Commands about when what is recalled from the memory files reaches the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.handlers.errors import CommandError
from tui.views.figures import span

if TYPE_CHECKING:
    from memory.agentic.middleware import AgenticMemoryMiddleware
    from tui.screens.main import MainScreen


async def grace(main: MainScreen, argument: str) -> None:
    """Show or change how long the first model call of a reply waits for the retrieval."""
    memory = _memory(main)
    if argument:
        memory.parameters = replace(memory.parameters, retrieval_grace=_seconds(argument))
        main.draw({"hints"})
    seconds = memory.parameters.retrieval_grace
    waits = f"waits {span(seconds)} at most for what is recalled" if seconds else "waits for nothing that is recalled"
    main.app.notify(f"An answer {waits}, from the next reply on." if argument else f"An answer {waits}.")


async def carry(main: MainScreen, argument: str) -> None:
    """Show or change what becomes of a retrieval that ends after its reply."""
    memory = _memory(main)
    if argument not in ("", "on", "off"):
        raise CommandError(f"/carry takes on or off, not {argument}.")
    if argument:
        memory.parameters = replace(memory.parameters, retrieval_carry_over=argument == "on")
        main.draw({"hints"})
    told = "goes into the next reply" if memory.parameters.retrieval_carry_over else "is left out, as late"
    main.app.notify(f"What is recalled too late {told}.")


def _memory(main: MainScreen) -> AgenticMemoryMiddleware:
    if main.runtime.memory is None:
        raise CommandError("This agent has no memory folder.")
    return main.runtime.memory


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise CommandError(f"/grace takes seconds, such as 2 or 0.5, or 0 for no wait, not {text}.")
    return seconds
